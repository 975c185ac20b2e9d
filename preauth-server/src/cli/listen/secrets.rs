//! The signing secrets: from the command line, the environment, or a file.

use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use serde::Deserialize;
use webhook_verify::{Secret, SecretError, Verifier};

use crate::admin::caused;
use crate::files;
use crate::language::Language;

use super::words;

/// The variable that has secrets, with commas between them.
const VARIABLE: &str = "WEBHOOK_SECRET";
/// The file that stands for the standard input.
const STANDARD_INPUT: &str = "-";
/// Maximum number of bytes read; no list of secrets is longer.
const MAX_INPUT_BYTES: u64 = 64 << 10;

/// Why there is no secret to verify with.
#[derive(Debug)]
pub(in crate::cli) enum NoSecret {
    NotGiven,
    File {
        path: PathBuf,
        cause: std::io::Error,
    },
    Empty {
        path: PathBuf,
    },
    Form {
        /// The file; `None` for what was given directly.
        file: Option<PathBuf>,
        cause: SecretError,
    },
}

impl NoSecret {
    pub(in crate::cli) fn text(&self, language: Language) -> String {
        let shown = |path: &Path| path.display().to_string();
        match self {
            Self::NotGiven => words::NO_SECRET.of(language).to_owned(),
            Self::File { path, cause } => caused(&words::unread(language, &shown(path)), cause),
            Self::Empty { path } => words::empty(language, &shown(path)),
            Self::Form { file, cause } => {
                let place = match file {
                    Some(path) => words::file(language, &shown(path)),
                    None => words::GIVEN.of(language).to_owned(),
                };
                caused(&words::unusable(language, &place), cause)
            }
        }
    }
}

/// The signing secrets; those of the file are read again each time.
#[derive(Debug)]
pub(super) struct Secrets {
    given: Vec<Secret>,
    file: Option<PathBuf>,
}

/// The fields used of a sandbox's ready file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    webhook_secret: String,
}

impl Secrets {
    /// The secrets of the arguments, or else of the environment, in addition to those of the file.
    pub(super) fn given(mut given: Vec<String>, file: Option<PathBuf>) -> Result<Self, NoSecret> {
        if given.is_empty() {
            given = from_environment();
        }
        Self::with(given, file)
    }

    fn with(mut given: Vec<String>, file: Option<PathBuf>) -> Result<Self, NoSecret> {
        match file {
            Some(path) if path == Path::new(STANDARD_INPUT) => {
                given.extend(from_standard_input()?);
                Self::new(&given, None)
            }
            file => Self::new(&given, file),
        }
    }

    /// The given secrets; the file need not exist yet.
    fn new(given: &[String], file: Option<PathBuf>) -> Result<Self, NoSecret> {
        if given.is_empty() && file.is_none() {
            return Err(NoSecret::NotGiven);
        }
        let parse = |text: &String| parse(None, text);
        let given = given.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { given, file })
    }

    /// A verifier that accepts every current secret.
    pub(super) fn verifier(&self) -> Result<Verifier, NoSecret> {
        let mut all = self.all()?.into_iter();
        let first = all.next().ok_or(NoSecret::NotGiven)?;
        Ok(all.fold(Verifier::new(first), Verifier::also_accepting))
    }

    fn all(&self) -> Result<Vec<Secret>, NoSecret> {
        let mut all = self.given.clone();
        match self.file.as_deref().map(read) {
            Some(Ok(secrets)) => all.extend(secrets),
            Some(Err(error)) if all.is_empty() => return Err(error),
            Some(Err(_)) | None => {}
        }
        Ok(all)
    }
}

/// The secret to sign with: the first one of the file, or else of the environment.
pub(in crate::cli) fn signing_secret(file: Option<PathBuf>) -> Result<Secret, NoSecret> {
    let given = match file {
        Some(_) => Vec::new(),
        None => from_environment(),
    };
    let secrets = Secrets::with(given, file)?.all()?;
    secrets.into_iter().next().ok_or(NoSecret::NotGiven)
}

fn from_environment() -> Vec<String> {
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let secrets = variable.split(',').filter(|it| !it.is_empty());
    secrets.map(str::to_owned).collect()
}

fn from_standard_input() -> Result<Vec<String>, NoSecret> {
    let failed = |cause| NoSecret::File {
        path: PathBuf::from(STANDARD_INPUT),
        cause,
    };
    let mut text = Zeroizing::new(String::new());
    let mut input = std::io::stdin().lock().take(MAX_INPUT_BYTES);
    input.read_to_string(&mut text).map_err(failed)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

fn read(path: &Path) -> Result<Vec<Secret>, NoSecret> {
    let text = files::read_secret(path).map_err(|cause| NoSecret::File {
        path: path.to_owned(),
        cause,
    })?;
    if let Ok(ready) = serde_json::from_str::<Ready>(&text) {
        return Ok(vec![parse(Some(path), &ready.webhook_secret)?]);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let secrets = lines
        .map(|line| parse(Some(path), line))
        .collect::<Result<Vec<_>, _>>()?;
    if secrets.is_empty() {
        let path = path.to_owned();
        return Err(NoSecret::Empty { path });
    }
    Ok(secrets)
}

fn parse(file: Option<&Path>, text: &str) -> Result<Secret, NoSecret> {
    Secret::parse(text).map_err(|cause| NoSecret::Form {
        file: file.map(Path::to_owned),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use webhook_verify::sign;

    const FIRST: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";
    const SECOND: &str = "whsec_dGhlLW9uZS1iZWZvcmUtdGhlLXJvdGF0aW9uISE";

    fn accepts(secrets: &Secrets, secret: &str) -> bool {
        let header = sign(&[Secret::parse(secret).unwrap()], 7, b"{}").unwrap();
        let verifier = secrets.verifier().unwrap();
        verifier.verify(Some(header.as_bytes()), b"{}", 7).is_ok()
    }

    #[test]
    fn a_file_may_come_later_and_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        let secrets = Secrets::new(&[], Some(path.clone())).unwrap();
        assert!(matches!(secrets.verifier(), Err(NoSecret::File { .. })));
        files::write_private(&path, b"\n").unwrap();
        assert!(matches!(secrets.verifier(), Err(NoSecret::Empty { .. })));
        std::fs::write(
            &path,
            format!(r#"{{"apiKey":"x","webhookSecret":"{FIRST}"}}"#),
        )
        .unwrap();
        assert!(accepts(&secrets, FIRST) && !accepts(&secrets, SECOND));
        std::fs::write(&path, format!("{FIRST}\n  {SECOND}\n")).unwrap();
        assert!(accepts(&secrets, FIRST) && accepts(&secrets, SECOND));
        std::fs::write(&path, "whsec_").unwrap();
        assert!(matches!(secrets.verifier(), Err(NoSecret::Form { .. })));
    }

    #[test]
    fn a_secret_given_as_an_option_needs_no_file_and_is_validated_at_once() {
        let missing = Some(PathBuf::from("/nowhere/secrets"));
        let secrets = Secrets::new(&[SECOND.to_owned()], missing).unwrap();
        assert!(accepts(&secrets, SECOND));
        let wrong = Secrets::new(&["hunter2".to_owned()], None).unwrap_err();
        assert!(!wrong.text(Language::English).contains("hunter2"));
        assert!(matches!(Secrets::new(&[], None), Err(NoSecret::NotGiven)));
    }
}
