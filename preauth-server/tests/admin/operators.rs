//! Operators: added, shown, revoked, and at work with tokens of their own.

use serde_json::json;

use crate::operator::{Done, Operator, preauth, value};

/// Runs a command with this token.
fn run_as(operator: &Operator, token: &str, arguments: &[&str]) -> Done {
    let url = operator.sandbox.text("platformUrl");
    let variables = [
        ("PREAUTH_PLATFORM_URL", url),
        ("PREAUTH_PLATFORM_TOKEN", token),
    ];
    preauth(operator.folder(), arguments, &variables)
}

#[tokio::test]
async fn an_operator_works_with_a_token_of_their_own_until_it_is_revoked() {
    let operator = Operator::start().await;
    let whoami = operator.stdout(&["operator", "whoami"]);
    assert_eq!(value(&whoami, "name"), "root");
    assert_eq!(value(&whoami, "role"), "ADMIN");
    let added = operator.stdout(&["operator", "add", "Ana Souza", "--role", "viewer"]);
    assert!(added.contains("The token is shown this once"), "{added}");
    let token = added.lines().last().unwrap();
    assert!(
        token.starts_with("preauth_op_") && !token.contains(' '),
        "{added}"
    );

    let me = run_as(&operator, token, &["operator", "whoami", "--json"]);
    assert_eq!((me.code, me.err.as_str()), (0, ""));
    let me: serde_json::Value = serde_json::from_str(&me.out).unwrap();
    assert_eq!(
        (&me["name"], &me["role"]),
        (&json!("Ana Souza"), &json!("VIEWER"))
    );
    let forbidden = run_as(
        &operator,
        token,
        &["operator", "revoke", "Ana Souza", "--yes"],
    );
    forbidden.failed(
        1,
        &[
            "OPERATOR_FORBIDDEN (403)",
            "the operator's role",
            "`operator whoami`",
        ],
    );

    let shown = operator.stdout(&["operator", "show", "Ana Souza"]);
    assert_eq!(value(&shown, "state"), "ACTIVE");
    assert_ne!(value(&shown, "last used"), "-");
    assert!(!shown.contains(token), "{shown}");
    let revoked = operator.stdout(&["operator", "revoke", "Ana Souza", "--yes"]);
    assert_eq!(value(&revoked, "state"), "REVOKED");
    let listed = operator.stdout(&["operator", "list"]);
    assert!(
        listed.contains("Ana Souza") && listed.contains("REVOKED"),
        "{listed}"
    );
    let refused = run_as(&operator, token, &["operator", "whoami"]);
    refused.failed(3, &["refuses the operator token"]);
    operator
        .run(&["operator", "show", "Beto"])
        .failed(1, &["no operator has the name Beto"]);
}

#[tokio::test]
async fn an_operator_is_added_once_and_until_a_moment() {
    let operator = Operator::start().await;
    let add = ["operator", "add", "Beto", "--role", "OPERATOR"];
    let end = ["--valid-until", "2099-01-01 00:00:00Z"];
    let once = [&add[..], &end, &["--idempotency-key", "operador-0001"]].concat();
    let added = operator.json(&once);
    assert_eq!(added["validUntil"], "2099-01-01T00:00:00.000Z");
    let again = operator.run(&[&once[..], &["--json"]].concat());
    assert_eq!(again.code, 0);
    assert!(
        again.err.contains("revoke it and add another"),
        "{}",
        again.err
    );
    operator.run(&add).failed(1, &["RESOURCE_CONFLICT (409)"]);
    operator.run(&["operator", "revoke", "Beto"]).failed(4, &[]);
}

#[tokio::test]
async fn an_operations_history_shows_who_acted() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let added = operator.json(&["operator", "add", "Ana", "--role", "operator"]);
    let token = added["token"].as_str().unwrap();
    let done = run_as(&operator, token, &["operation", "request", &id]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let shown = operator.stdout(&["operation", "show", &id]);
    let row = shown
        .lines()
        .find(|line| line.contains("anticipation.requested"))
        .unwrap();
    assert!(row.contains("SUPPLIER") && row.contains("Ana"), "{shown}");
}

#[tokio::test]
async fn the_log_lists_what_operators_did() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let added = operator.json(&["operator", "add", "Ana", "--role", "operator"]);
    let token = added["token"].as_str().unwrap();
    let done = run_as(&operator, token, &["operation", "request", &id]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let forbidden = run_as(&operator, token, &["operator", "revoke", "Ana", "--yes"]);
    forbidden.failed(1, &["OPERATOR_FORBIDDEN (403)"]);

    let of_ana = operator.stdout(&["log", "list", "--operator", "Ana"]);
    for shown in ["requestOperation", "DONE", "revokeOperator", "FORBIDDEN"] {
        assert!(of_ana.contains(shown), "{shown}: {of_ana}");
    }
    assert!(!of_ana.contains("addOperator"), "{of_ana}");
    let record = format!("operations/{id}");
    let about = operator.json(&["log", "list", "--record", &record]);
    assert_eq!(about["data"][0]["action"], "requestOperation");
    let added = operator.stdout(&["log", "list", "--action", "addOperator"]);
    assert!(added.contains("role: - -> OPERATOR"), "{added}");
    assert!(!added.contains(token), "{added}");
    let none = operator.json(&["log", "list", "--until", "2020-01-01T00:00:00Z"]);
    assert_eq!(none["data"], json!([]));
}
