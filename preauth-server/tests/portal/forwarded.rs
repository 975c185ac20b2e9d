//! A link that the supplier forwards: who has it may answer, from wherever it is opened.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;
use test_support::{
    Backend, office, on_each_database,
    travel::{DAY, advance},
};

use crate::browser::{Browser, Page};
use crate::readings::PAGES;
use crate::scene::{ADDRESS, Scene};

on_each_database! {
    a_forwarded_link_shows_and_does_the_same_elsewhere,
    of_two_forwarded_copies_one_answers_and_both_show_it,
    a_forwarded_link_of_a_closed_offer_shows_it_and_does_nothing,
}

/// Somebody else: another address, another program, and nothing of the first one's.
fn colleague(scene: &Scene) -> Browser {
    let address = IpAddr::from([127, 0, 0, 2]);
    Browser::elsewhere(scene.sandbox.text("portalUrl"), address, "Outro/1.0")
}

/// Both see the same, and neither is remembered by a cookie.
async fn same_page(one: &Browser, other: &Browser, path: &str) -> Page {
    let (seen, by_other) = (one.get(path).await, other.get(path).await);
    assert_eq!((seen.status, &seen.html), (by_other.status, &by_other.html));
    for page in [&seen, &by_other] {
        assert!(!page.headers.contains_key("set-cookie"), "{path}");
    }
    seen
}

async fn a_forwarded_link_shows_and_does_the_same_elsewhere(backend: Backend) {
    for (action, form, says) in [
        ("solicitar", "", "Antecipação solicitada"),
        ("recusar", "motivo=x", "Você recusou esta oferta"),
    ] {
        let scene = Scene::new(backend).await;
        let other = colleague(&scene);
        for page in PAGES {
            let path = format!("{}{page}", scene.page);
            same_page(&scene.browser, &other, &path).await;
        }
        let page = same_page(&scene.browser, &other, &scene.page).await;
        page.assert_shows(200, &["Solicitar antecipação", "Recusar"]);
        let answered = other.submit(&scene.path(action), form).await;
        answered.assert_shows(200, &[says]);
        let page = same_page(&scene.browser, &other, &scene.page).await;
        page.assert_shows(200, &[says]);
        assert!(!page.html.contains("/solicitar"), "{}", page.html);
        let history = scene.history().await;
        assert_eq!(history.len(), 2, "{history:?}");
        assert_eq!(history[1].1, "SUPPLIER");
    }
}

async fn of_two_forwarded_copies_one_answers_and_both_show_it(backend: Backend) {
    const ROUNDS: usize = 6;
    let mut scene = Scene::new(backend).await;
    let other = colleague(&scene);
    for round in 0..ROUNDS {
        let number = format!("NF-1{round}");
        scene.operation = office::offer(&scene.sandbox, &number, ADDRESS).await;
        scene.page = scene.sandbox.page_of(scene.operation);
        let (request, decline) = (scene.path("solicitar"), scene.path("recusar"));
        let (requested, declined) = if round % 2 == 0 {
            tokio::join!(scene.browser.post(&request, ""), other.post(&decline, ""))
        } else {
            let both = tokio::join!(other.post(&decline, ""), scene.browser.post(&request, ""));
            (both.1, both.0)
        };
        let (late, says, status) = if requested.status == 303 {
            (declined, "Antecipação solicitada", "TO_APPROVE")
        } else {
            assert_eq!(declined.status, 303, "{}", declined.html);
            (requested, "Você recusou esta oferta", "REPROVED")
        };
        late.assert_shows(409, &["Nada foi feito", says]);
        assert_eq!(scene.status().await, status);
        assert_eq!(scene.history().await.len(), 2);
        let page = same_page(&scene.browser, &other, &scene.page).await;
        page.assert_shows(200, &[says]);
    }
}

/// It shows how the offer ended, to whoever has it, and nobody can answer any more.
async fn assert_closed(scene: &Scene, says: &str) {
    let other = colleague(scene);
    let events = scene.history().await.len();
    let page = same_page(&scene.browser, &other, &scene.page).await;
    page.assert_shows(200, &[says]);
    for action in ["solicitar", "recusar"] {
        let path = scene.path(action);
        assert!(!page.html.contains(&path), "{}", page.html);
        for browser in [&scene.browser, &other] {
            let form = browser.get(&path).await;
            assert_eq!((form.status, &form.headers["location"]), (303, &scene.page));
            let late = browser.post(&path, "").await;
            late.assert_shows(409, &["Nada foi feito", says]);
        }
    }
    assert_eq!(scene.history().await.len(), events);
}

async fn a_forwarded_link_of_a_closed_offer_shows_it_and_does_nothing(backend: Backend) {
    let cancelled = Scene::new(backend).await;
    cancelled.cancel().await;
    assert_closed(&cancelled, "Esta oferta foi cancelada").await;
    let expired = Scene::new(backend).await;
    advance(&expired.sandbox, 31 * DAY).await;
    // The event of the expiry comes a moment later.
    while expired.history().await.len() < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_closed(&expired, "Esta oferta expirou").await;
    let reproved = Scene::new(backend).await;
    reproved.act("request", json!({})).await;
    reproved.act("reprove", json!({"by": "COMPANY"})).await;
    assert_closed(&reproved, "O pedido não foi aprovado").await;
}
