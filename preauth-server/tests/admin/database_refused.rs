//! Databases that a command cannot use: the text names the cause and the next step that fits.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;

use sqlx::AssertSqlSafe;
use test_support::Database;
use url::Url;

use crate::operator::{Done, command, preauth};

const NOBODY: u32 = 65_534;

#[tokio::test]
async fn a_user_that_postgresql_refuses_is_named_with_the_next_step() {
    let database = Database::fresh().await;
    let role = format!("{}_limited", database.name());
    let make = format!("CREATE ROLE {role} LOGIN");
    sqlx::raw_sql(AssertSqlSafe(make))
        .execute(&database.sql().await)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (user, said, next) in [
        (
            role.as_str(),
            "permission denied for ",
            format!("`GRANT OWNER TO {role}`"),
        ),
        (
            "nobody_knows",
            "role \"nobody_knows\" does not exist",
            "`createuser --pwprompt nobody_knows`".to_owned(),
        ),
    ] {
        let mut url = Url::parse(&database.url()).unwrap();
        url.set_username(user).unwrap();
        for (command, code) in [("serve", 1), ("audit", 2)] {
            let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
            let shared = ("PREAUTH_FILES_SHARED", "true");
            let arguments = [command, "--database", url.as_str()];
            let refused = preauth(folder.path(), &arguments, &[token, shared]);
            refused.failed(code, &[&format!("the user {user}"), said, &next]);
            assert!(!refused.err.contains(" at line "), "{}", refused.err);
        }
    }
}

#[test]
fn a_damaged_file_leads_to_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let migrate = ["migrate", "--database", "sqlite://preauth.db"];
    assert_eq!(preauth(folder.path(), &migrate, &[]).code, 0);
    let file = folder.path().join("preauth.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // The header of the file stays.
    bytes[100..4096].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let serve = ["serve", "--database", "sqlite://preauth.db"];
    let refused = preauth(folder.path(), &serve, &[]);
    refused.failed(1, &["preauth.db is damaged", "`preauth-server restore`"]);
}

#[test]
fn a_folder_that_may_not_be_written_to_is_the_cause_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let migrate = ["migrate", "--data", "data"];
    assert_eq!(preauth(folder.path(), &migrate, &[]).code, 0);
    let data = folder.path().join("data");
    let mut serve = command(folder.path(), &["serve", "--data", "data"], &[]);
    // Nothing is read-only for the superuser.
    if std::fs::metadata(&data).unwrap().uid() == 0 {
        let paths = std::fs::read_dir(&data).unwrap();
        for path in paths.map(|entry| entry.unwrap().path()) {
            chown(path, Some(NOBODY), None).unwrap();
        }
        chown(&data, Some(NOBODY), None).unwrap();
        let all = Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), all).unwrap();
        serve.uid(NOBODY);
    }
    std::fs::set_permissions(&data, Permissions::from_mode(0o500)).unwrap();
    let refused: Done = serve.output().unwrap().into();
    std::fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    let cause = "preauth.db cannot be written by this process's user";
    refused.failed(1, &[cause, "and to its folder"]);
}
