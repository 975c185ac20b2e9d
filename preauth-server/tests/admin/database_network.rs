//! PostgreSQL over a network: no server in between can impersonate the database.

use crate::impostors::Impostor;
use crate::operator::{Done, preauth};

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
        return preauth(folder.path(), &sandbox, more);
    }
    let url = ("PREAUTH_DATABASE", database);
    preauth(folder.path(), command, &[&usual[..], &[url], more].concat())
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
