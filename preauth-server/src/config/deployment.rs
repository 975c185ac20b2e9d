//! The `deployment_id` settings: the deployment whose databases this server works on.

use std::path::Path;

use crate::files;
use crate::hold::DeploymentId;
use crate::log::chain;

use super::reader::Reader;

impl Reader<'_> {
    /// The id, if it is set; `None` also after a problem.
    pub(super) fn deployment(&mut self) -> Option<DeploymentId> {
        let (text, file) = (self.text("deployment_id"), self.text("deployment_id_file"));
        let parsed = match (text.as_str(), file.as_str()) {
            ("", "") => return None,
            (text, "") => text
                .parse()
                .map_err(|error| format!("deployment_id {text:?}: {error}")),
            ("", file) => read(Path::new(file)),
            _ => Err(
                "deployment_id and deployment_id_file are both given; keep one of them".to_owned(),
            ),
        };
        parsed
            .map_err(|problem: String| self.problem(&problem))
            .ok()
    }
}

fn read(file: &Path) -> Result<DeploymentId, String> {
    let shown = file.display();
    let text = files::read_authentic(file).map_err(|error| {
        format!(
            "deployment_id_file {shown} cannot be read: {}",
            chain(&error)
        )
    })?;
    text.trim()
        .parse()
        .map_err(|error| format!("deployment_id_file {shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Layers};

    fn read(variables: &[(&str, &str)]) -> Result<Option<String>, String> {
        let config = Config::from_layers(&Layers::of_environment(variables))
            .map_err(|error| error.to_string())?;
        Ok(config.deployment.map(|id| id.to_string()))
    }

    #[test]
    fn an_id_comes_from_a_setting_or_from_a_file_and_not_from_both() {
        assert_eq!(read(&[]), Ok(None));
        let setting = ("PREAUTH_DEPLOYMENT_ID", "production-1");
        assert_eq!(read(&[setting]), Ok(Some("production-1".to_owned())));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deployment.id");
        std::fs::write(&path, "production-2\n").unwrap();
        let file = ("PREAUTH_DEPLOYMENT_ID_FILE", path.to_str().unwrap());
        assert_eq!(read(&[file]), Ok(Some("production-2".to_owned())));
        assert!(read(&[file, setting]).unwrap_err().contains("both given"));
    }

    #[test]
    fn an_id_that_cannot_be_read_is_a_problem_of_the_configuration() {
        let error = read(&[("PREAUTH_DEPLOYMENT_ID", "short")]).unwrap_err();
        assert!(error.contains("8 to 64 letters"), "{error}");
        let missing = ("PREAUTH_DEPLOYMENT_ID_FILE", "/nowhere/deployment.id");
        let error = read(&[missing]).unwrap_err();
        assert!(
            error.contains("/nowhere/deployment.id cannot be read"),
            "{error}"
        );
    }
}
