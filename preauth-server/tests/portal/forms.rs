//! Forms that come twice, too late, from elsewhere, or with texts that nobody should send.

use reqwest::Method;
use test_support::{
    Backend, on_each_database,
    travel::{DAY, advance},
};

use crate::browser::FORM;
use crate::scene::Scene;

on_each_database! {
    a_form_sent_many_times_acts_once,
    the_other_answer_comes_too_late,
    an_offer_that_ended_meanwhile_is_shown_as_it_is,
    forms_of_other_sites_do_nothing,
    reasons_that_the_contract_refuses_are_refused,
    bodies_that_are_no_forms_do_nothing,
}

async fn a_form_sent_many_times_acts_once(backend: Backend) {
    for (action, event) in [
        ("solicitar", "anticipation.requested"),
        ("recusar", "pre_authorization.declined"),
    ] {
        let scene = Scene::new(backend).await;
        let path = scene.path(action);
        let clicks = (0..8).map(|_| scene.browser.post(&path, ""));
        for answer in futures_util::future::join_all(clicks).await {
            assert_eq!(answer.status, 303, "{}", answer.html);
            assert_eq!(answer.headers["location"], scene.page);
        }
        let again = scene.browser.post(&path, "").await;
        assert_eq!(again.status, 303, "{}", again.html);
        let history = scene.history().await;
        assert_eq!(history.len(), 2, "{history:?}");
        assert_eq!(history[1], (event.to_owned(), "SUPPLIER".to_owned()));
    }
}

async fn the_other_answer_comes_too_late(backend: Backend) {
    let scene = Scene::new(backend).await;
    scene.browser.submit(&scene.path("solicitar"), "").await;
    let confirm = scene.browser.get(&scene.path("recusar")).await;
    assert_eq!(
        (confirm.status, &confirm.headers["location"]),
        (303, &scene.page)
    );
    let late = scene.browser.post(&scene.path("recusar"), "motivo=x").await;
    late.assert_shows(409, &["Nada foi feito", "Antecipação solicitada"]);
    assert_eq!(scene.status().await, "TO_APPROVE");
}

async fn an_offer_that_ended_meanwhile_is_shown_as_it_is(backend: Backend) {
    let scene = Scene::new(backend).await;
    scene.cancel().await;
    for action in ["solicitar", "recusar"] {
        let late = scene.browser.post(&scene.path(action), "").await;
        late.assert_shows(409, &["Nada foi feito", "Esta oferta foi cancelada"]);
    }
    let scene = Scene::new(backend).await;
    advance(&scene.sandbox, 31 * DAY).await;
    for action in ["solicitar", "recusar"] {
        let late = scene.browser.post(&scene.path(action), "").await;
        late.assert_shows(409, &["Nada foi feito", "Esta oferta expirou"]);
    }
}

async fn forms_of_other_sites_do_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    for header in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        for action in ["solicitar", "recusar", "nao-receber"] {
            let headers = [FORM, header];
            let path = scene.path(action);
            let sent = scene.browser.send(Method::POST, &path, &headers, "").await;
            sent.assert_shows(403, &["nada foi feito"]);
        }
    }
    assert_eq!(scene.history().await.len(), 1);
    let ended = scene.platform("/suppressed-addresses").await;
    assert_eq!(ended["pagination"]["total"], 0);
    // A page that keeps its address to itself has no origin.
    let own = [FORM, ("origin", "null"), ("sec-fetch-site", "same-origin")];
    let path = scene.path("solicitar");
    let sent = scene.browser.send(Method::POST, &path, &own, "").await;
    assert_eq!(sent.status, 303, "{}", sent.html);
    assert_eq!(scene.status().await, "TO_APPROVE");
}

async fn reasons_that_the_contract_refuses_are_refused(backend: Backend) {
    let scene = Scene::new(backend).await;
    let path = scene.path("recusar");
    for (typed, problem) in [
        ("a%E2%80%8Bb", "caractere invisível"),
        ("%C2%AD", "caractere invisível"),
        ("a%00b", "caractere invisível"),
        ("a%09b", "caractere invisível"),
        (
            &"x".repeat(256),
            "no máximo 255 caracteres; o texto tem 256",
        ),
    ] {
        let refused = scene.browser.post(&path, &format!("motivo={typed}")).await;
        refused.assert_shows(422, &[problem, "aria-invalid=\"true\""]);
    }
    let script = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%E2%80%8B";
    let refused = scene.browser.post(&path, &format!("motivo={script}")).await;
    refused.assert_shows(422, &["&#60;script&#62;"]);
    assert!(!refused.html.contains("<script"), "{}", refused.html);
    assert_eq!(scene.status().await, "IN_PRE_AUTH");
    let longest = format!("motivo={}", "%C3%A9".repeat(255));
    assert_eq!(scene.browser.post(&path, &longest).await.status, 303);
}

async fn bodies_that_are_no_forms_do_nothing(backend: Backend) {
    let scene = Scene::new(backend).await;
    let path = scene.path("solicitar");
    let long = format!("nome={}", "x".repeat(300 * 1024));
    for (headers, body, status) in [
        (&[("content-type", "application/json")][..], "{}", 400),
        (&[("content-type", "text/plain")], "", 400),
        (&[FORM, ("content-encoding", "gzip")], "", 400),
        (&[FORM], "nome=%FF", 400),
        (&[FORM], long.as_str(), 413),
    ] {
        let sent = scene.browser.send(Method::POST, &path, headers, body).await;
        sent.assert_shows(status, &["Nada foi feito", "<html"]);
    }
    assert_eq!(scene.history().await.len(), 1);
}
