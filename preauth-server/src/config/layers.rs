//! The sources of each value: the last source that contains a setting wins.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;

use secrecy::zeroize::Zeroize;

use super::{ConfigError, SETTINGS, Setting, password};
use crate::files;
use crate::hint::closest;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// No source contains it.
    Default,
    /// The configuration file.
    File,
    /// A variable of the environment.
    Environment,
    /// A command line flag.
    Flag,
}

/// The text of a setting and its source.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    /// The text, not parsed.
    pub text: String,
    /// The source.
    pub source: Source,
}

/// The values of all settings, not parsed.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    values: BTreeMap<&'static str, Value>,
    problems: Vec<String>,
}

/// The configuration file of an installed package.
const PACKAGED: &str = "/etc/preauth/preauth.toml";

impl Layers {
    /// Begins with the given configuration file; without one, and without a data folder, with that
    /// of an installed package, if there is one.
    #[must_use]
    pub fn beginning_with(file: Option<&Path>, data: Option<&str>) -> Self {
        let packaged = Path::new(PACKAGED);
        let is_packaged = file.is_none() && data.is_none() && packaged.exists();
        let mut layers = Self::default();
        if let Some(path) = file.or(is_packaged.then_some(packaged)) {
            layers.file(path);
        }
        layers
    }

    /// Only these variables, in a test.
    #[cfg(test)]
    pub(super) fn of_environment(variables: &[(impl AsRef<str>, &str)]) -> Self {
        let mut layers = Self::default();
        let owned = variables.iter();
        layers
            .environment(owned.map(|(name, text)| (name.as_ref().to_owned(), (*text).to_owned())));
        layers
    }

    /// Adds the values of a TOML file.
    pub fn file(&mut self, path: &Path) {
        let shown = path.display();
        let cannot = |error| format!("cannot read {shown}: {error}");
        let read = || {
            let mut file = File::open(path).map_err(cannot)?;
            let text = files::read(&mut file).map_err(cannot)?;
            let parsed = text.parse::<toml::Table>();
            let table = parsed
                .map_err(|error| format!("{shown} is not TOML: {}", defect(&text, &error)))?;
            Ok((file, table))
        };
        match read() {
            Ok((file, table)) => {
                self.table("", &table);
                let is_secret = SETTINGS.iter().any(|setting| self.file_holds(setting));
                if is_secret && let Err(error) = files::check_secret(&file, path) {
                    let problem = format!("{shown} holds a secret: {error}");
                    self.problems.push(problem);
                } else if let Err(error) = files::check_authentic(&file, path) {
                    // The file decides which database, tokens and webhook rules are used.
                    let problem = format!("{shown} is not trusted: {error}");
                    self.problems.push(problem);
                }
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Whether the value of this setting comes from the file and is a secret.
    fn file_holds(&self, setting: &Setting) -> bool {
        let value = self.value(setting);
        let is_secret = setting.secret || password::is_in(&value.text);
        value.source == Source::File && is_secret && !value.text.is_empty()
    }

    /// Adds the values of the environment; an unknown `PREAUTH_` variable is a problem.
    pub fn environment(&mut self, variables: impl Iterator<Item = (String, String)>) {
        for (name, text) in variables.filter(|(name, _)| name.starts_with("PREAUTH_")) {
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) {
                self.set(setting, text, Source::Environment);
                continue;
            }
            let names: Vec<_> = SETTINGS.iter().map(Setting::variable).collect();
            let hint = did_you_mean(&name, names.iter().map(String::as_str));
            self.problems.push(format!("{name} is not a setting{hint}"));
        }
    }

    /// Adds the value of a flag, if it was given.
    pub fn flag(&mut self, key: &'static str, text: Option<String>) {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        if let (Some(setting), Some(text)) = (setting, text) {
            if password::is_in(&text) {
                self.problems.push(format!(
                    "everybody on this machine can read the password in --{key}; put the URL into \
                     {} or the configuration file, or the password into a file that PGPASSFILE names",
                    setting.variable()
                ));
            }
            self.set(setting, text, Source::Flag);
        }
    }

    /// The value of a setting.
    #[must_use]
    pub fn value(&self, setting: &Setting) -> Value {
        self.values
            .get(setting.key)
            .cloned()
            .unwrap_or_else(|| Value {
                text: setting.default.to_owned(),
                source: Source::Default,
            })
    }

    /// The value of the setting with this name; empty when there is none.
    #[must_use]
    pub fn of(&self, key: &str) -> Value {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        setting.map_or_else(
            || Value {
                text: String::new(),
                source: Source::Default,
            },
            |setting| self.value(setting),
        )
    }

    /// The problems found while the sources were read.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// All values, one line each; secrets are hidden.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = String::new();
        for setting in &SETTINGS {
            let source = self.value(setting).source;
            let line = format!("{:<34} {:<28} {source}\n", setting.key, self.shown(setting));
            report.push_str(&line);
        }
        report
    }

