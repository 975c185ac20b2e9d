//! What holds for every page and form, over the list of all routes.

use preauth_core::value::Timestamp;
use preauth_server::http::console_paths;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Form, RawCaller, Sandbox, on_each_database};

use crate::browser::{Browser, browser, hidden};
use crate::confirmations::others;

on_each_database! {
    every_page_has_strict_headers_in_both_languages,
    every_form_is_refused_without_its_origin_or_token,
    every_page_wants_a_session,
    no_other_listener_knows_the_console,
    a_role_sees_and_does_only_what_it_may,
    an_operator_opens_every_form_but_those_of_administrators,
}

/// The forms that only administrators may open.
const OF_ADMINISTRATORS: &[&str] = &[
    "/console/new-company",
    "/console/companies/{id}/register",
    "/console/companies/{id}/new-branch",
    "/console/companies/{id}/edit",
    "/console/companies/{id}/suspend",
    "/console/companies/{id}/resume",
    "/console/companies/{id}/credit-analysis",
    "/console/companies/{id}/block-supplier",
    "/console/companies/{id}/blocked-suppliers/{cnpj}/unblock",
    "/console/companies/{id}/new-user",
    "/console/companies/{id}/new-key",
    "/console/users/{id}/edit",
    "/console/users/{id}/deactivate",
    "/console/users/{id}/activate",
    "/console/api-keys/{id}/revoke",
    "/console/new-operator",
    "/console/operators/{id}/revoke",
    "/console/master-keys/reencrypt",
    "/console/personal-data/{cnpj}/erase",
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The sandbox's own key, as the platform API shows it; there are others, which are revoked or refused.
pub(crate) async fn api_key(sandbox: &Sandbox, company: &str) -> Value {
    let keys = format!("{PREFIX}/companies/{company}/api-keys?limit=100");
    let keys = sandbox.platform().get(&keys).await.json();
    let key = sandbox.text("apiKey");
    let mut keys = keys["data"].as_array().unwrap().iter();
    let found = keys.find(|it| key.starts_with(it["prefix"].as_str().unwrap()));
    found.unwrap().clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Ids of records that exist, for the paths of all routes.
pub(crate) struct Ids(Vec<(&'static str, String)>);

impl Ids {
    pub(crate) async fn of(sandbox: &Sandbox) -> Self {
        let platform = sandbox.platform();
        let first = async |list: &str| {
            let found = platform.get(&format!("{PREFIX}/{list}")).await.json();
            let id = &found["data"][0]["id"];
            id.as_str()
                .map_or_else(|| id.to_string(), ToOwned::to_owned)
        };
        let cnpj = sandbox.text("companyCnpj");
        let company = first(&format!("companies?cnpj={cnpj}")).await;
        let body = json!({"name": "Rui", "role": "VIEWER"});
        platform
            .post_json(&format!("{PREFIX}/operators"), &body)
            .await;
        let caller = sandbox.caller("apiKey");
        let offer = Form::of(&test_support::offer_body(sandbox, "NF-1"));
        let offer = offer.file("nota.pdf", "application/pdf", b"%PDF-1.7");
        let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
        assert_eq!(caller.post_form(path, &[], offer).await.status, 201);
        let invoice = json!({
            "payerCompanyId": company,
            "supplierCnpj": sandbox.text("supplierCnpj"),
            "invoice": {"amount": 10, "dueDate": "2027-01-20", "number": "NF-\"><script>alert(1)</script>"},
        });
        let received = platform
            .post_json(&format!("{PREFIX}/invoices"), &invoice)
            .await;
        assert_eq!(received.status, 201, "{}", received.text);
        let mut ids = vec![
            ("/operations/", first("operations").await),
            ("/deliveries/", first("deliveries").await),
            ("/mails/", first("notices").await),
            ("/operators/", first("operators").await),
            ("/invoices/", first("invoices").await),
            (
                "/users/",
                first(&format!("companies/{company}/users")).await,
            ),
            ("/api-keys/", text(&api_key(sandbox, &company).await["id"])),
            ("/companies/", company),
        ];
        // Last, because they are operations of their own.
        let [order, extension, suppressed] = others(sandbox).await;
        ids.extend([
            ("/payment-orders/", order),
            ("/extensions/", extension),
            ("/suppressed-addresses/", suppressed),
        ]);
        Self(ids)
    }

    /// A route's path with ids of records that exist.
    pub(crate) fn fill(&self, path: &str) -> String {
        let below = path.strip_prefix("/console").unwrap_or(path);
        let known = self.0.iter().find(|(kind, _)| below.starts_with(kind));
        let filled = known.map_or_else(|| path.to_owned(), |(_, id)| path.replace("{id}", id));
        assert!(!filled.contains("{id}"), "no record for {path}");
        filled.replace("{cnpj}", "11444777000161")
    }
}

fn assert_strict(answer: &Answer, path: &str) {
    assert_eq!(answer.header("content-security-policy"), POLICY, "{path}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    if answer.header("content-type").starts_with("text/html") {
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        // Nothing inline, nothing from elsewhere; the name of the language of plots is not loaded, nor is a
        // receiver's address in a field.
        let text = answer
            .text
            .replace("xmlns=\"http://www.w3.org/2000/svg\"", "")
            .replace("value=\"http", "");
        for wrong in [
            "<style", " style=", "<script>", " onclick", "=\"http", "=\"//",
        ] {
            let found = text.find(wrong);
            assert_eq!(found, None, "{wrong} in {path}: {}", answer.text);
        }
    }
}

async fn every_page_has_strict_headers_in_both_languages(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let url = sandbox.text("platformUrl");
    for (language, tag) in [("en", "en"), ("pt-BR", "pt-BR"), ("de", "pt-BR")] {
        let mut browser = Browser::signed_in(url, sandbox.text("platformToken")).await;
        browser.language = language;
        let (mut shown, mut times) = (0, 0);
        for (_, path) in console_paths().iter().filter(|(method, _)| method == "GET") {
            let path = ids.fill(path);
            let answer = browser.get(&path).await;
            // A form that stands in a list leads there.
            let is_shown = [200, 303].contains(&answer.status);
            assert!(is_shown, "{path}: {} {}", answer.status, answer.text);
            assert_strict(&answer, &path);
            for time in answer.text.split("<time ").skip(1) {
                let title = time.split("title=\"").nth(1).unwrap();
                let title = title.split('"').next().unwrap();
                // UTC for those who hover.
                let is_utc = title.ends_with('Z') && Timestamp::parse(title).is_ok();
                assert!(is_utc, "{path}: {title}");
                times += 1;
            }
            if answer.header("content-type").starts_with("text/html") {
                let lang = format!("<html lang=\"{tag}\">");
                assert!(answer.text.contains(&lang), "{path}: {}", answer.text);
            }
            shown += u32::from(answer.status == 200);
            let head = browser.send(Method::HEAD, &path, &[], None).await;
            assert_eq!(head.status, answer.status, "{path}");
        }
        assert!(shown > 80, "{shown} pages");
        assert!(times > 20, "{times} times");
    }
}

async fn every_form_is_refused_without_its_origin_or_token(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let url = sandbox.text("platformUrl").to_owned();
    let mut browser = Browser::signed_in(&url, sandbox.text("platformToken")).await;
    let token = hidden(&browser.page("/console").await, "form_token");
    let rows = async || {
        let log = sandbox.platform().get(&format!("{PREFIX}/audit-log")).await;
        log.json()["pagination"]["total"].clone()
    };
    let before = rows().await;
    let fields = [("form_token", token.as_str())];
    for (_, path) in console_paths()
        .iter()
        .filter(|(method, _)| method == "POST")
    {
        let path = ids.fill(path);
        let foreign = [
            vec![("origin", "http://evil.example")],
            vec![("origin", "null")],
            vec![("origin", url.as_str()), ("sec-fetch-site", "cross-site")],
            Vec::new(),
        ];
        for headers in foreign {
            let answer = browser.post_with(&headers, &path, &fields).await;
            assert_eq!(answer.status, 403, "{path} {headers:?}: {}", answer.text);
            assert_strict(&answer, &path);
        }
        if ["/console/sign-in", "/console/language"].contains(&path.as_str()) {
            continue;
        }
        for wrong in ["", "0", &token.replace(|_: char| true, "0")] {
            let fields = [("form_token", wrong)];
            let answer = browser.post_from(&url, &path, &fields).await;
            assert_eq!(answer.status, 403, "{path} {wrong}: {}", answer.text);
        }
    }
    assert_eq!(rows().await, before, "something was done");
}

async fn every_page_wants_a_session(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let url = sandbox.text("platformUrl").to_owned();
    let mut browser = Browser::at(&url);
    for (method, path) in console_paths() {
        if ["/console/sign-in", "/console/language"].contains(&path.as_str()) {
            continue;
        }
        let path = ids.fill(&path);
        let answer = match method.as_str() {
            "GET" => browser.get(&path).await,
            _ => browser.post_from(&url, &path, &[]).await,
        };
        assert_eq!(answer.status, 303, "{method} {path}: {}", answer.text);
        let location = answer.header("location");
        assert!(
            location.starts_with("/console/sign-in"),
            "{path}: {location}"
        );
    }
    // Under another name there is no console at all.
    let evil = [("host", "evil.example")];
    let answer = browser.send(Method::GET, "/console", &evil, None).await;
    assert_eq!(answer.status, 421, "{}", answer.text);
}

/// A request of the integration API meets nothing of the console, and neither does one of the supplier's page.
async fn no_other_listener_knows_the_console(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let signed_in = browser(&sandbox).await;
    for listener in ["baseUrl", "portalUrl"] {
        // Not even with a session's cookie.
        let mut browser = signed_in.elsewhere(sandbox.text(listener));
        let own = browser.url.clone();
        for (method, path) in console_paths() {
            let path = ids.fill(&path);
            let answer = match method.as_str() {
                "GET" => browser.get(&path).await,
                _ => browser.post_from(&own, &path, &[]).await,
            };
            assert_eq!(answer.status, 404, "{listener} {path}: {}", answer.text);
            assert!(!answer.headers.contains_key("set-cookie"), "{path}");
            // The supplier's page for links that are not valid names the path that was asked for.
            let assets = "/console/assets";
            assert!(!answer.text.contains(assets), "{}", answer.text);
        }
    }
}

async fn a_role_sees_and_does_only_what_it_may(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let url = sandbox.text("platformUrl").to_owned();
    let platform = sandbox.platform();
    let body = json!({"name": "Vera", "role": "VIEWER"});
    let added = platform
        .post_json(&format!("{PREFIX}/operators"), &body)
        .await;
    let token = added.json()["token"].as_str().unwrap().to_owned();
    let mut vera = Browser::signed_in(&url, &token).await;
    let token = hidden(&vera.page("/console").await, "form_token");
    let fields = [("form_token", token.as_str())];
    let mut forms = 0;
    for (method, path) in console_paths() {
        let path = ids.fill(&path);
        let own = [
            "/console/sign-in",
            "/console/sign-out",
            "/console/language",
            // It only reads.
            "/console/leaked-key",
        ];
        if method != "POST" || own.contains(&path.as_str()) {
            continue;
        }
        forms += 1;
        assert_eq!(vera.get(&path).await.status, 403, "GET {path}");
        let answer = vera.post_from(&url, &path, &fields).await;
        assert!(
            [403, 409].contains(&answer.status),
            "{path}: {}",
            answer.text
        );
        assert!(!answer.text.contains("done=1"), "{path}");
    }
    assert!(forms > 40, "{forms} forms");
    // Nothing that she may not do is offered.
    let page = vera.page(&ids.fill("/console/operations/{id}")).await;
    assert!(!page.contains("class=\"button"), "{page}");
    let refused = RawCaller::new(&url, Some(sandbox.text("platformToken")));
    let log = refused
        .get(&format!("{PREFIX}/audit-log?operator=Vera"))
        .await;
    let outcomes = log.json()["data"].as_array().unwrap().clone();
    assert!(!outcomes.is_empty());
    assert!(outcomes.iter().all(|row| row["outcome"] == "FORBIDDEN"));
}

async fn an_operator_opens_every_form_but_those_of_administrators(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let body = json!({"name": "Otto", "role": "OPERATOR"});
    let added = sandbox.platform();
    let added = added
        .post_json(&format!("{PREFIX}/operators"), &body)
        .await
        .json();
    let token = added["token"].as_str().unwrap();
    let mut otto = Browser::signed_in(sandbox.text("platformUrl"), token).await;
    let own = ["/console/sign-in", "/console/sign-out", "/console/language"];
    let mut refused = Vec::new();
    for (method, path) in console_paths() {
        if method != "POST" || own.contains(&path.as_str()) {
            continue;
        }
        let answer = otto.get(&ids.fill(&path)).await;
        let is_known = matches!(answer.status, 200 | 303 | 403);
        assert!(is_known, "{path}: {} {}", answer.status, answer.text);
        if answer.status == 403 {
            refused.push(path);
        }
    }
    refused.sort();
    let mut expected = OF_ADMINISTRATORS.to_vec();
    expected.sort_unstable();
    assert_eq!(refused, expected);
}
