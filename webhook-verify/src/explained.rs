//! `Debug` of errors, readable because a `main` that returns an error prints it with `Debug`.

/// Makes `Debug` write the text of `Display`: the name of a variant alone explains nothing.
macro_rules! explained {
    ($($error:ty),+ $(,)?) => {
        $(impl core::fmt::Debug for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        })+
    };
}
