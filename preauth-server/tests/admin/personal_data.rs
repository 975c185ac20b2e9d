//! What is stored of persons: shown, copied, and erased.

use serde_json::Value;

use crate::operator::{NEW_COMPANY, Operator, value};

#[tokio::test]
async fn personal_data_are_shown_copied_and_erased() {
    let operator = Operator::start().await;
    operator.stdout(&[
        "company",
        "add",
        "--cnpj",
        NEW_COMPANY,
        "--name",
        "Azul S.A.",
        "--kind",
        "construction",
    ]);
    operator.stdout(&[
        "user",
        "add",
        NEW_COMPANY,
        "--name",
        "Davi",
        "--email",
        "davi@azul.example.com",
        "--no-permissions",
    ]);
    let shown = operator.stdout(&["personal-data", "show", NEW_COMPANY]);
    assert_eq!(value(&shown, "users"), "1");
    let copy = operator.stdout(&["personal-data", "export", NEW_COMPANY]);
    let copy: Value = serde_json::from_str(&copy).unwrap();
    assert_eq!(copy["users"][0]["email"], "davi@azul.example.com");

    let erase = ["personal-data", "erase", NEW_COMPANY, "--yes"];
    let erased = operator.run(&erase);
    let note = "backups keep what they have";
    assert!(erased.err.contains(note), "{}", erased.err);
    assert_eq!(value(&erased.out, "users"), "1");
    let again = operator.json(&erase);
    assert_eq!(again["users"], 1);
    assert!(again["completedAt"].is_string());
    let shown = operator.stdout(&["personal-data", "show", NEW_COMPANY]);
    assert_eq!(value(&shown, "users"), "0");
    assert!(shown.contains("root"), "{shown}");
    operator
        .run(&["personal-data", "show", "55788001000134"])
        .failed(1, &["RESOURCE_NOT_FOUND"]);
}
