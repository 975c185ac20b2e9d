//! No page shows a word of the API where its reader's language has one, and every page has a title.

use std::collections::BTreeSet;

use preauth_server::http::console_paths;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::json;
use test_support::{Backend, Sandbox, office, on_each_database};

use crate::browser::browser;
use crate::pages::Ids;

on_each_database! {
    pages_have_titles_and_no_words_of_the_api,
    portuguese_agrees_with_its_nouns,
    why_a_delivery_failed_is_said_in_words,
}

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:9/";
/// What stands in these is a text of machines: ids, paths, names of metrics, bodies.
const OF_MACHINES: [(&str, &str); 3] = [
    ("<span class=\"mono\">", "</span>"),
    ("<small class=\"mono\">", "</small>"),
    ("<pre ", "</pre>"),
];

/// A page without texts of machines.
fn of_people(page: &str) -> String {
    let mut left = page.to_owned();
    for (begin, end) in OF_MACHINES {
        while let Some(from) = left.find(begin) {
            let to = left[from..].find(end).unwrap() + from + end.len();
            left.replace_range(from..to, " ");
        }
    }
    left
}

/// The texts between tags.
fn texts(page: &str) -> Vec<&str> {
    let parts = page.split('<').skip(1);
    let texts = parts.filter_map(|part| Some(part.split_once('>')?.1.trim()));
    texts.filter(|text| !text.is_empty()).collect()
}

/// The console's table of the words of the API.
const NAMES: &str = include_str!("../../src/http/console/names.rs");

/// The codes of that table, such as `IN_PRE_AUTH` and `webhook.test`.
fn codes() -> BTreeSet<&'static str> {
    let is_of = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
    // Each row begins with its code.
    let rows = NAMES.split("#[cfg(test)]").next().unwrap().split('(');
    let codes = rows.filter_map(|row| row.trim_start().strip_prefix('"')?.split('"').next());
    let codes: BTreeSet<_> = codes
        .filter(|code| code.len() > 2 && code.bytes().all(is_of))
        .collect();
    for code in ["ADMIN", "REQUEST_ADVANCES", "webhook.test", "FORBIDDEN"] {
        assert!(codes.contains(code), "{code}: {codes:?}");
    }
    codes
}

/// The `operationId` of each request of the platform API that changes something.
async fn writes(sandbox: &Sandbox) -> Vec<String> {
    let document = sandbox.platform().get("/openapi.json").await;
    let document = document.json();
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|path| path.as_object().unwrap());
    let writes = operations.filter(|(method, _)| *method != "get");
    writes
        .filter_map(|(_, operation)| operation["operationId"].as_str())
        .map(ToOwned::to_owned)
        .collect()
}

/// Leaves rows in the audit log whose values are words of the API.
async fn change_settings(sandbox: &Sandbox) {
    let platform = sandbox.platform();
    let company = sandbox.company().await;
    let user =
        json!({"name": "Bia", "email": "bia@example.com", "permissions": ["REQUEST_ADVANCES"]});
    let path = format!("{PREFIX}/companies/{company}/users");
    let user = platform.post_json(&path, &user).await;
    assert_eq!(user.status, 201, "{}", user.text);
    let user = user.json()["id"].as_str().unwrap().to_owned();
    let body =
        json!({"permissions": ["PRE_AUTHORIZE_ADVANCES", "REQUEST_ADVANCES"], "active": false});
    let json = [("content-type", "application/json")];
    let path = format!("{PREFIX}/users/{user}");
    let body = Some(body.to_string().into_bytes());
    let changed = platform.send(Method::PATCH, &path, &json, body).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let endpoint = json!({"url": NOWHERE, "events": ["webhook.test", "anticipation.paid"]});
    let path = format!("{PREFIX}/companies/{company}/webhook-endpoint");
    let endpoint = Some(endpoint.to_string().into_bytes());
    let set = platform.send(Method::PUT, &path, &json, endpoint).await;
    assert_eq!(set.status, 200, "{}", set.text);
}

fn title(page: &str) -> &str {
    let title = page.split("<title>").nth(1).unwrap();
    title.split("</title>").next().unwrap()
}

