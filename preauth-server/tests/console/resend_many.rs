//! Deliveries that are ticked in a list and sent again together.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{Browser, hidden};

on_each_database! {
    ticked_deliveries_are_sent_and_the_others_say_why_not,
    a_form_without_ticks_or_with_too_many_does_nothing,
    only_those_who_may_send_can_tick,
}

const LIST: &str = "/console/deliveries";
const FORM: &str = "/console/resend-deliveries";

async fn read(sandbox: &Sandbox, path: &str) -> Value {
    let answer = sandbox.platform().get(&format!("{PREFIX}/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// The rows of the audit log for sending deliveries again.
async fn rows(sandbox: &Sandbox, operator: &str) -> Vec<Value> {
    let log = read(sandbox, &format!("audit-log?operator={operator}&limit=100")).await;
    let rows = log["data"].as_array().unwrap().iter();
    let of_deliveries = |row: &&Value| row["action"] == "resendDelivery";
    rows.filter(of_deliveries).cloned().collect()
}

/// Makes offers, and returns the ids of their deliveries, the newest first.
async fn deliveries(sandbox: &Sandbox, numbers: &[&str]) -> Vec<String> {
    for number in numbers {
        let offer = test_support::offer_body(sandbox, number);
        let caller = sandbox.caller("apiKey");
        let offered = caller.post_json(PRE_AUTHORIZATIONS, &offer).await;
        assert_eq!(offered.status, 201, "{}", offered.text);
    }
    let found = read(sandbox, "deliveries").await;
    let found = found["data"].as_array().unwrap().iter();
    found
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

fn ticked<'a>(token: &'a str, ids: &[&'a str]) -> Vec<(&'static str, &'a str)> {
    let mut fields = vec![
        ("form_token", token),
        ("next", "/console/deliveries?page=1"),
    ];
    fields.extend(ids.iter().map(|id| ("id", *id)));
    fields
}

async fn ticked_deliveries_are_sent_and_the_others_say_why_not(backend: Backend) {
    let receiver = wiremock::MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(wiremock::ResponseTemplate::new(204))
        .mount(&receiver)
        .await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.uri()).await;
    let url = sandbox.text("platformUrl").to_owned();
    let mut browser = Browser::signed_in(&url, sandbox.text("platformToken")).await;
    let ids = deliveries(&sandbox, &["NF-1", "NF-2"]).await;
    let [one, two] = [ids[0].as_str(), ids[1].as_str()];
    while read(&sandbox, "deliveries?status=PENDING").await["data"] != json!([]) {}
    let list = browser.page(LIST).await;
    let token = hidden(&list, "form_token");
    for id in [one, two] {
        assert!(
            list.contains(&format!("name=\"id\" value=\"{id}\"")),
            "{list}"
        );
    }
    assert!(list.contains("aria-label=\"Offered, operation "), "{list}");
    // One twice, one that does not exist, and what is no id at all.
    let nobody = "018f2f3a-0000-7000-8000-000000000001";
    let script = "\"><script>alert(1)</script>";
    let fields = ticked(&token, &[one, two, one, nobody, script]);
    let answer = browser.post_from(&url, FORM, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let text = &answer.text;
    for part in [
        "Queued, and sent now: 2.",
        "Not queued: 2.",
        nobody,
        "&#60;script&#62;",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("There is no such record").count(), 2, "{text}");
    assert!(!text.contains("<script>"), "{text}");
    assert!(
        text.contains("href=\"/console/deliveries?page=1\""),
        "{text}"
    );
    let attempts = async |id: &str| {
        let found = read(&sandbox, &format!("deliveries/{id}")).await;
        found["attempts"].as_array().unwrap().len()
    };
    while attempts(one).await < 2 || attempts(two).await < 2 {}
    let done = rows(&sandbox, "root").await;
    let done: Vec<_> = done.iter().filter(|row| row["outcome"] == "DONE").collect();
    assert_eq!(done.len(), 2, "{done:?}");
    // Those of a paused endpoint stay, in words.
    let company = sandbox.company().await;
    let pause = format!("{PREFIX}/companies/{company}/webhook-endpoint/pause");
    let paused = sandbox.platform().post_json(&pause, &json!({})).await;
    assert_eq!(paused.status, 200, "{}", paused.text);
    let waiting = deliveries(&sandbox, &["NF-3"]).await.remove(0);
    browser.language = "pt-BR";
    let answer = browser
        .post_from(&url, FORM, &ticked(&token, &[&waiting]))
        .await;
    assert_eq!(answer.status, 409, "{}", answer.text);
    assert!(
        answer.text.contains("O endpoint está pausado"),
        "{}",
        answer.text
    );
    assert!(
        !answer.text.contains("Na fila, e saem agora"),
        "{}",
        answer.text
    );
}

async fn a_form_without_ticks_or_with_too_many_does_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let url = sandbox.text("platformUrl").to_owned();
    let mut browser = Browser::signed_in(&url, sandbox.text("platformToken")).await;
    let ids = deliveries(&sandbox, &["NF-1"]).await;
    let token = hidden(&browser.page(LIST).await, "form_token");
    let none = browser.post_from(&url, FORM, &ticked(&token, &[])).await;
    assert_eq!(none.status, 400, "{}", none.text);
    assert!(
        none.text.contains("No delivery was ticked"),
        "{}",
        none.text
    );
    let others: Vec<_> = (0..25)
        .map(|number| format!("018f2f3a-0000-7000-8000-{number:012}"))
        .collect();
    let mut many = vec![ids[0].as_str()];
    many.extend(others.iter().map(String::as_str));
    let many = browser.post_from(&url, FORM, &ticked(&token, &many)).await;
    assert_eq!(many.status, 400, "{}", many.text);
    assert!(
        many.text
            .contains("a page of the list: 25. Nothing was done."),
        "{}",
        many.text
    );
    // A link out of the console is none.
    let fields = [
        ("form_token", token.as_str()),
        ("next", "https://evil.example/"),
    ];
    let out = browser.post_from(&url, FORM, &fields).await;
    assert!(!out.text.contains("evil.example"), "{}", out.text);
    assert!(rows(&sandbox, "root").await.is_empty());
    let page = browser.get(FORM).await;
    assert_eq!((page.status, page.header("location")), (303, LIST));
}

async fn only_those_who_may_send_can_tick(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let url = sandbox.text("platformUrl").to_owned();
    let id = deliveries(&sandbox, &["NF-1"]).await.remove(0);
    let add = async |name: &str, role: &str| {
        let body = json!({"name": name, "role": role});
        let added = sandbox.platform();
        let added = added.post_json(&format!("{PREFIX}/operators"), &body).await;
        added.json()["token"].as_str().unwrap().to_owned()
    };
    let mut vera = Browser::signed_in(&url, &add("Vera", "VIEWER").await).await;
    let list = vera.page(LIST).await;
    assert!(list.contains(&id) && !list.contains("checkbox"), "{list}");
    let token = hidden(&list, "form_token");
    let answer = vera.post_from(&url, FORM, &ticked(&token, &[&id])).await;
    assert_eq!(answer.status, 403, "{}", answer.text);
    let refused = rows(&sandbox, "Vera").await;
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0]["outcome"], "FORBIDDEN");
    let mut otto = Browser::signed_in(&url, &add("Otto", "OPERATOR").await).await;
    let company = sandbox.company().await;
    let list = format!("/console/companies/{company}/deliveries");
    let list = otto.page(&list).await;
    assert!(list.contains("checkbox"), "{list}");
    let token = hidden(&list, "form_token");
    let answer = otto.post_from(&url, FORM, &ticked(&token, &[&id])).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(rows(&sandbox, "Otto").await[0]["outcome"], "DONE");
}
