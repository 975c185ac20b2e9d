//! A path without a page, and a method that its page does not know, are answered by a page of the console.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::console_paths;
use reqwest::Method;
use test_support::{Answer, Backend, Sandbox, on_each_database};

use crate::browser::{Browser, browser};

on_each_database! {
    a_path_without_a_page_has_the_console_s_own,
    without_a_session_it_leads_to_signing_in,
    what_is_not_the_console_s_keeps_the_answer_of_the_api,
}

/// Mistyped, of an older version, spelt in another way, and out of place.
const UNKNOWN: &[&str] = &[
    "/console/nowhere",
    "/console/operation/12",
    "/console/operations/1/2/3",
    "/console/",
    "/console/operations/",
    "/console//operations",
    "/console/%6Fperations",
    "/console/sign-out",
    "/console/language",
    "/console/companies.html?page=2",
];

/// The methods of a path that has a page.
fn methods(path: &str) -> Vec<String> {
    let all = console_paths().into_iter();
    all.filter(|(_, each)| each == path)
        .map(|(method, _)| method)
        .collect()
}

fn assert_is_page(answer: &Answer, path: &str, tag: &str, says: &str, way: &str) {
    assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    assert_eq!(
        answer.header("content-type"),
        "text/html; charset=utf-8",
        "{path}"
    );
    assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    let language = format!("<html lang=\"{tag}\">");
    let link = format!("href=\"/console\">{way}</a>");
    for part in [
        language.as_str(),
        says,
        link.as_str(),
        "<nav class=\"sections\"",
    ] {
        assert!(
            answer.text.contains(part),
            "{path}, {part}: {}",
            answer.text
        );
    }
}

async fn a_path_without_a_page_has_the_console_s_own(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    for (language, says, way) in [
        (
            "en",
            "The console has no page at this address",
            "To the overview",
        ),
        (
            "pt-BR",
            "O console não tem página neste endereço",
            "Para a visão geral",
        ),
    ] {
        browser.language = language;
        for path in UNKNOWN {
            let answer = browser.get(path).await;
            assert_is_page(&answer, path, language, says, way);
            let head = browser.send(Method::HEAD, path, &[], None).await;
            assert_eq!((head.status, head.text.as_str()), (404, ""), "{path}");
            let length = answer.text.len().to_string();
            assert_eq!(head.header("content-length"), length, "{path}");
        }
        assert_eq!(methods("/console/operations"), ["GET"]);
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let path = "/console/operations";
            let answer = browser.send(method, path, &[], None).await;
            assert_is_page(&answer, path, language, says, way);
        }
    }
    // The switch of languages leads back to it.
    let next = "/console/nowhere?x=1";
    let page = browser.get(next).await;
    let field = format!("name=\"next\" value=\"{next}\"");
    assert!(page.text.contains(&field), "{}", page.text);
}

async fn without_a_session_it_leads_to_signing_in(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut nobody = Browser::at(sandbox.text("platformUrl"));
    for (method, path) in [
        (Method::GET, "/console/nowhere"),
        (Method::GET, "/console/"),
        (Method::POST, "/console/nowhere"),
        (Method::DELETE, "/console/operations"),
    ] {
        let answer = nobody.send(method, path, &[], None).await;
        assert_eq!(answer.status, 303, "{path}: {}", answer.text);
        let location = answer.header("location");
        assert!(
            location.starts_with("/console/sign-in?next="),
            "{path}: {location}"
        );
        let form = nobody.page(location).await;
        assert!(form.contains("name=\"token\""), "{form}");
    }
}

/// Neither its other paths nor the other listeners have pages of the console.
async fn what_is_not_the_console_s_keeps_the_answer_of_the_api(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let signed_in = browser(&sandbox).await;
    for (listener, path) in [
        ("platformUrl", "/consoles"),
        ("platformUrl", "/nowhere"),
        ("platformUrl", "/livez/"),
        ("baseUrl", "/console/nowhere"),
    ] {
        let mut browser = signed_in.elsewhere(sandbox.text(listener));
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        assert!(
            answer.text.contains("\"NOT_FOUND\""),
            "{path}: {}",
            answer.text
        );
    }
    let unknown = format!("{PRE_AUTHORIZATIONS}/1/nowhere");
    let answer = sandbox.caller("apiKey").get(&unknown).await;
    assert_eq!(answer.status, 404, "{}", answer.text);
    assert!(answer.text.contains("\"NOT_FOUND\""), "{}", answer.text);
}
