//! PostgreSQL over a network: no server in between can impersonate the database.

use std::path::Path;

use crate::impostors::Impostor;
use crate::operator::{Done, preauth};
use crate::secret_files::put;

/// Every command that opens the database.
const COMMANDS: [&[&str]; 8] = [
    &["serve"],
    &["migrate"],
    &["audit"],
    &["backup", "copy.db"],
    &["adopt", "--yes"],
    &["abandon-master-key", "5f3a09c1", "--yes"],
    &["config", "check"],
    &["sandbox"],
];
const PRIVATE: (&str, &str) = ("PREAUTH_DATABASE_NETWORK_IS_PRIVATE", "true");

fn run(command: &[&str], database: &str, more: &[(&str, &str)]) -> Done {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), command, database, more)
}

fn run_in(folder: &Path, command: &[&str], database: &str, more: &[(&str, &str)]) -> Done {
    let usual = [
        ("PREAUTH_PLATFORM_TOKEN", "operator-token-of-the-tests"),
        ("PREAUTH_FILES_SHARED", "true"),
    ];
    if command == ["sandbox"] {
        let ports = [
            "--listen",
            "127.0.0.1:0",
            "--platform-listen",
            "127.0.0.1:0",
        ];
        let sandbox = [command, &["--database", database], &ports].concat();
        return preauth(folder, &sandbox, more);
    }
    let url = ("PREAUTH_DATABASE", database);
    preauth(folder, command, &[&usual[..], &[url], more].concat())
}

#[test]
fn every_command_refuses_a_server_on_the_network_without_a_verified_certificate() {
    for command in COMMANDS {
        for (database, more) in [
            ("postgres://db.invalid/preauth", &[][..]),
            ("postgres://db.invalid/preauth?sslmode=require", &[]),
            ("postgres://localhost/preauth?host=db.invalid", &[]),
            ("postgres:///preauth", &[("PGHOST", "db.invalid")]),
            (
                "postgres:///preauth",
                &[("PGHOSTADDR", "192.0.2.1"), ("PGSSLMODE", "require")],
            ),
        ] {
            let done = run(command, database, more);
            assert_ne!(done.code, 0, "{command:?} {database}");
            let expected = "over a network without a verified certificate";
            assert!(
                done.err.contains(expected),
                "{command:?} {database}: {}",
                done.err
            );
            assert!(done.err.contains("sslmode=verify-full"), "{}", done.err);
        }
    }
}

#[test]
fn a_verified_certificate_or_an_explicit_setting_allows_the_connection() {
    for (database, more) in [
        ("postgres://db.invalid/preauth?sslmode=verify-full", &[][..]),
        (
            "postgres://db.invalid/preauth",
            &[("PGSSLMODE", "verify-full")],
        ),
        ("postgres://db.invalid/preauth", &[PRIVATE]),
    ] {
        for command in [&["migrate"][..], &["sandbox"]] {
            let done = run(command, database, more);
            assert!(
                done.err.contains("does not answer"),
                "{command:?}: {}",
                done.err
            );
        }
    }
}

#[test]
fn a_server_that_declines_encryption_gets_neither_user_nor_password() {
    let impostor = Impostor::answering("N");
    let port = impostor.address.port();
    let database = format!("postgres://ana:geheim@127.0.0.1:{port}/preauth?sslmode=verify-full");
    let done = run(&["migrate"], &database, &[]);
    assert!(done.err.contains("does not support TLS"), "{}", done.err);
    let bytes = impostor.received().chars().count();
    assert_eq!(bytes, 8, "the question for encryption");
}

/// The parameter that names a file, the mode that it is refused with, and the next step.
const TLS_FILES: [(&str, &str, u32, &str); 6] = [
    ("sslkey", "PGSSLKEY", 0o640, "chmod 600 own.pem"),
    ("sslkey", "PGSSLKEY", 0o604, "chmod 600 own.pem"),
    ("sslkey", "PGSSLKEY", 0o622, "chmod 600 own.pem"),
    ("sslcert", "PGSSLCERT", 0o664, "chmod go-w own.pem"),
    ("sslrootcert", "PGSSLROOTCERT", 0o646, "chmod go-w own.pem"),
    ("sslrootcert", "PGSSLROOTCERT", 0o666, "chmod go-w own.pem"),
];

#[test]
fn every_command_refuses_a_file_for_tls_that_others_can_use() {
    for command in COMMANDS {
        for (parameter, variable, mode, step) in TLS_FILES {
            let folder = tempfile::tempdir().unwrap();
            put(folder.path(), "own.pem", "x", mode);
            let bare = "postgres://localhost/preauth?sslmode=verify-full";
            let named = format!("{bare}&{parameter}=own.pem");
            for (database, more) in [(&*named, &[][..]), (bare, &[(variable, "own.pem")])] {
                let done = run_in(folder.path(), command, database, more);
                assert_ne!(done.code, 0, "{command:?} {database}");
                let said = format!("{parameter} of the database url cannot be used: own.pem");
                assert!(done.err.contains(&said), "{command:?}: {}", done.err);
                assert!(done.err.contains(step), "{command:?}: {}", done.err);
            }
        }
    }
}

#[test]
fn files_for_tls_that_nobody_else_can_use_let_it_try() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "key.pem", "x", 0o600);
    put(folder.path(), "public.pem", "x", 0o644);
    let impostor = Impostor::answering("N");
    let port = impostor.address.port();
    let database = format!(
        "postgres://127.0.0.1:{port}/preauth?sslmode=verify-full\
         &sslkey=key.pem&sslcert=public.pem&sslrootcert=public.pem"
    );
    let done = run_in(folder.path(), &["migrate"], &database, &[]);
    assert!(done.err.contains("does not support TLS"), "{}", done.err);
    let gone = database.replace("key.pem", "gone.pem");
    let done = run_in(folder.path(), &["config", "check"], &gone, &[]);
    assert_eq!(done.code, 1, "{}", done.out);
    let said = "sslkey of the database url cannot be used: gone.pem";
    assert!(done.err.contains(said), "{}", done.err);
}
