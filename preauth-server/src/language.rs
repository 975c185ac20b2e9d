//! The language of the output of the sandbox and of the administration commands, and tables of texts in
//! every language. The log is always English, the messages of the APIs are always Portuguese.

use clap::ValueEnum;

/// The locale of messages: the first of these variables that is set and not empty decides.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// The language of texts for people at a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Also for every locale that is not Portuguese.
    #[default]
    #[value(name = "en")]
    English,
    /// Brazilian Portuguese.
    #[value(name = "pt")]
    Portuguese,
}

impl Language {
    /// The language of the locale in these environment variables.
    #[must_use]
    pub fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut set = VARIABLES.into_iter().filter_map(variable);
        let locale = set.find(|text| !text.is_empty());
        let language = locale
            .as_deref()
            .map(|text| text.split(['_', '.', '@', '-']).next());
        match language {
            Some(Some("pt")) => Self::Portuguese,
            _ => Self::English,
        }
    }
}

/// Every language.
pub(crate) const LANGUAGES: [Language; 2] = [Language::English, Language::Portuguese];

/// A text without variables, in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    en: &'static str,
    pt: &'static str,
}

impl Text {
    pub(crate) const fn new(en: &'static str, pt: &'static str) -> Self {
        Self { en, pt }
    }

    pub(crate) const fn of(self, language: Language) -> &'static str {
        match language {
            Language::English => self.en,
            Language::Portuguese => self.pt,
        }
    }
}

/// A table of texts with variables: a function per text, which returns it in the given language.
macro_rules! texts {
    ($($(#[$attribute:meta])* $name:ident($($variable:ident: $type:ty),* $(,)?) {
        en: $en:literal,
        pt: $pt:literal $(,)?
    })*) => {$(
        $(#[$attribute])*
        pub(super) fn $name(
            language: $crate::language::Language,
            $($variable: $type),*
        ) -> String {
            match language {
                $crate::language::Language::English => format!($en),
                $crate::language::Language::Portuguese => format!($pt),
            }
        }
    )*};
}

pub(crate) use texts;

#[cfg(test)]
mod tests {
    use super::Language;

    fn language(variables: &[(&str, &str)]) -> Language {
        Language::of_locale(|name| {
            let found = variables.iter().find(|(each, _)| *each == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_portuguese_locale_selects_portuguese_and_any_other_english() {
        for locale in ["pt", "pt_BR.UTF-8", "pt_PT@euro", "pt-BR", "pt.UTF-8"] {
            assert_eq!(
                language(&[("LANG", locale)]),
                Language::Portuguese,
                "{locale}"
            );
        }
        for locale in [
            "",
            "C",
            "C.UTF-8",
            "POSIX",
            "en_US.UTF-8",
            "de_DE",
            "ptx",
            "PT",
        ] {
            assert_eq!(language(&[("LANG", locale)]), Language::English, "{locale}");
        }
        assert_eq!(language(&[]), Language::English);
    }

    #[test]
    fn the_first_variable_that_is_not_empty_decides() {
        let (en, pt) = ("en_US.UTF-8", "pt_BR.UTF-8");
        assert_eq!(language(&[("LC_ALL", en), ("LANG", pt)]), Language::English);
        assert_eq!(
            language(&[("LC_ALL", ""), ("LANG", pt)]),
            Language::Portuguese
        );
        let messages = [("LC_MESSAGES", pt), ("LANG", en)];
        assert_eq!(language(&messages), Language::Portuguese);
    }
}
