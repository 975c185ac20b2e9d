//! Extensions, received invoices and payment orders.

use test_support::due_date;

use crate::operator::{COMPANY, Operator, SUPPLIER, value};

impl Operator {
    /// Creates an operation and advances it until its boleto is issued.
    async fn billed(&self) -> String {
        let id = self.offer("NF-1").await;
        for action in ["request", "approve", "release", "pay", "bill"] {
            let net: &[&str] = if action == "release" {
                &["--net-amount", "9000"]
            } else {
                &[]
            };
            self.stdout(&[&["operation", action, &id], net].concat());
        }
        id
    }
}

#[tokio::test]
async fn an_extension_is_added_cancelled_and_concluded() {
    let operator = Operator::start().await;
    let operation = operator.billed().await;
    let later = due_date(90).to_string();
    let add = [
        "extension",
        "add",
        &operation,
        "--new-due-date",
        &later,
        "--total-amount",
        "12900.1",
    ];
    let added = operator.stdout(&add);
    assert_eq!(value(&added, "status"), "OPEN");
    assert_eq!(value(&added, "total amount"), "12900.10");
    assert_eq!(value(&added, "new due date"), later);
    let id = value(&added, "extension");
    assert_eq!(operator.stdout(&["extension", "show", id]), added);
    operator
        .run(&add)
        .failed(1, &["ANTICIPATION_INVALID_TRANSITION"]);

    operator
        .run(&["extension", "cancel", id])
        .failed(4, &["--yes"]);
    let canceled = operator.stdout(&["extension", "cancel", id, "--yes"]);
    assert_eq!(value(&canceled, "status"), "CANCELED");
    let second = operator.json(&add)["id"].to_string();
    let concluded = operator.json(&["extension", "conclude", &second]);
    assert_eq!(concluded["status"], "CONCLUDED");
    let shown = operator.stdout(&["operation", "show", &operation]);
    assert_eq!(value(&shown, "boleto due date"), later);

    let listed = operator.stdout(&["extension", "list", &operation]);
    let rows: Vec<_> = listed.lines().skip(1).collect();
    assert!(
        rows[0].starts_with(&second) && rows[1].starts_with(id),
        "{listed}"
    );
    let listed = operator.json(&["extension", "list", &operation]);
    assert_eq!(listed["pagination"]["total"], 2);
}

#[tokio::test]
async fn an_invoice_is_received_shown_and_listed() {
    let operator = Operator::start().await;
    let due = due_date(30).to_string();
    let receive = [
        "invoice",
        "receive",
        "--payer",
        COMPANY,
        "--supplier",
        SUPPLIER,
        "--amount",
        "12500.50",
        "--due-date",
        &due,
        "--number",
        "NF-1",
    ];
    let received = operator.stdout(&receive);
    assert_eq!(value(&received, "number"), "NF-1");
    assert_eq!(value(&received, "supplier CNPJ"), SUPPLIER);
    assert_eq!(value(&received, "due date"), due);
    let id = value(&received, "id");
    assert_eq!(operator.stdout(&["invoice", "show", id]), received);
    assert_eq!(
        operator.json(&["invoice", "show", id])["invoice"]["amount"],
        12500.5
    );
    assert_eq!(operator.json(&receive)["invoice"]["number"], "NF-1");
    let listed = operator.stdout(&["invoice", "list", "--all"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert_eq!(
        operator.json(&["invoice", "list", "--limit", "1"])["pagination"]["total"],
        2
    );
}

#[tokio::test]
async fn a_payment_order_is_played_to_each_of_its_ends() {
    let operator = Operator::start().await;
    let operation = operator.billed().await;
    let day = due_date(10).to_string();
    let add = [
        "payment-order",
        "add",
        "--payer",
        COMPANY,
        "--supplier",
        SUPPLIER,
        "--amount",
        "9000",
        "--operation",
        &operation,
    ];
    let act = |action: &str, id: &str, more: &[&str]| {
        let shown = operator.stdout(&[&["payment-order", action, id], more].concat());
        value(&shown, "status").to_owned()
    };
    let added = operator.stdout(&add);
    assert_eq!(value(&added, "status"), "CREATED");
    assert_eq!(value(&added, "amount"), "9000.00");
    let id = value(&added, "payment order");
    assert_eq!(act("review", id, &[]), "UNDER_REVIEW");
    assert_eq!(act("schedule", id, &["--scheduled-for", &day]), "SCHEDULED");
    assert_eq!(act("pay", id, &[]), "PAID");
    let shown = operator.json(&["payment-order", "show", id]);
    assert_eq!(
        (&shown["status"], &shown["scheduledFor"]),
        (&"PAID".into(), &day.into())
    );

    // A paid order blocks another one until the bank returns the payout.
    operator.run(&add).failed(1, &["RESOURCE_CONFLICT", id]);
    operator.stdout(&["operation", "return-payout", &operation]);
    let second = operator.json(&add)["id"].to_string();
    let cancel = [
        "payment-order",
        "cancel",
        &second,
        "--reason",
        "Em duplicidade",
    ];
    operator.run(&cancel).failed(4, &["--yes"]);
    let canceled = operator.stdout(&[&cancel[..], &["--yes"]].concat());
    assert_eq!(value(&canceled, "closed because"), "Em duplicidade");
    let third = operator.json(&add)["id"].to_string();
    assert_eq!(act("reprove", &third, &["--yes"]), "REPROVED");
    let listed = operator.stdout(&["payment-order", "list"]);
    let first = listed.lines().nth(1).unwrap();
    assert!(
        first.starts_with(&third) && first.contains("REPROVED"),
        "{listed}"
    );
    assert_eq!(
        operator.json(&["payment-order", "list"])["pagination"]["total"],
        3
    );
}
