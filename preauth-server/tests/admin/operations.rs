//! Every step of an operation's life, from the command line.

use serde_json::Value;
use test_support::due_date;

use crate::operator::{COMPANY, Operator, SUPPLIER, value};

impl Operator {
    fn act(&self, action: &str, id: &str, more: &[&str]) -> String {
        let shown = self.stdout(&[&["operation", action, id], more].concat());
        value(&shown, "status").to_owned()
    }
}

#[tokio::test]
async fn an_offer_is_played_to_its_end() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    for (action, more, status) in [
        ("request", &[][..], "TO_APPROVE"),
        ("approve", &[], "IN_ANALYSIS"),
        ("release", &["--net-amount", "11900.00"], "TO_PAY"),
        ("pay", &[], "TO_BILL"),
        ("return-payout", &[], "TO_PAY"),
        ("pay", &[], "TO_BILL"),
        ("bill", &[], "TO_RECEIVE"),
        ("conclude", &[], "CONCLUDED"),
    ] {
        assert_eq!(operator.act(action, &id, more), status, "{action}");
    }
    let shown = operator.stdout(&["operation", "show", &id]);
    for (title, expected) in [
        ("operation", id.as_str()),
        ("supplier CNPJ", SUPPLIER),
        ("invoice", "NF-1"),
        ("amount", "12500.50"),
        ("net amount", "11900.00"),
        ("closed because", "-"),
    ] {
        assert_eq!(value(&shown, title), expected, "{title}");
    }
    let history: Vec<_> = shown
        .lines()
        .skip_while(|line| *line != "History")
        .skip(2)
        .collect();
    assert_eq!(history.len(), 9, "{shown}");
    assert!(history[0].contains("pre_authorization.created") && history[0].contains("API_KEY"));
    assert!(history[8].contains("anticipation.concluded"), "{shown}");
    let json = operator.json(&["operation", "show", &id]);
    assert_eq!(json["history"].as_array().unwrap().len(), 9);
}

#[tokio::test]
async fn a_step_is_taken_only_in_the_version_that_was_seen() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let shown = operator.stdout(&["operation", "show", &id]);
    assert_eq!(value(&shown, "version"), "1");
    let requested = operator.act("request", &id, &["--if-version", "1"]);
    assert_eq!(requested, "TO_APPROVE");
    operator
        .run(&["operation", "approve", &id, "--if-version", "1"])
        .failed(1, &["RESOURCE_CONFLICT (409)", "ifVersion", ": 2)"]);
    let approved = operator.act("approve", &id, &["--if-version", "2"]);
    assert_eq!(approved, "IN_ANALYSIS");
}

#[tokio::test]
async fn offers_and_advances_are_closed_and_reopened() {
    let operator = Operator::start().await;
    let closed = |action: &str, id: &str, more: &[&str]| -> Value {
        operator.json(&[&["operation", action, id, "--yes"], more].concat())
    };
    let declined = closed(
        "decline",
        &operator.offer("NF-1").await,
        &["--reason", "Sem interesse"],
    );
    assert_eq!(
        (&declined["status"], &declined["reason"]),
        (&"REPROVED".into(), &"Sem interesse".into())
    );
    let withdrawn = closed("withdraw", &operator.offer("NF-2").await, &[]);
    assert_eq!(withdrawn["stage"], "PRE_AUTH");

    let advance = [
        "operation",
        "advance",
        "--payer",
        COMPANY,
        "--supplier",
        SUPPLIER,
        "--amount",
        "900.10",
        "--withheld-tax-amount",
        "0.10",
        "--number",
        "NF-3",
        "--external-reference",
        "P 3",
        "--due-date",
        &due_date(60).to_string(),
    ];
    let advanced = operator.stdout(&advance);
    assert_eq!(value(&advanced, "status"), "IN_VERIFICATION");
    assert_eq!(value(&advanced, "withheld tax"), "0.10");
    let id = value(&advanced, "operation");
    assert_eq!(operator.act("verify", id, &[]), "TO_APPROVE");
    let reproved = closed("reprove", id, &["--by", "company"]);
    assert_eq!(reproved["stage"], "REQUEST");
    assert_eq!(operator.act("reopen", id, &[]), "TO_APPROVE");
    let reproved = closed(
        "reprove",
        id,
        &["--by", "PLATFORM", "--reason", "Nota falsa"],
    );
    assert_eq!(
        (&reproved["stage"], &reproved["reason"]),
        (&"SYSTEM".into(), &"Nota falsa".into())
    );

    let found = operator.json(&["operation", "list", "--external-reference", "P 3"]);
    assert_eq!(found["pagination"]["total"], 1);
    let none = operator.stdout(&["operation", "list", "--status", "to_pay,to_bill"]);
    assert_eq!(none, "none\n");
    let listed = operator.stdout(&["operation", "list", "--status", "reproved"]);
    let first = listed.lines().nth(1).unwrap();
    assert!(
        first.starts_with(id) && first.contains("900.10"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 4, "{listed}");
}
