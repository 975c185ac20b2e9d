//! Errors that a program shows: `main` prints the `Debug` of what it returns.

/// `Debug` writes the text of `Display`: the name of a variant explains nothing.
macro_rules! explained {
    ($($error:ty),+ $(,)?) => {
        $(impl core::fmt::Debug for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        })+
    };
}
