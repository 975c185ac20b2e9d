//! Readers who want no mails get none, visibly, until an operator undoes it.

use std::time::Duration;

use reqwest::Method;
use test_support::office::{kept, until};
use test_support::travel::{DAY, advance};
use test_support::{Backend, office, on_each_database};

use crate::answers::links_in;
use crate::browser::FORM;
use crate::scene::{ADDRESS, Scene};

on_each_database! {
    an_address_that_wants_no_mails_gets_none_until_it_is_removed,
    mail_programs_end_mails_with_one_request,
    an_address_counts_however_it_is_spelled,
    the_link_in_a_mail_ends_mails_when_the_mails_record_is_gone,
}

async fn an_address_that_wants_no_mails_gets_none_until_it_is_removed(backend: Backend) {
    let scene = Scene::new(backend).await;
    until(&scene.sandbox, 1, "SENT").await;
    let path = scene.path("nao-receber");
    let asked = scene.browser.get(&path).await;
    asked.assert_shows(200, &["Não receber mais", "fi•••@fornecedor.example.com"]);
    assert!(!asked.html.contains(ADDRESS), "{}", asked.html);
    let ended = scene.browser.post(&path, "").await;
    ended.assert_shows(200, &["E-mails encerrados"]);
    let again = scene.browser.post(&path, "").await;
    again.assert_shows(200, &["E-mails encerrados"]);
    scene
        .browser
        .get(&path)
        .await
        .assert_shows(200, &["E-mails encerrados"]);

    let next = office::offer(&scene.sandbox, "NF-2", ADDRESS).await;
    let suppressed = until(&scene.sandbox, 1, "SUPPRESSED").await.remove(0);
    assert_eq!(suppressed["operationId"], next);
    assert_eq!(suppressed["attempts"], 0);
    assert!(
        office::list_mails(&scene.sandbox, "status=CANCELED")
            .await
            .is_empty()
    );
    let other = office::offer(&scene.sandbox, "NF-3", "outra@fornecedor.example.com").await;
    let sent = until(&scene.sandbox, 2, "SENT").await;
    assert!(
        sent.iter().any(|mail| mail["operationId"] == other),
        "{sent:?}"
    );
    let metrics = scene.sandbox.platform().get("/metrics").await.text;
    assert!(
        metrics.contains("\npreauth_mails_suppressed_total 1\n"),
        "{metrics}"
    );

    let listed = scene.platform("/suppressed-addresses").await;
    assert_eq!(listed["pagination"]["total"], 1);
    let entry = &listed["data"][0];
    assert_eq!(
        (&entry["address"], &entry["operationId"]),
        (&ADDRESS.into(), &1.into())
    );
    let one = format!("/suppressed-addresses/{}", entry["id"].as_str().unwrap());
    assert_eq!(scene.platform(&one).await, *entry);
    let removed = scene.send(Method::DELETE, &one).await;
    assert_eq!(removed.status, 204, "{}", removed.text);
    assert_eq!(scene.send(Method::DELETE, &one).await.status, 404);
    let log = scene
        .platform("/audit-log?action=removeSuppressedAddress")
        .await;
    assert_eq!(log["data"][0]["record"], one[1..]);
    assert!(!log.to_string().contains(ADDRESS), "{log}");

    // What was not sent is sent when an operator says so.
    let mail = suppressed["id"].as_str().unwrap();
    let resent = scene
        .send(Method::POST, &format!("/notices/{mail}/resend"))
        .await;
    assert_eq!(resent.status, 200, "{}", resent.text);
    until(&scene.sandbox, 3, "SENT").await;
}

async fn mail_programs_end_mails_with_one_request(backend: Backend) {
    for (content_type, body) in [
        (FORM.1, "List-Unsubscribe=One-Click"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n",
        ),
    ] {
        let scene = Scene::new(backend).await;
        let headers = [("content-type", content_type)];
        let path = scene.path("nao-receber");
        let ended = scene
            .browser
            .send(Method::POST, &path, &headers, body)
            .await;
        ended.assert_shows(200, &["E-mails encerrados"]);
        let listed = scene.platform("/suppressed-addresses").await;
        assert_eq!(listed["data"][0]["address"], ADDRESS);
    }
}

