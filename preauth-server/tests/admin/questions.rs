//! Irreversible commands ask for confirmation.

use crate::operator::{COMPANY, Operator};

/// An id of no record.
const NOBODY: &str = "01a1fe3a-25a3-7ffb-8504-107e7be706e3";

// The console confirms the same (tests/console/confirmations.rs).
#[tokio::test]
async fn irreversible_commands_are_refused_without_a_terminal() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let key = operator.json(&["key", "list", COMPANY])["data"][0]["id"].clone();
    for command in [
        &["key", "revoke", key.as_str().unwrap()][..],
        &["endpoint", "delete", COMPANY],
        &["personal-data", "erase", COMPANY],
        &["endpoint", "rotate", COMPANY],
        &["operation", "decline", &id],
        &["operation", "withdraw", &id],
        &["operation", "reprove", &id, "--by", "platform"],
        // Nothing is looked up before somebody can answer.
        &["extension", "cancel", "1"],
        &["payment-order", "cancel", "1"],
        &["payment-order", "reprove", "1"],
        &["mail", "suppressed", "remove", NOBODY],
        &["operator", "revoke", NOBODY],
    ] {
        operator.run(command).failed(4, &["give --yes to go on"]);
        operator
            .run(&[command, &["--json"]].concat())
            .failed(4, &["--yes"]);
    }
    assert_eq!(
        operator.json(&["operation", "show", &id])["status"],
        "IN_PRE_AUTH"
    );
    assert_eq!(
        operator.json(&["endpoint", "show", COMPANY])["status"],
        "ACTIVE"
    );
}
