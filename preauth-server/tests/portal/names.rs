//! An invited supplier confirms or corrects its name.

use test_support::{Backend, on_each_database};

use crate::scene::{INVITED, Scene, invite};

on_each_database! {
    an_invited_supplier_confirms_or_corrects_its_name_once,
    a_registered_supplier_is_not_asked_for_its_name,
    names_that_strangers_chose_are_texts_and_nothing_else,
    declining_asks_for_no_name,
}

async fn an_invited_supplier_confirms_or_corrects_its_name_once(backend: Backend) {
    let scene = Scene::inviting(backend, "Nova Fornecedroa").await;
    let path = scene.path("solicitar");
    let confirm = scene.browser.get(&path).await;
    confirm.assert_shows(200, &["razão social", "value=\"Nova Fornecedroa\""]);
    for (form, problem) in [
        ("", "Preencha este campo"),
        ("nome=+", "Preencha este campo"),
        ("nome=A", "pelo menos 2 caracteres"),
        ("nome=Nova%E2%80%8B", "caractere invisível"),
        ("nome=Nova&nome=Outra", "Preencha este campo"),
        (&format!("nome={}", "x".repeat(256)), "no máximo 255"),
    ] {
        let refused = scene.browser.post(&path, form).await;
        refused.assert_shows(422, &[problem, "id=\"nome-error\""]);
    }
    assert_eq!(scene.status().await, "IN_PRE_AUTH");
    let requested = scene
        .browser
        .submit(&path, "nome=+Nova+Fornecedora+Ltda.+")
        .await;
    requested.assert_shows(200, &["Nova Fornecedora Ltda.", "Antecipação solicitada"]);

    let erp = scene.sandbox.caller("apiKey");
    let found = erp
        .get("/api/integration/v1/pre-authorizations/1")
        .await
        .json();
    assert_eq!(found["supplier"]["name"], "Nova Fornecedora Ltda.");
    let supplier = scene.platform(&format!("/companies?cnpj={INVITED}")).await["data"][0].clone();
    assert_eq!(
        (&supplier["name"], &supplier["registered"]),
        (&serde_json::Value::Null, &false.into())
    );
    let id = supplier["id"].as_str().unwrap();
    let invited = scene
        .platform(&format!("/companies/{id}/invitations"))
        .await;
    assert_eq!(invited["data"][0]["name"], "Nova Fornecedora Ltda.");
    assert!(
        invited["data"][0]["nameConfirmedAt"].is_string(),
        "{invited}"
    );

    // What the ERP sends again changes nothing, and the next offer does not ask again.
    let second = invite(&scene.sandbox, "NF-2", "Outro Nome").await;
    let scene = Scene::of(scene.sandbox, second);
    let confirm = scene.browser.get(&scene.path("solicitar")).await;
    assert!(!confirm.html.contains("name=\"nome\""), "{}", confirm.html);
    let requested = scene
        .browser
        .submit(&scene.path("solicitar"), "nome=Terceiro")
        .await;
    requested.assert_shows(200, &["Nova Fornecedora Ltda."]);
}

async fn a_registered_supplier_is_not_asked_for_its_name(backend: Backend) {
    let scene = Scene::new(backend).await;
    let confirm = scene.browser.get(&scene.path("solicitar")).await;
    confirm.assert_shows(200, &["Confirmar solicitação"]);
    assert!(!confirm.html.contains("name=\"nome\""), "{}", confirm.html);
    let requested = scene
        .browser
        .submit(&scene.path("solicitar"), "nome=Outra")
        .await;
    requested.assert_shows(200, &["Fornecedor Exemplo Ltda."]);
}

async fn names_that_strangers_chose_are_texts_and_nothing_else(backend: Backend) {
    let name = "\"><script>alert(1)</script><img src=//evil.example onerror=x> {{7*7}} &amp;";
    let scene = Scene::inviting(backend, name).await;
    for page in ["", "/solicitar", "/recusar", "/nao-receber"] {
        let shown = scene.browser.get(&format!("{}{page}", scene.page)).await;
        assert_eq!(shown.status, 200, "{page}");
        for markup in ["<script", "<img", "onerror=x>"] {
            assert!(!shown.html.contains(markup), "{markup} in {}", shown.html);
        }
    }
    let shown = scene.browser.get(&scene.page).await;
    shown.assert_shows(200, &["{{7*7}} &#38;amp;"]);
}

async fn declining_asks_for_no_name(backend: Backend) {
    let scene = Scene::inviting(backend, "Nova Fornecedora").await;
    let declined = scene.browser.submit(&scene.path("recusar"), "").await;
    declined.assert_shows(200, &["Você recusou esta oferta"]);
}
