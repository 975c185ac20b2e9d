//! Scanners of mails open every link: nothing that is not a form changes anything.

use reqwest::Method;
use test_support::{Backend, on_each_database};

use crate::scene::Scene;

on_each_database! {
    no_reading_of_any_page_changes_anything,
}

/// Every page that a link leads to.
pub(crate) const PAGES: [&str; 4] = ["", "/solicitar", "/recusar", "/nao-receber"];
/// What scanners, browsers that load ahead, and others send.
const HEADERS: [&[(&str, &str)]; 4] = [
    &[],
    &[("sec-purpose", "prefetch;prerender")],
    &[
        ("x-http-method-override", "POST"),
        ("x-http-method", "POST"),
    ],
    &[
        ("user-agent", "Mozilla/5.0 (compatible; SafeLinks)"),
        ("purpose", "prefetch"),
    ],
];

async fn no_reading_of_any_page_changes_anything(backend: Backend) {
    let scene = Scene::inviting(backend, "Nova Fornecedora").await;
    let methods = [
        "GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND",
    ];
    for page in PAGES {
        let path = format!("{}{page}?nome=Outra&motivo=x&_method=POST", scene.page);
        for method in methods {
            for headers in HEADERS {
                let name = Method::from_bytes(method.as_bytes()).unwrap();
                let form = "nome=Outra&motivo=x&List-Unsubscribe=One-Click";
                let answer = scene.browser.send(name, &path, headers, form).await;
                let expected: &[u16] = match method {
                    "GET" | "HEAD" => &[200],
                    // An unknown method is no method of this server.
                    _ => &[405, 404, 400, 501],
                };
                let status = answer.status;
                assert!(expected.contains(&status), "{method} {path}: {status}");
            }
        }
    }
    assert_eq!(scene.status().await, "IN_PRE_AUTH");
    assert_eq!(scene.history().await.len(), 1);
    let ended = scene.platform("/suppressed-addresses").await;
    assert_eq!(ended["pagination"]["total"], 0);
    let confirm = scene.browser.get(&scene.path("solicitar")).await;
    confirm.assert_shows(200, &["value=\"Nova Fornecedora\""]);
}
