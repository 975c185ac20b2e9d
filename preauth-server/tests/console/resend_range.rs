//! The form that sends a range of time again: it shows how many there are before it does anything.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::PREFIX;
use serde_json::Value;
use test_support::{Backend, Sandbox, TestReceiver, offer_body, on_each_database};

use crate::browser::{Browser, hidden};

on_each_database! {
    what_will_be_sent_again_is_shown_first,
    a_delivery_is_sent_again_once_by_a_form_that_comes_twice,
}

/// Waits until every delivery has arrived; returns the number of attempts.
async fn attempts_of_delivered(sandbox: &Sandbox) -> usize {
    loop {
        let path = format!("{PREFIX}/deliveries?limit=100");
        let listed = sandbox.platform().get(&path).await.json();
        let all = listed["data"].as_array().unwrap();
        if all.iter().all(|it| it["status"] == "DELIVERED") {
            let attempts = |it: &Value| it["attempts"].as_array().unwrap().len();
            return all.iter().map(attempts).sum();
        }
        tokio::task::yield_now().await;
    }
}

#[expect(clippy::too_many_lines, reason = "one form, step by step")]
async fn what_will_be_sent_again_is_shown_first(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    for number in ["NF-1", "NF-2", "NF-3"] {
        let body = offer_body(&sandbox, number);
        let erp = sandbox.caller("apiKey");
        let made = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(made.status, 201);
    }
    receiver.requests(3).await;
    assert_eq!(attempts_of_delivered(&sandbox).await, 3);
    let (url, token) = (sandbox.text("platformUrl"), sandbox.text("platformToken"));
    let mut browser = Browser::signed_in(url, token).await;
    let cnpj = sandbox.text("companyCnpj");
    let found = sandbox
        .platform()
        .get(&format!("{PREFIX}/companies?cnpj={cnpj}"))
        .await;
    let id = found.json()["data"][0]["id"].as_str().unwrap().to_owned();
    let list = format!("/console/companies/{id}/deliveries");
    let path = format!("{list}/resend-range");
    assert!(browser.page(&list).await.contains(&path));

    let range = [("since", "2020-01-01T00:00"), ("statuses", "DELIVERED")];
    let shown = browser.submit(&path, &range).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    assert!(
        shown
            .text
            .contains("<dt>deliveries to send again</dt><dd>3</dd>"),
        "{}",
        shown.text
    );
    let button = "<button class=\"primary\">Send 3 deliveries again</button>";
    assert!(shown.text.contains(button), "{}", shown.text);
    let (mark, after) = (hidden(&shown.text, "counted"), hidden(&shown.text, "after"));
    assert_eq!(
        attempts_of_delivered(&sandbox).await,
        3,
        "nothing is done yet"
    );
    // What was changed is shown anew.
    let others = [
        ("since", "2020-01-01T00:00"),
        ("statuses", "FAILED"),
        ("counted", &mark),
        ("after", &after),
    ];
    let changed = browser.submit_again(&shown.text, &path, &others).await;
    assert!(
        changed
            .text
            .contains("<dt>deliveries to send again</dt><dd>0</dd>"),
        "{}",
        changed.text
    );
    assert_eq!(
        hidden(&changed.text, "counted"),
        "",
        "there is nothing to do"
    );
    assert!(changed.text.contains("Nothing matches"), "{}", changed.text);
    for (since, until) in [("soon", ""), ("2020-01-02T00:00", "2020-01-01T00:00")] {
        let wrong = [("since", since), ("until", until)];
        let refused = browser.submit(&path, &wrong).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
    assert_eq!(attempts_of_delivered(&sandbox).await, 3);

    let confirmed = [range[0], range[1], ("counted", &mark), ("after", &after)];
    let done = browser.submit_again(&shown.text, &path, &confirmed).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let queued = |count: u32| format!("<dt>deliveries queued again</dt><dd>{count}</dd>");
    assert!(done.text.contains(&queued(3)), "{}", done.text);
    assert!(done.text.contains("nothing is left"), "{}", done.text);
    assert_eq!(hidden(&done.text, "after"), "", "there is no next step");
    receiver.requests(6).await;
    assert_eq!(attempts_of_delivered(&sandbox).await, 6);
    // The same form sent twice queues nothing twice, though all arrived in the meantime.
    let again = browser.submit_again(&shown.text, &path, &confirmed).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert!(again.text.contains(&queued(0)), "{}", again.text);
    assert!(again.text.contains("Nothing was queued"), "{}", again.text);
    assert_eq!(attempts_of_delivered(&sandbox).await, 6);
}

async fn a_delivery_is_sent_again_once_by_a_form_that_comes_twice(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let body = offer_body(&sandbox, "NF-1");
    let made = sandbox.caller("apiKey");
    let made = made.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(made.status, 201);
    receiver.requests(1).await;
    assert_eq!(attempts_of_delivered(&sandbox).await, 1);
    let listed = sandbox.platform();
    let listed = listed.get(&format!("{PREFIX}/deliveries")).await.json();
    let id = listed["data"][0]["id"].as_str().unwrap();
    let (url, token) = (sandbox.text("platformUrl"), sandbox.text("platformToken"));
    let mut browser = Browser::signed_in(url, token).await;
    let path = format!("/console/deliveries/{id}/resend");
    let form = browser.page(&path).await;
    let sent = browser.submit_again(&form, &path, &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    receiver.requests(2).await;
    assert_eq!(attempts_of_delivered(&sandbox).await, 2);
    let again = browser.submit_again(&form, &path, &[]).await;
    assert_eq!(again.status, 409, "{}", again.text);
    assert!(
        again.text.contains("Nothing was done now."),
        "{}",
        again.text
    );
    // The form of the present state is good.
    let sent = browser.submit(&path, &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    receiver.requests(3).await;
    assert_eq!(attempts_of_delivered(&sandbox).await, 3);
}