/// Waits for an attempt to deliver an event of these operations to nowhere.
async fn attempted(sandbox: &Sandbox) {
    office::until_true("an attempt", async || {
        let path = "/api/platform/v1/deliveries?wait=AFTER_FAILURE";
        let found = sandbox.platform().get(path).await.json();
        found["pagination"]["total"].as_u64().unwrap() > 0
    })
    .await;
}

async fn pages_have_titles_and_no_words_of_the_api(backend: Backend) {
    let sandbox = Sandbox::start_sending_to(backend, NOWHERE).await;
    let ids = Ids::of(&sandbox).await;
    attempted(&sandbox).await;
    change_settings(&sandbox).await;
    let (codes, writes) = (codes(), writes(&sandbox).await);
    assert!(writes.len() > 50, "{writes:?}");
    let mut browser = browser(&sandbox).await;
    for language in ["en", "pt-BR"] {
        browser.language = language;
        let mut read = 0;
        for (_, path) in console_paths().iter().filter(|(method, _)| method == "GET") {
            let path = ids.fill(path);
            let answer = browser.get(&path).await;
            if !answer.header("content-type").starts_with("text/html") {
                continue;
            }
            let name = title(&answer.text).strip_suffix(" · Console");
            assert!(
                name.is_some_and(|it| !it.trim().is_empty()),
                "{path}: {name:?}"
            );
            let page = of_people(&answer.text);
            for text in texts(&page) {
                let is_part =
                    |letter: char| !letter.is_ascii_alphanumeric() && !"_.".contains(letter);
                let mut words = text.split(is_part).map(|word| word.trim_matches('.'));
                let found = words.find(|word| codes.contains(*word));
                assert_eq!(found, None, "{path}: {text}");
                assert!(!writes.iter().any(|it| it == text), "{path}: {text}");
            }
            read += 1;
        }
        assert!(read > 60, "{read} pages");
        // Every action can be chosen by its words.
        let log = browser.page("/console/log").await;
        for action in &writes {
            assert!(
                log.contains(&format!("<option value=\"{action}\"")),
                "{action}"
            );
        }
        let (was, is) = match language {
            "en" => ("Request advances", "Pre-authorize advances"),
            _ => ("Solicitar antecipações", "Pré-autorizar antecipações"),
        };
        let row = log.split("title=\"permissions: ").nth(1).unwrap();
        let row = row.split("</td>").next().unwrap();
        assert!(row.contains(was) && row.contains(is), "{row}");
    }
}

async fn portuguese_agrees_with_its_nouns(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let order = ids.fill("/console/payment-orders/{id}");
    let path = order.replace("/console", PREFIX) + "/cancel";
    let canceled = sandbox.platform().post_json(&path, &json!({})).await;
    assert_eq!(canceled.status, 200, "{}", canceled.text);
    let mut browser = browser(&sandbox).await;
    browser.language = "pt-BR";
    for (path, word) in [
        (order, "Cancelada"),
        (ids.fill("/console/operators/{id}"), "Ativo"),
        (ids.fill("/console/operators/{id}/revoke"), "Ativo"),
        (ids.fill("/console/api-keys/{id}"), "Ativa"),
        ("/console/operators".to_owned(), "Ativo"),
    ] {
        let page = browser.page(&path).await;
        assert!(
            page.contains(&format!("\">{word}</span>")),
            "{path}: {page}"
        );
    }
}

async fn why_a_delivery_failed_is_said_in_words(backend: Backend) {
    let sandbox = Sandbox::start_sending_to(backend, NOWHERE).await;
    office::offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    attempted(&sandbox).await;
    let mut browser = browser(&sandbox).await;
    for (language, words) in [("en", "connection refused"), ("pt-BR", "conexão recusada")] {
        browser.language = language;
        let list = browser.page("/console/deliveries").await;
        let cell = format!("<span title=\"CONNECTION_REFUSED\">{words}</span>");
        assert!(list.contains(&cell), "{list}");
        let file = browser.get("/console/deliveries.csv").await;
        assert!(
            file.text.contains("\"CONNECTION_REFUSED\""),
            "{}",
            file.text
        );
    }
}