    /// The value as people may see it.
    #[must_use]
    pub fn shown(&self, setting: &Setting) -> String {
        let text = self.value(setting).text;
        let shown = match text.as_str() {
            "" => shown_if_unset(setting.key),
            _ if setting.secret => "(hidden)",
            text => text,
        };
        password::hidden_in(shown)
    }

    /// These values, but those that a running server takes anew are `newer`'s.
    #[must_use]
    pub fn with_live_values_of(&self, newer: &Self) -> Self {
        let mut mixed = self.clone();
        for setting in SETTINGS.iter().filter(|setting| setting.is_read_again) {
            let Value { text, source } = newer.value(setting);
            mixed.set(setting, text, source);
        }
        mixed
    }

    fn table(&mut self, prefix: &str, table: &toml::Table) {
        for (name, value) in table {
            let key = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}.{name}")
            };
            let text = match value {
                toml::Value::Table(section) => {
                    self.table(&key, section);
                    continue;
                }
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::Boolean(flag) => flag.to_string(),
                toml::Value::Array(texts) if texts.iter().all(toml::Value::is_str) => {
                    let texts: Vec<_> = texts.iter().filter_map(toml::Value::as_str).collect();
                    texts.join(",")
                }
                toml::Value::Datetime(_) | toml::Value::Array(_) => {
                    self.problems.push(format!(
                        "{key} must be a text, a number, a boolean or a list of texts"
                    ));
                    continue;
                }
            };
            let section = format!("{key}.");
            match SETTINGS.iter().find(|setting| setting.key == key) {
                Some(setting) => self.set(setting, text, Source::File),
                None if SETTINGS
                    .iter()
                    .any(|setting| setting.key.starts_with(&section)) =>
                {
                    self.problems
                        .push(format!("{key} in the file is a section: write [{key}]"));
                }
                None => {
                    let hint = did_you_mean(&key, SETTINGS.iter().map(|setting| setting.key));
                    self.problems
                        .push(format!("{key} in the file is not a setting{hint}"));
                }
            }
        }
    }

    fn set(&mut self, setting: &Setting, text: String, source: Source) {
        self.values.insert(setting.key, Value { text, source });
    }
}

/// The setting that was probably meant.
fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    closest(name, names).map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

/// What is wrong, and in which line; the parser's own text quotes the line, which may contain a secret.
fn defect(text: &str, error: &toml::de::Error) -> String {
    let what = error.message();
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return what.to_owned();
    };
    let number = before.split('\n').count();
    let line = text.split('\n').nth(number.saturating_sub(1));
    if line.is_some_and(has_bare_value) {
        return format!(
            "line {number}: put the value in quotes, like data = \"/var/lib/preauth\"; only numbers, true, false and \
             lists stand without ({what})"
        );
    }
    format!("line {number}: {what}")
}

/// Whether the line gives a setting a text without quotes.
fn has_bare_value(line: &str) -> bool {
    let value = line.split_once('=').map(|(_, value)| value.trim());
    value.is_some_and(|value| {
        let is_bare = !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '#']);
        is_bare && format!("value = {value}").parse::<toml::Table>().is_err()
    })
}

/// The effect of a setting without default and without value.
fn shown_if_unset(key: &str) -> &'static str {
    match key {
        "database" => "(preauth.db in data)",
        "master_key_file" => "(master.key in data)",
        "deployment_id" => "(goes by the database's place)",
        "files.place" => "(invoice-files in data)",
        _ => "(none)",
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        for value in self.values.values_mut() {
            value.text.zeroize();
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

impl From<Vec<String>> for ConfigError {
    fn from(problems: Vec<String>) -> Self {
        Self(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::defect;

    #[test]
    fn a_defect_of_the_file_names_its_line_and_quotes_nothing() {
        for (text, line) in [
            ("[a]\nb = 1\n[a]\nb = 2\n", 3),
            ("a = 1\n\n[mail\n", 3),
            ("platform_token = \"geheim\n", 1),
            ("ção = 1", 1),
            ("data = \"a\"\nplatform_token = geheim\n", 2),
        ] {
            let error = text.parse::<toml::Table>().unwrap_err();
            let said = defect(text, &error);
            assert!(said.starts_with(&format!("line {line}: ")), "{said}");
            assert!(!said.contains("geheim"), "{said}");
        }
    }
}
