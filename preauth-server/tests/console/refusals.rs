//! What is wrong with a form or a filter stands beside its field, in the reader's language.

use preauth_server::http::console_paths;
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{Browser, browser};
use crate::pages::Ids;

on_each_database! {
    every_field_of_every_form_has_its_problem_beside_it,
    an_amount_that_could_be_read_in_two_ways_does_nothing,
    a_refusal_of_the_rules_is_as_exact_in_english,
    a_wrong_filter_has_its_problem_beside_it,
}

const LANGUAGES: [(&str, &str, &str); 2] = [
    (
        "en",
        "This field ",
        "Nothing was done: correct what is marked.",
    ),
    (
        "pt-BR",
        "Este campo ",
        "Nada foi feito: corrija o que está marcado.",
    ),
];

/// The names of the fields that a reader fills in.
fn fields(page: &str) -> Vec<&str> {
    let form = page.split("<form class=\"form\"").nth(1).unwrap();
    let parts = form.split(" name=\"").skip(1);
    let mut names: Vec<_> = parts.map(|it| it.split('"').next().unwrap()).collect();
    names.retain(|name| !["form_token", "once", "version"].contains(name));
    names.dedup();
    names
}

/// The sentence beside a field, if the field refers to it.
fn beside<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let id = format!("error-{name}");
    let refers = page.contains(&format!("aria-describedby=\"{id}"));
    let sentence = page.split(&format!("id=\"{id}\">")).nth(1)?;
    refers.then(|| sentence.split('<').next().unwrap())
}

async fn every_field_of_every_form_has_its_problem_beside_it(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let ids = Ids::of(&sandbox).await;
    let mut browser = browser(&sandbox).await;
    for (language, subject, marked) in LANGUAGES {
        browser.language = language;
        let mut seen = 0;
        for (_, path) in console_paths()
            .iter()
            .filter(|(method, path)| method == "POST" && !path.ends_with("/language"))
        {
            let path = ids.fill(path);
            let form = browser.get(&path).await;
            if form.status != 200 || !form.text.contains("<form class=\"form\"") {
                continue;
            }
            let names = fields(&form.text);
            if names.is_empty() {
                continue;
            }
            let typed: Vec<_> = names.iter().map(|name| (*name, "\u{1}")).collect();
            let refused = browser.submit_again(&form.text, &path, &typed).await;
            assert_eq!(refused.status, 400, "{path}: {}", refused.text);
            // What has to be typed to confirm has a sentence of its own above the form.
            let is_typed = names.contains(&"confirmation");
            let is_marked = is_typed || refused.text.contains(marked);
            assert!(is_marked, "{path}: {}", refused.text);
            // A URL is looked up, and judged, once everything else is right.
            for name in names.iter().filter(|name| **name != "url") {
                let sentence = beside(&refused.text, name);
                assert!(sentence.is_some(), "{path}, {name}: {}", refused.text);
                let sentence = sentence.unwrap();
                let is_own = [
                    "This is not a",
                    "No company",
                    "Isto não é",
                    "Nenhuma empresa",
                ];
                let is_own = is_own.iter().any(|it| sentence.starts_with(it));
                assert!(
                    is_own || sentence.starts_with(subject),
                    "{path} {name}: {sentence}"
                );
                seen += 1;
            }
            // The reader goes on at the first of them.
            let focused = refused.text.matches(" autofocus").count();
            assert_eq!(focused, 1, "{path}: {}", refused.text);
            let is_invalid = refused.text.matches("aria-invalid=\"true\"").count();
            assert!(is_invalid >= names.len(), "{path}: {}", refused.text);
        }
        assert!(seen > 30, "{seen} fields");
    }
}

async fn analysed(sandbox: &Sandbox, browser: &mut Browser) -> i64 {
    let offer = test_support::offer_body(sandbox, "NF-910");
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    let offered = sandbox.caller("apiKey").post_json(path, &offer).await;
    let id = offered.json()["id"].as_i64().unwrap();
    for step in ["request", "approve"] {
        let path = format!("/console/operations/{id}/{step}");
        let done = browser.submit(&path, &[]).await;
        assert_eq!(done.status, 303, "{}", done.text);
    }
    id
}

async fn an_amount_that_could_be_read_in_two_ways_does_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let id = analysed(&sandbox, &mut browser).await;
    let path = format!("/console/operations/{id}/release");
    for (language, amount, sentence) in [
        (
            "en",
            "12.000",
            "This is not an amount, or could be read in two ways.",
        ),
        (
            "en",
            "12,5",
            "This is not an amount, or could be read in two ways.",
        ),
        (
            "pt-BR",
            "12,000",
            "Isto não é um valor, ou pode ser lido de duas formas.",
        ),
        (
            "pt-BR",
            "12.5000",
            "Isto não é um valor, ou pode ser lido de duas formas.",
        ),
    ] {
        browser.language = language;
        let refused = browser.submit(&path, &[("netAmount", amount)]).await;
        assert_eq!(refused.status, 400, "{amount}: {}", refused.text);
        assert_eq!(beside(&refused.text, "netAmount"), Some(sentence));
        assert!(refused.text.contains(&format!("value=\"{amount}\"")));
    }
    let page = browser.page(&format!("/console/operations/{id}")).await;
    assert!(page.contains("title=\"IN_ANALYSIS\""), "{page}");
    browser.language = "en";
    let refused = browser
        .submit(&path, &[("netAmount", "99,999,999.00")])
        .await;
    assert_eq!(
        beside(&refused.text, "netAmount"),
        Some(
            "This field must be above zero and at most the invoice&#39;s amount less the withheld tax."
        )
    );
}

async fn a_refusal_of_the_rules_is_as_exact_in_english(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let cnpj = sandbox.text("companyCnpj").to_owned();
    let company = [
        ("cnpj", cnpj.as_str()),
        ("name", "Outra"),
        ("kind", "CONSTRUCTION"),
    ];
    for (language, sentence) in [
        ("en", "A company with this CNPJ is registered already."),
        ("pt-BR", "Já existe uma empresa com este CNPJ."),
    ] {
        browser.language = language;
        let refused = browser.submit("/console/new-company", &company).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        assert!(refused.text.contains(sentence), "{}", refused.text);
    }
}

async fn a_wrong_filter_has_its_problem_beside_it(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let wrong = "/console/operations?cnpj=1&from=soon&invoiceNumber=1";
    for (language, cnpj, day) in [
        (
            "en",
            "This field must be a CNPJ of 14 characters, with or without mask.",
            "This is not a day.",
        ),
        (
            "pt-BR",
            "Este campo deve ser um CNPJ de 14 caracteres, com ou sem máscara.",
            "Isto não é um dia.",
        ),
    ] {
        browser.language = language;
        let page = browser.page(wrong).await;
        assert_eq!(beside(&page, "cnpj"), Some(cnpj), "{page}");
        assert_eq!(beside(&page, "from"), Some(day), "{page}");
        assert_eq!(beside(&page, "invoiceNumber"), None);
        assert_eq!(page.matches("aria-invalid").count(), 2);
    }
}
