//! Users, keys and blocked suppliers of a company: all of them, page by page and as CSV files.

use preauth_core::value::Cnpj;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{Browser, browser};

on_each_database! {
    the_51st_key_user_and_blocked_supplier_are_seen,
    a_user_a_key_and_an_operator_have_pages,
}

const MANY: usize = 51;

pub(crate) async fn post(sandbox: &Sandbox, path: &str, body: &Value) -> Value {
    let path = format!("{PREFIX}/{path}");
    let made = sandbox.platform().post_json(&path, body).await;
    assert_eq!(made.status, 201, "{path}: {}", made.text);
    made.json()
}

/// A valid CNPJ with this number; its check digits are found by trial.
pub(crate) fn cnpj(number: usize) -> Cnpj {
    let spelled = |check: u32| Cnpj::parse(&format!("{number:08}0001{check:02}"));
    (0..100).find_map(|check| spelled(check).ok()).unwrap()
}

/// The pages of a list up to its end.
async fn pages(browser: &mut Browser, path: &str) -> Vec<String> {
    let mut pages = Vec::new();
    loop {
        let number = pages.len() + 1;
        let page = browser.page(&format!("{path}?page={number}")).await;
        let is_last = !page.contains("rel=\"next\"");
        pages.push(page);
        if is_last {
            return pages;
        }
    }
}

async fn the_51st_key_user_and_blocked_supplier_are_seen(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let company = sandbox.company().await;
    let of_company = format!("companies/{company}");
    let both = ["PRE_AUTHORIZE_ADVANCES", "REQUEST_ADVANCES"];
    let mut responsible = String::new();
    let mut suppliers = Vec::new();
    for number in 1..=MANY {
        let user = json!({
            "name": format!("Usuária {number}."),
            "email": format!("usuaria{number}@example.com"),
            "permissions": both,
        });
        let user = post(&sandbox, &format!("{of_company}/users"), &user).await;
        responsible = user["id"].as_str().unwrap().to_owned();
        let key = json!({
            "name": format!("ERP nº {number}."),
            "responsibleUserId": responsible,
            "scopes": ["preauth:read"],
        });
        post(&sandbox, &format!("{of_company}/api-keys"), &key).await;
        let supplier = cnpj(70_000_000 + number);
        let path = format!("{PREFIX}/{of_company}/blocked-suppliers/{supplier}");
        let blocked = sandbox.platform().send(Method::PUT, &path, &[], None).await;
        assert_eq!(blocked.status, 200, "{}", blocked.text);
        suppliers.push(supplier.masked());
    }
    let mut browser = browser(&sandbox).await;
    let home = browser.page(&format!("/console/{of_company}")).await;
    let numbered = |text: &str| -> Vec<String> {
        let numbers = 1..=MANY;
        numbers.map(|n| format!("{text} {n}.")).collect()
    };
    for (list, expected, form) in [
        ("users", numbered("Usuária"), "/deactivate\""),
        ("api-keys", numbered("ERP nº"), "/revoke\""),
        ("blocked-suppliers", suppliers, "/unblock\""),
    ] {
        let path = format!("/console/{of_company}/{list}");
        assert!(home.contains(&format!("href=\"{path}\"")), "{path}: {home}");
        let pages = pages(&mut browser, &path).await;
        assert!(pages.len() >= 3, "{path}: {} pages", pages.len());
        let file = browser.get(&format!("{path}.csv")).await;
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
        for each in &expected {
            let cell = format!(">{each}<");
            let shown: usize = pages.iter().map(|page| page.matches(&cell).count()).sum();
            assert_eq!(shown, 1, "{each}");
            assert!(file.text.contains(&format!("\"{each}\"")), "{}", file.text);
        }
        // Each row leads to its forms.
        let forms: usize = pages.iter().map(|page| page.matches(form).count()).sum();
        assert!(forms >= MANY, "{path}: {forms}");
    }
    // What a role does not permit is not offered.
    let body = json!({"name": "Vera", "role": "VIEWER"});
    let vera = post(&sandbox, "operators", &body).await;
    let token = vera["token"].as_str().unwrap();
    let mut vera = Browser::signed_in(sandbox.text("platformUrl"), token).await;
    for list in ["users", "api-keys", "blocked-suppliers"] {
        let page = vera.page(&format!("/console/{of_company}/{list}")).await;
        assert!(!page.contains("class=\"button"), "{list}: {page}");
    }
    let page = vera.page("/console/operators").await;
    assert!(!page.contains("/revoke"), "{page}");
    browser.page(&format!("/console/users/{responsible}")).await;
}

async fn a_user_a_key_and_an_operator_have_pages(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let list = async |list: &str| {
        let path = format!("{PREFIX}/{list}");
        sandbox.platform().get(&path).await.json()["data"][0].clone()
    };
    let user = list(&format!("companies/{company}/users")).await;
    let key = list(&format!("companies/{company}/api-keys")).await;
    let body = json!({"name": "Bruno", "role": "OPERATOR"});
    let operator = post(&sandbox, "operators", &body).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for (path, texts) in [
        (
            format!("/console/users/{}", text(&user["id"])),
            [
                text(&user["email"]),
                format!("/console/companies/{company}"),
            ],
        ),
        (
            format!("/console/api-keys/{}", text(&key["id"])),
            [
                text(&key["prefix"]),
                format!("/console/users/{}", text(&key["responsibleUserId"])),
            ],
        ),
        (
            format!("/console/operators/{}", text(&operator["id"])),
            ["Bruno".to_owned(), "/console/log?operator=Bruno".to_owned()],
        ),
    ] {
        let page = browser.page(&path).await;
        for text in texts {
            assert!(page.contains(&text), "{text} in {page}");
        }
    }
}
