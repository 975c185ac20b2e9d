//! No page shows a word of the API where its reader's language has one, and every page has a title.

use preauth_server::http::console_paths;
use test_support::{Backend, Sandbox, office, on_each_database};

use crate::browser::browser;
use crate::pages::Ids;

on_each_database! {
    pages_have_titles_and_no_words_of_the_api,
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

/// Whether a word is a constant of the API, such as `IN_PRE_AUTH`.
fn is_constant(word: &str) -> bool {
    let is_of = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    let inner = word.trim_matches('_');
    inner.contains('_') && inner.bytes().all(is_of)
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
                let is_part = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
                let found = text.split(is_part).find(|word| is_constant(word));
                assert_eq!(found, None, "{path}: {text}");
            }
            read += 1;
        }
        assert!(read > 60, "{read} pages");
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