async fn the_link_in_a_mail_ends_mails_when_the_mails_record_is_gone(backend: Backend) {
    let scene = Scene::new(backend).await;
    let sent = until(&scene.sandbox, 1, "SENT").await.remove(0);
    let mail = std::fs::read_to_string(kept(&scene.sandbox, &sent)).unwrap();
    assert!(!scene.page.contains(ADDRESS));
    let link = links_in(&mail, scene.sandbox.text("portalUrl")).remove(1);
    // Offer, mail and page are over; the mail may still be read.
    advance(&scene.sandbox, 31 * DAY).await;
    let closing = async { while scene.status().await == "IN_PRE_AUTH" {} };
    let expired = tokio::time::timeout(Duration::from_mins(1), closing).await;
    assert!(expired.is_ok(), "still open");
    advance(&scene.sandbox, 70 * DAY).await;
    let record = format!("/notices/{}", sent["id"].as_str().unwrap());
    until_gone(&scene, &record).await;
    assert_eq!(scene.browser.get(&scene.page).await.status, 410);
    let masked = "fi•••@fornecedor.example.com";
    let asked = scene.browser.get(&link).await;
    asked.assert_shows(200, &["Não receber mais", masked]);
    assert!(!asked.html.contains(ADDRESS), "{}", asked.html);
    let english = scene.browser.get(&format!("{link}?idioma=en")).await;
    english.assert_shows(200, &["Receive no more", &format!("{link}?idioma=en")]);
    let total = async || {
        let listed = scene.platform("/suppressed-addresses").await;
        listed["pagination"]["total"].clone()
    };
    assert_eq!(total().await, 0);
    // A link with another address in it, or with a part of it, is none.
    for wrong in [format!("{link}0"), link.replace(".1/nao", ".2/nao")] {
        assert_eq!(scene.browser.get(&wrong).await.status, 404, "{wrong}");
        assert_eq!(scene.browser.post(&wrong, "").await.status, 404, "{wrong}");
    }
    for _ in 0..2 {
        let ended = scene.browser.post(&link, "List-Unsubscribe=One-Click");
        ended
            .await
            .assert_shows(200, &["E-mails encerrados", masked]);
    }
    assert_eq!(total().await, 1);
    office::offer(&scene.sandbox, "NF-2", ADDRESS).await;
    until(&scene.sandbox, 1, "SUPPRESSED").await;
}

async fn until_gone(scene: &Scene, record: &str) {
    let path = format!("/api/platform/v1{record}");
    let gone = async {
        while scene.sandbox.platform().get(&path).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone)
        .await
        .unwrap();
}

async fn an_address_counts_however_it_is_spelled(backend: Backend) {
    let sandbox = test_support::Sandbox::start(backend).await;
    let spelled = "Financeiro+NF@Fornecedor.example.com";
    let operation = office::offer(&sandbox, "NF-1", spelled).await;
    let scene = Scene::of(sandbox, operation);
    until(&scene.sandbox, 1, "SENT").await;
    scene
        .browser
        .post(&scene.path("nao-receber"), "")
        .await
        .assert_shows(200, &[]);
    let found = scene
        .platform(&format!("/suppressed-addresses?address={ADDRESS}"))
        .await;
    assert_eq!(found["data"][0]["address"], ADDRESS, "{found}");
    let other = "/suppressed-addresses?address=outra@fornecedor.example.com";
    assert_eq!(scene.platform(other).await["pagination"]["total"], 0);
    for (number, address) in [
        ("NF-2", ADDRESS),
        ("NF-3", "FINANCEIRO+x@fornecedor.example.com"),
    ] {
        office::offer(&scene.sandbox, number, address).await;
    }
    until(&scene.sandbox, 2, "SUPPRESSED").await;
}
