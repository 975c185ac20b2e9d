//! What a supplier reads as its advance goes on, in both languages.

use serde_json::json;
use test_support::{Backend, on_each_database};

use crate::scene::Scene;

on_each_database! {
    every_status_is_told_in_the_supplier_s_words,
    a_reproval_names_who_did_not_approve,
    a_page_speaks_the_reader_s_language,
}

async fn every_status_is_told_in_the_supplier_s_words(backend: Backend) {
    let scene = Scene::new(backend).await;
    let steps = [
        ("request", json!({}), "Antecipação solicitada"),
        ("approve", json!({}), "Em análise"),
        (
            "release",
            json!({"netAmount": 11_900.25}),
            "Aprovada, aguardando pagamento",
        ),
        ("pay", json!({}), "Antecipação paga"),
        ("return-payout", json!({}), "Aprovada, aguardando pagamento"),
        ("pay", json!({}), "Antecipação paga"),
        ("bill", json!({}), "Antecipação paga"),
        ("conclude", json!({}), "Antecipação paga"),
    ];
    let page = scene.browser.get(&scene.page).await;
    page.assert_shows(200, &["Valor líquido para você", "custo da antecipação"]);
    for (action, body, headline) in steps {
        scene.act(action, body).await;
        let page = scene.browser.get(&scene.page).await;
        page.assert_shows(200, &[headline]);
        assert!(!page.html.contains("/recusar"), "{}", page.html);
    }
    let page = scene.browser.get(&scene.page).await;
    page.assert_shows(200, &["Valor líquido para você", "R$ 11.900,25"]);
    assert!(!page.html.contains("custo da"), "{}", page.html);
    assert!(!page.html.contains("aria-current"), "{}", page.html);
}

async fn a_reproval_names_who_did_not_approve(backend: Backend) {
    for (by, text) in [
        (
            "COMPANY",
            "Construtora Exemplo S.A. não aprovou a antecipação.",
        ),
        ("PLATFORM", "A análise não aprovou a antecipação."),
    ] {
        let scene = Scene::new(backend).await;
        scene.act("request", json!({})).await;
        // The reason is the company's own.
        let body = json!({"by": by, "reason": "Fornecedor em disputa"});
        scene.act("reprove", body).await;
        let page = scene.browser.get(&scene.page).await;
        page.assert_shows(200, &["O pedido não foi aprovado", text]);
        assert!(!page.html.contains("disputa"), "{}", page.html);
        assert!(!page.html.contains("Valor líquido"), "{}", page.html);
    }
}

async fn a_page_speaks_the_reader_s_language(backend: Backend) {
    let scene = Scene::new(backend).await;
    let english = [("accept-language", "en-US,en;q=0.9")];
    let get = reqwest::Method::GET;
    let page = scene.browser.send(get, &scene.page, &english, "").await;
    page.assert_shows(
        200,
        &["lang=\"en\"", "Request the advance", "BRL 12,500.50"],
    );
    let chosen = scene
        .browser
        .get(&format!("{}?idioma=en", scene.page))
        .await;
    let next = format!("{}?idioma=en", scene.path("solicitar"));
    chosen.assert_shows(200, &["lang=\"en\"", &next]);
    let other = scene
        .browser
        .get(&format!("{}?idioma=xx", scene.page))
        .await;
    other.assert_shows(200, &["lang=\"pt-BR\""]);
    let requested = scene.browser.post(&next, "").await;
    assert_eq!(
        requested.headers["location"],
        format!("{}?idioma=en", scene.page)
    );
}
