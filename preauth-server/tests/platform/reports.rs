//! Reports over HTTP: what happened is in the next answer, and a bad question is refused.

use preauth_core::value::Money;
use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use test_support::{Backend, on_each_database};

use crate::scene::Scene;

on_each_database! {
    what_happened_is_in_the_next_report,
    a_bad_question_is_refused,
}

/// A number in hundredths.
fn cents(number: &Value) -> i64 {
    Money::parse(&number.to_string()).unwrap().cents()
}

async fn today(scene: &Scene, query: &str) -> Vec<Value> {
    let month = scene.get(&format!("/reports?by=MONTH&{query}")).await;
    let rows = month["rows"].as_array().unwrap().clone();
    let last = |row: &&Value| row["period"] == month["until"];
    rows.iter().filter(last).cloned().collect()
}

async fn what_happened_is_in_the_next_report(backend: Backend) {
    let scene = Scene::new(backend).await;
    let before = today(&scene, "").await.remove(0)["activity"].clone();
    let id = scene.offer("NF-1").await;
    scene.play(id, &["request", "approve"]).await;
    let after = today(&scene, "").await.remove(0);
    assert_eq!(after["companyId"], Value::Null);
    let more = |field: &str| cents(&after["activity"][field]) - cents(&before[field]);
    let amount = &scene.operation(id).await["invoice"]["amount"];
    assert_eq!(more("offeredAmount"), cents(amount));
    for (field, expected) in [("offers", 1), ("requests", 1), ("paid", 0), ("expired", 0)] {
        assert_eq!(more(field), expected * 100, "{field}: {after}");
    }
    let own = today(&scene, &format!("companyId={}", scene.company)).await;
    assert_eq!(own[0]["activity"]["offers"], after["activity"]["offers"]);
    let each = today(&scene, "perCompany=true").await;
    let is_own = |row: &&Value| row["companyId"] == json!(scene.company);
    assert_eq!(each.iter().filter(is_own).count(), 1, "{each:?}");
    let days = scene.get("/reports").await;
    assert_eq!(days["rows"].as_array().unwrap().len(), 30);
    assert_eq!(days["next"], Value::Null);
}

async fn a_bad_question_is_refused(backend: Backend) {
    let scene = Scene::new(backend).await;
    for (query, field) in [
        ("by=week", "by"),
        ("since=2026-02-30", "since"),
        ("since=2026-11", "since"),
        ("by=MONTH&until=2026-11-01", "until"),
        ("since=2026-11-02&until=2026-11-01", "since"),
        ("since=2026-01-01&until=2026-12-31", "since"),
        ("perCompany=yes", "perCompany"),
        ("perCompany=true&after=x", "after"),
        ("perCompany=true&limit=101", "limit"),
        ("companyId=1", "companyId"),
    ] {
        let answer = scene
            .platform
            .get(&format!("{PREFIX}/reports?{query}"))
            .await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        let message = answer.json()["errors"][0]["message"].to_string();
        assert!(message.contains(field), "{query}: {}", answer.text);
    }
    let unknown = "018f2f3a-0000-7000-8000-0000000000ff";
    let answer = scene
        .platform
        .get(&format!("{PREFIX}/reports?companyId={unknown}"))
        .await;
    assert_eq!(answer.status, 404, "{}", answer.text);
}
