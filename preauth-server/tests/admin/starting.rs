//! How a server starts, and when it refuses to.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};

use crate::operator::{Done, command, preauth};

#[test]
fn a_database_that_cannot_be_used_is_refused_before_anything_is_written() {
    for (database, expected) in [
        ("mysql://db/preauth", "database url must begin with"),
        ("sqlite://", "must name a file"),
        ("postgres://ana@127.0.0.1:1/preauth", "does not answer"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
        let shared = ("PREAUTH_FILES_SHARED", "true");
        let serve = ["serve", "--database", database];
        let serve = preauth(folder.path(), &serve, &[token, shared]);
        serve.failed(1, &[expected]);
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "{database}");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.db");
    let options = SqliteConnectOptions::new().filename(&file);
    let mut foreign = options.create_if_missing(true).connect().await.unwrap();
    let made = foreign.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    made.await.unwrap();
    foreign.close().await.unwrap();
    let before = std::fs::read(&file).unwrap();
    let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
    let serve = ["serve", "--database", "sqlite://orders.db"];
    let refused = preauth(folder.path(), &serve, &[token]);
    refused.failed(1, &["orders.db", "another program", "choose another"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_number_with_decimals_is_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("preauth.toml");
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, own).unwrap();
        let arguments = ["config", "check", "--config", "preauth.toml"];
        preauth(folder.path(), &arguments, &[])
    };
    for text in ["0.001", "2.5", "20", "\"0.001\""] {
        let checked = check(&format!("[files]\nquota_gib = {text}\n"));
        assert_eq!(checked.code, 0, "{text}: {}", checked.err);
        let shown = text.trim_matches('"');
        let quota = checked
            .out
            .lines()
            .find(|it| it.starts_with("files.quota_gib"));
        assert!(quota.unwrap().contains(shown), "{}", checked.out);
    }
    for text in ["0.0001", "nan", "-1.5"] {
        let refused = check(&format!("[files]\nquota_gib = {text}\n"));
        assert_eq!(refused.code, 1, "{text}");
        assert!(
            refused.err.contains("files.quota_gib must be"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn config_check_reports_what_serve_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let check = |database: &str| {
        let arguments = ["config", "check", "--database", database];
        preauth(folder.path(), &arguments, &[])
    };
    let wrong = check("mysql://db/preauth");
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.err.contains("database url must begin with"),
        "{}",
        wrong.err
    );
    let without_token = check("postgres://localhost/preauth");
    assert_eq!(without_token.code, 1);
    assert!(
        without_token.err.contains("must be given on PostgreSQL"),
        "{}",
        without_token.err
    );
    // Every problem at once, also that the files of a server are not there.
    assert!(
        without_token
            .err
            .contains("there is no master key file preauth-data/master.key"),
        "{}",
        without_token.err
    );
    assert_eq!(check("sqlite://data/preauth.db").code, 0);
    let named = [
        ("PREAUTH_MASTER_KEY_FILE", "a.key"),
        ("PREAUTH_PLATFORM_TOKEN_FILE", "a.token"),
    ];
    let missing = preauth(folder.path(), &["config", "check"], &named);
    assert_eq!(missing.code, 1);
    for problem in [
        "master_key_file: a.key does not exist",
        "platform_token_file: a.token does not exist",
    ] {
        assert!(missing.err.contains(problem), "{}", missing.err);
    }
}

#[test]
fn a_sandbox_shows_the_form_of_the_addresses_that_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    for (address, expected) in [
        ("8090", "like 127.0.0.1:8090"),
        ("localhost:8091", "like 127.0.0.1:8091"),
        ("here", "like 127.0.0.1:8080"),
    ] {
        let sandbox = preauth(folder.path(), &["sandbox", "--listen", address], &[]);
        sandbox.failed(2, &[expected]);
    }
    let free = [
        "--listen",
        "127.0.0.1:0",
        "--platform-listen",
        "127.0.0.1:0",
    ];
    let url = ["sandbox", "--webhook-url", "localhost:9000"];
    let sandbox = preauth(folder.path(), &[&url[..], &free].concat(), &[]);
    let expected = "does not begin with https://, or with http:// where that is allowed; give it whole, like \
                    http://127.0.0.1:9000/webhooks";
    sandbox.failed(1, &[expected]);
}

/// Commands that print and end.
const PRINTING: [&[&str]; 4] = [
    &["config", "check"],
    &["completions", "bash"],
    &["openapi", "platform"],
    &["doctor", "--listen", "nowhere"],
];

#[test]
fn a_reader_that_closes_the_pipe_ends_no_command_with_an_error() {
    for arguments in PRINTING {
        let folder = tempfile::tempdir().unwrap();
        let usual = preauth(folder.path(), arguments, &[]);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut closed = command(folder.path(), arguments, &[]);
        let closed = Done::from(closed.stdout(writer).output().unwrap());
        assert_eq!(closed.code, usual.code, "{arguments:?}: {}", closed.err);
        assert_eq!(closed.err, usual.err, "{arguments:?}");
    }
}

#[test]
fn an_output_that_takes_nothing_is_an_error_in_words() {
    for arguments in PRINTING {
        let folder = tempfile::tempdir().unwrap();
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut full_device = command(folder.path(), arguments, &[]);
        let done = Done::from(full_device.stdout(full.unwrap()).output().unwrap());
        assert_eq!(done.code, 1, "{arguments:?}: {}", done.err);
        let sentence = "error: cannot write to standard output: No space left on device";
        assert!(done.err.contains(sentence), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn a_server_takes_its_token_from_a_file_that_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = ("PREAUTH_PLATFORM_TOKEN_FILE", "token");
    let serve = preauth(folder.path(), &["serve"], &[file]);
    serve.failed(1, &["cannot use token file token"]);
    assert!(!folder.path().join("token").exists());
}

#[test]
fn help_shows_the_commands_in_groups_and_every_example_is_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let help = preauth(folder.path(), &["--help"], &[]);
    assert_eq!(help.code, 0);
    assert!(
        help.out
            .contains("\nAdministration (of a running server):\n  company "),
        "{}",
        help.out
    );
    let mut pending: Vec<_> = preauth_server::cli::command()
        .get_subcommands()
        .cloned()
        .collect();
    let mut examples = 0;
    while let Some(command) = pending.pop() {
        pending.extend(command.get_subcommands().cloned());
        let Some(text) = command.get_after_help() else {
            continue;
        };
        let text = text.to_string();
        let (heading, shown) = text.split_once(":\n").unwrap();
        assert!(["Example", "Examples"].contains(&heading), "{text}");
        for example in shown.lines().map(str::trim) {
            let words = words(example);
            let parsed = preauth_server::cli::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            assert!(words.contains(&command.get_name().to_owned()), "{example}");
            examples += 1;
        }
    }
    assert!(examples > 30, "{examples}");
}

/// The words of a shell line, which quotes with `'` only.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}
