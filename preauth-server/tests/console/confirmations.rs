//! What cannot be undone is confirmed in the console exactly where the command line asks.

use std::collections::BTreeSet;

use preauth_core::value::Cnpj;
use preauth_server::http::console_paths;
use preauth_server::http::platform::PREFIX;
use serde_json::json;
use test_support::{Backend, Sandbox, due_date, office, on_each_database};

use crate::browser::browser;
use crate::pages::Ids;

on_each_database! { the_console_and_the_command_line_ask_for_the_same }

/// Each command that asks for confirmation, and the forms that do the same.
const ASKED: &[(&str, &[&str])] = &[
    ("key revoke", &["/console/api-keys/{id}/revoke"]),
    ("operation decline", &["/console/operations/{id}/decline"]),
    ("operation withdraw", &["/console/operations/{id}/withdraw"]),
    (
        "operation reprove",
        &[
            "/console/operations/{id}/reprove",
            "/console/operations/{id}/reprove-by-company",
        ],
    ),
    ("extension cancel", &["/console/extensions/{id}/cancel"]),
    (
        "payment-order cancel",
        &["/console/payment-orders/{id}/cancel"],
    ),
    (
        "payment-order reprove",
        &["/console/payment-orders/{id}/reprove"],
    ),
    (
        "endpoint rotate",
        &["/console/companies/{id}/webhook-endpoint/rotate-secret"],
    ),
    (
        "endpoint delete",
        &["/console/companies/{id}/webhook-endpoint/delete"],
    ),
    (
        "mail suppressed remove",
        &["/console/suppressed-addresses/{id}/remove"],
    ),
    ("operator revoke", &["/console/operators/{id}/revoke"]),
    (
        "personal-data erase",
        &["/console/personal-data/{cnpj}/erase"],
    ),
    // Commands beside the server, which no form repeats.
    ("abandon-master-key", &[]),
    ("adopt", &[]),
];

/// The page on commands, which a test compares with the commands.
const COMMANDS: &str = include_str!("../../../docs/command-line.md");

/// The commands that ask for confirmation.
fn asking() -> BTreeSet<&'static str> {
    let mut command = "";
    let mut asking = BTreeSet::new();
    for line in COMMANDS.lines() {
        if line.starts_with('#') {
            command = line.trim_start_matches('#').trim();
        } else if line.contains("Asks for confirmation") {
            asking.insert(command);
        }
    }
    asking
}

/// The ids of a payment order, an extension and a suppressed address.
pub(crate) async fn others(sandbox: &Sandbox) -> [String; 3] {
    let platform = sandbox.platform();
    let post = async |path: &str, body| {
        let done = platform.post_json(&format!("{PREFIX}/{path}"), &body).await;
        assert!(done.status < 300, "{path}: {}", done.text);
        done.json()["id"].to_string()
    };
    let order = json!({
        "payerCompanyId": sandbox.company().await,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "amount": 1500,
    });
    let order = post("payment-orders", order).await;
    let address = "financeiro@fornecedor.example.com";
    let operation = office::offer(sandbox, "NF-11", address).await;
    for (step, body) in [
        ("request", json!({})),
        ("approve", json!({})),
        ("release", json!({"netAmount": 11_000})),
        ("pay", json!({})),
        ("bill", json!({})),
    ] {
        post(&format!("operations/{operation}/{step}"), body).await;
    }
    let extension = json!({"newDueDate": due_date(90).to_string(), "totalAmount": 12_777.25});
    let extension = post(&format!("operations/{operation}/extensions"), extension).await;
    let operation = office::offer(sandbox, "NF-12", address).await;
    let unwanted = format!("{}/nao-receber", sandbox.page_of(operation));
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let suppliers = sandbox.suppliers();
    let ended = suppliers.send(reqwest::Method::POST, &unwanted, &form, None);
    assert_eq!(ended.await.status, 200);
    let listed = format!("{PREFIX}/suppressed-addresses");
    let listed = platform.get(&listed).await.json();
    let suppressed = listed["data"][0]["id"].as_str().unwrap().to_owned();
    [order, extension, suppressed]
}

/// The text between two others, the first time.
fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = page.split_once(begin).map(|(_, rest)| rest);
    assert!(rest.is_some(), "no {begin}: {page}");
    rest.unwrap().split(end).next().unwrap()
}

/// A form says first which record it is about, and in its title; its two buttons differ.
fn names_its_record(form: &str, path: &str, id: &str) {
    let shown = Cnpj::parse(id).map_or_else(|_| id.to_owned(), |cnpj| cnpj.masked());
    let first = between(form, "<dl class=\"fields card\">", "</dd>");
    assert!(first.contains(&shown), "{path}: {first}");
    let heading = between(form, "<h1>", "</h1>");
    let title = between(form, "<title>", " · Console</title>");
    let record = title.strip_prefix(heading);
    let record = record.and_then(|it| it.strip_prefix(" · "));
    // The kind, and the name or number of the first fact.
    let (kind, name) = record.unwrap_or_default().split_once(' ').unwrap();
    assert!(!kind.is_empty(), "{path}: {title}");
    let label = between(first, "<dt>", "</dt>");
    let label = label.split_once(' ').map_or("", |(_, rest)| rest);
    let name = name.strip_prefix(label).unwrap().trim();
    assert!(first.contains(name) && !name.is_empty(), "{path}: {title}");
    let actions = form.rsplit("<div class=\"actions\">").next().unwrap();
    let texts: Vec<_> = ["<button", "<a "]
        .map(|begin| between(between(actions, begin, "</"), ">", "<"))
        .into();
    assert_ne!(texts[0], texts[1], "{path}");
    assert!(["Back", "Voltar"].contains(&texts[1]), "{path}: {texts:?}");
}

async fn the_console_and_the_command_line_ask_for_the_same(backend: Backend) {
    let commands: BTreeSet<_> = ASKED.iter().map(|(command, _)| *command).collect();
    assert_eq!(asking(), commands);
    let asked: BTreeSet<_> = ASKED
        .iter()
        .flat_map(|(_, forms)| *forms)
        .copied()
        .collect();
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let mut browser = browser(&sandbox).await;
    let mut seen = BTreeSet::new();
    for (method, route) in console_paths() {
        let own = ["/console/sign-in", "/console/sign-out", "/console/language"];
        if method != "POST" || own.contains(&route.as_str()) {
            continue;
        }
        let path = ids.fill(&route);
        let form = browser.get(&path).await;
        // Ticked deliveries have no form of their own.
        if form.status == 303 {
            continue;
        }
        assert_eq!(form.status, 200, "{path}: {}", form.text);
        if route.contains("/{") {
            let id = path.split('/').nth(3).unwrap();
            names_its_record(&form.text, &path, id);
            browser.language = "pt-BR";
            names_its_record(&browser.page(&path).await, &path, id);
            browser.language = "en";
        }
        if form.text.contains("This cannot be undone.") {
            assert!(
                asked.contains(route.as_str()),
                "{route} asks in the console alone"
            );
            seen.insert(route);
        }
    }
    let seen: BTreeSet<_> = seen.iter().map(String::as_str).collect();
    assert_eq!(seen, asked);
}
