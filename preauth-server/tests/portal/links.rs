//! Links that open nothing, or nothing any more.

use test_support::{
    Backend, Sandbox, on_each_database,
    travel::{DAY, advance},
    write_secret,
};

use crate::readings::PAGES;
use crate::scene::Scene;

on_each_database! {
    a_guesser_learns_nothing_about_operations,
    a_link_ends_thirty_days_after_the_answer,
    a_link_of_an_offer_that_expired_ends_thirty_days_later,
    links_survive_the_rotation_of_the_master_key,
}

async fn a_guesser_learns_nothing_about_operations(backend: Backend) {
    let scene = Scene::new(backend).await;
    let link = scene.page.strip_prefix("/oferta/").unwrap();
    let (token, _) = link.split_once('.').unwrap();
    let other = if token.starts_with('A') { "B" } else { "A" };
    let changed = format!("{other}{}", &token[1..]);
    let mut answers = Vec::new();
    for guess in [
        // Of an operation that there is, and of one that there is not.
        format!("{changed}.1.1"),
        format!("{changed}.999999.1"),
        format!("{token}.2.1"),
        format!("{token}.999999.1"),
        format!("{token}.1.2"),
        "1".to_owned(),
        "A".repeat(32),
    ] {
        for page in PAGES {
            let path = format!("/oferta/{guess}{page}");
            let read = scene.browser.get(&path).await;
            assert_eq!(read.status, 404, "{path}");
            answers.push(read.html.replace(&path, "PATH"));
            if !page.is_empty() {
                let sent = scene.browser.post(&path, "").await;
                assert_eq!(sent.status, 404, "{path}");
                answers.push(sent.html.replace(&path, "PATH"));
            }
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains("Este link não é válido"), "{answers:?}");
    assert_eq!(scene.status().await, "IN_PRE_AUTH");
}

async fn assert_over(scene: &Scene) {
    for page in PAGES {
        let path = format!("{}{page}", scene.page);
        let read = scene.browser.get(&path).await;
        read.assert_shows(410, &["Este link foi encerrado"]);
        assert!(!read.html.contains("Construtora"), "{}", read.html);
        if !page.is_empty() {
            let sent = scene.browser.post(&path, "").await;
            sent.assert_shows(410, &["Este link foi encerrado"]);
        }
    }
}

async fn a_link_ends_thirty_days_after_the_answer(backend: Backend) {
    let scene = Scene::new(backend).await;
    scene.browser.submit(&scene.path("solicitar"), "").await;
    advance(&scene.sandbox, 15 * DAY).await;
    // Later events do not prolong it.
    scene.act("approve", serde_json::json!({})).await;
    advance(&scene.sandbox, 15 * DAY - 600).await;
    let page = scene.browser.get(&scene.page).await;
    page.assert_shows(200, &["Em análise"]);
    advance(&scene.sandbox, 1_200).await;
    assert_over(&scene).await;
}

async fn a_link_of_an_offer_that_expired_ends_thirty_days_later(backend: Backend) {
    let scene = Scene::new(backend).await;
    advance(&scene.sandbox, 31 * DAY).await;
    let page = scene.browser.get(&scene.page).await;
    page.assert_shows(200, &["Esta oferta expirou"]);
    assert!(!page.html.contains("/solicitar"), "{}", page.html);
    advance(&scene.sandbox, 28 * DAY).await;
    assert_eq!(scene.browser.get(&scene.page).await.status, 200);
    advance(&scene.sandbox, 2 * DAY).await;
    assert_over(&scene).await;
}

async fn links_survive_the_rotation_of_the_master_key(backend: Backend) {
    let Scene { sandbox, page, .. } = Scene::new(backend).await;
    let home = sandbox.kill();
    let file = home.folder().join("data").join("master.key");
    let former = std::fs::read_to_string(&file).unwrap();
    let new = "51".repeat(32);
    write_secret(&file, &format!("{new}\n{former}\n"));
    let sandbox = Sandbox::start_in(home, &["--rate-limit", "1000000"]).await;
    let second = test_support::office::offer(&sandbox, "NF-2", crate::scene::ADDRESS).await;
    let browser = crate::browser::Browser::of(&sandbox);
    assert_eq!(browser.get(&page).await.status, 200);
    let under_new = sandbox.page_of(second);
    assert_eq!(browser.get(&under_new).await.status, 200);
    let path = "/api/platform/v1/master-keys/reencrypt";
    let reencrypted = sandbox.platform().post(path).await;
    assert_eq!(reencrypted.status, 200, "{}", reencrypted.text);

    let home = sandbox.kill();
    write_secret(&file, &format!("{new}\n"));
    let sandbox = Sandbox::start_in(home, &["--rate-limit", "1000000"]).await;
    let browser = crate::browser::Browser::of(&sandbox);
    browser
        .get(&page)
        .await
        .assert_shows(404, &["não é válido"]);
    assert_eq!(browser.get(&under_new).await.status, 200);
}
