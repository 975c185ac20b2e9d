//! Actions that are not in the table are refused.

use serde_json::json;
use test_support::{Backend, due_date, on_each_database};

use crate::scene::{Scene, extension_body};
use crate::table::TABLE;

on_each_database! {
    actions_outside_the_table_are_refused_and_change_nothing,
    an_open_extension_blocks_conclusion_and_another_extension,
    reopening_needs_the_invoice_to_be_free,
    an_extension_is_validated_by_its_date_and_its_total,
    a_release_is_validated_by_its_amount,
}

/// Paths to every status, and to each way of being closed or settled.
const WAYS: [(&str, &[&str]); 16] = [
    ("PRE_AUTH", &[]),
    ("DIRECT", &[]),
    ("PRE_AUTH", &["request"]),
    ("DIRECT", &["verify"]),
    ("PRE_AUTH", &["request", "approve"]),
    ("DIRECT", &["verify", "approve", "release"]),
    ("PRE_AUTH", &["request", "approve", "release", "pay"]),
    (
        "PRE_AUTH",
        &["request", "approve", "release", "pay", "bill"],
    ),
    (
        "DIRECT",
        &[
            "verify",
            "approve",
            "release",
            "pay",
            "bill",
            "extend",
            "cancel extension",
        ],
    ),
    (
        "PRE_AUTH",
        &[
            "request",
            "approve",
            "release",
            "pay",
            "bill",
            "extend",
            "conclude extension",
            "conclude",
        ],
    ),
    (
        "DIRECT",
        &[
            "verify",
            "approve",
            "release",
            "pay",
            "bill",
            "extend",
            "cancel extension",
            "return-payout",
        ],
    ),
    ("PRE_AUTH", &["decline"]),
    ("PRE_AUTH", &["cancel"]),
    ("PRE_AUTH", &["withdraw"]),
    ("PRE_AUTH", &["request", "reprove by COMPANY"]),
    ("DIRECT", &["reprove by PLATFORM"]),
];

/// Whether the table allows `action` after this path.
fn is_allowed(action: &str, status: &str, way: &[&str]) -> bool {
    let row = TABLE.iter().find(|row| row.action == action).unwrap();
    let is_reproved = way.iter().any(|action| action.starts_with("reprove"));
    match action {
        // A settled extension is final.
        "conclude extension" | "cancel extension" => false,
        "reopen" => is_reproved,
        _ => row.from.contains(&status),
    }
}

// Contract: transition/nothing-else
async fn actions_outside_the_table_are_refused_and_change_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    let mut events = 0;
    for (number, (origin, way)) in WAYS.iter().enumerate() {
        let id = scene.begin(origin, &format!("NF-{number}")).await;
        scene.play(id, way).await;
        events += 1 + way.len();
        let before = scene.operation(id).await;
        let status = before["status"].as_str().unwrap();
        let asked = TABLE.iter().map(|row| row.action);
        // Expiry is no request; a cancel is tested through the integration API.
        let asked = asked.filter(|action| !["expire", "cancel"].contains(action));
        let mut refused = 0;
        for action in asked.filter(|action| !is_allowed(action, status, way)) {
            let answer = scene.ask(id, action).await;
            let is_missing = action.ends_with(" extension") && !way.contains(&"extend");
            let expected = if is_missing {
                (404, "RESOURCE_NOT_FOUND".to_owned())
            } else {
                (409, "ANTICIPATION_INVALID_TRANSITION".to_owned())
            };
            assert_eq!(answer.refusal(), expected, "{action} after {way:?}");
            let names_status = answer.text.contains(&format!("situação atual: {status}"));
            let is_of_extension = action.ends_with(" extension");
            assert!(names_status || is_of_extension, "{action}: {}", answer.text);
            refused += 1;
        }
        assert!(refused >= 13, "{way:?}");
        assert_eq!(scene.operation(id).await, before, "{way:?}");
    }
    let deliveries = scene
        .get(&format!("/companies/{}/deliveries", scene.company))
        .await;
    assert_eq!(deliveries["pagination"]["total"], events);
}

// Contract: transition/extensions
async fn an_open_extension_blocks_conclusion_and_another_extension(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    let way = ["request", "approve", "release", "pay", "bill", "extend"];
    scene.play(id, &way).await;
    let before = scene.operation(id).await;
    for action in ["extend", "conclude", "return-payout"] {
        let answer = scene.ask(id, action).await;
        let expected = (409, "ANTICIPATION_INVALID_TRANSITION".to_owned());
        assert_eq!(answer.refusal(), expected, "{action}");
    }
    assert_eq!(scene.operation(id).await, before);
    scene.play(id, &["conclude extension"]).await;
    let extended = scene.operation(id).await;
    assert_eq!(extended["boletoDueDate"], extension_body()["newDueDate"]);
    assert_eq!(extended["invoice"]["dueDate"], due_date(60).to_string());
    scene.play(id, &["conclude"]).await;
}

// Contract: transition/reopening
async fn reopening_needs_the_invoice_to_be_free(backend: Backend) {
    let scene = Scene::new(backend).await;
    let reproved = scene.offer("NF-1").await;
    scene
        .play(reproved, &["request", "reprove by COMPANY"])
        .await;
    let holder = scene.advance("NF-1").await;
    let before = scene.operation(reproved).await;
    let answer = scene.ask(reproved, "reopen").await;
    assert_eq!(
        answer.refusal(),
        (409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned())
    );
    assert_eq!(answer.json()["details"][0]["anticipationId"], holder);
    assert_eq!(scene.operation(reproved).await, before);
    scene.play(holder, &["reprove by PLATFORM"]).await;
    scene.play(reproved, &["reopen"]).await;
}

async fn an_extension_is_validated_by_its_date_and_its_total(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    scene
        .play(id, &["request", "approve", "release", "pay", "bill"])
        .await;
    let path = format!("/operations/{id}/extensions");
    for (field, value) in [
        ("newDueDate", json!(due_date(60).to_string())),
        ("newDueDate", json!(due_date(182).to_string())),
        ("totalAmount", json!(0)),
        ("totalAmount", json!(-1)),
    ] {
        let mut body = extension_body();
        body[field] = value.clone();
        let answer = scene.post(&path, body).await;
        assert_eq!(
            answer.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{value}"
        );
        assert_eq!(answer.fields(), [field], "{value}");
    }
    let unknown = scene
        .post("/operations/999/extensions", extension_body())
        .await;
    assert_eq!(
        unknown.refusal(),
        (404, "ANTICIPATION_NOT_FOUND".to_owned())
    );
}

async fn a_release_is_validated_by_its_amount(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    scene.play(id, &["request", "approve"]).await;
    for amount in [
        json!(0),
        json!(12_500.51),
        json!(-1),
        json!("muito"),
        json!(null),
    ] {
        let answer = scene
            .ask_with(id, "release", &json!({"netAmount": amount}))
            .await;
        assert_eq!(
            answer.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{amount}"
        );
        assert_eq!(answer.fields(), ["netAmount"], "{amount}");
    }
    let whole = scene
        .ask_with(id, "release", &json!({"netAmount": "12500.50"}))
        .await;
    assert_eq!(whole.json()["netAmount"], 12_500.5);
}
