//! A leaked key is found by how it begins, and revoked from there.

use preauth_server::http::platform::PREFIX;
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{browser, hidden};

on_each_database! {
    a_leaked_key_is_found_by_its_beginning_and_revoked,
    a_form_of_another_page_finds_no_key,
}

const PAGE: &str = "/console/leaked-key";

async fn a_leaked_key_is_found_by_its_beginning_and_revoked(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    assert!(browser.page("/console/companies").await.contains(PAGE));
    let key = sandbox.text("apiKey").to_owned();
    let company = sandbox.company().await;
    let logged = || sandbox.log().matches(&key[16..]).count();
    let before = logged();
    for leaked in [key[..16].to_owned(), format!("curl -H \"X-Key: {key}\"")] {
        let found = browser.submit(PAGE, &[("text", &leaked)]).await;
        assert_eq!(found.status, 200, "{}", found.text);
        let owner = format!("/console/companies/{company}\"");
        assert!(found.text.contains(&owner), "{}", found.text);
        assert!(!found.text.contains(&key), "the key is shown");
    }
    let found = browser.submit(PAGE, &[("text", &key)]).await.text;
    let revoke = found.split("href=\"").filter(|it| it.contains("/revoke\""));
    let revoke: Vec<_> = revoke.map(|it| it.split('"').next().unwrap()).collect();
    assert_eq!(revoke.len(), 1, "{found}");
    let done = browser.submit(revoke[0], &[]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let refused = sandbox
        .caller("apiKey")
        .get(preauth_client::wire::path::PRE_AUTHORIZATIONS)
        .await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    let found = browser.submit(PAGE, &[("text", &key)]).await.text;
    assert!(found.contains("title=\"REVOKED\""), "{found}");
    assert!(!found.contains("/revoke\""), "{found}");
    // Looking for a key is no change, and nothing of it is logged.
    let log = sandbox.platform().get(&format!("{PREFIX}/audit-log")).await;
    assert!(!log.text.contains("searchApiKeys"), "{}", log.text);
    assert_eq!(logged(), before, "the key is in the log");

    let none = browser
        .submit(PAGE, &[("text", "service_sk_0000000000")])
        .await;
    assert!(
        none.text.contains("No company has such a key."),
        "{}",
        none.text
    );
    let wrong = browser.submit(PAGE, &[("text", "service_sk_")]).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    assert!(wrong.text.contains("id=\"error-text\""), "{}", wrong.text);
}

async fn a_form_of_another_page_finds_no_key(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let form = browser.page(PAGE).await;
    let (token, key) = (
        hidden(&form, "form_token"),
        sandbox.text("apiKey").to_owned(),
    );
    assert!(!token.is_empty());
    for (origin, token) in [
        ("https://evil.example", token.as_str()),
        (browser.url.clone().as_str(), "another"),
        (browser.url.clone().as_str(), ""),
    ] {
        let fields = [("form_token", token), ("text", key.as_str())];
        let refused = browser.post_from(origin, PAGE, &fields).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(
            !refused.text.contains("/console/companies/"),
            "{}",
            refused.text
        );
    }
    let listed = browser.get(&format!("{PAGE}?text={key}")).await;
    assert_eq!(listed.status, 200);
    assert!(
        !listed.text.contains("/console/companies/"),
        "a link finds nothing"
    );
}
