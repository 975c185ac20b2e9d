//! From the offer to the webhook, by the link in the mail.

use test_support::{
    Backend, Sandbox, TestReceiver,
    office::{self, kept, until},
    on_each_database,
};

use crate::scene::{ADDRESS, Scene};

on_each_database! {
    an_offer_is_requested_by_the_link_in_its_mail,
    an_offer_is_declined_with_a_reason_that_the_company_reads,
    joined_offers_have_a_link_each,
}

/// The links in a mail's text, which is encoded in lines that end in `=`.
pub(crate) fn links_in(mail: &str, base: &str) -> Vec<String> {
    let unfolded = mail.replace("=\r\n", "");
    let (text, _) = unfolded.split_once("text/html").unwrap();
    let links = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix(base));
    links.map(ToOwned::to_owned).collect()
}

async fn an_offer_is_requested_by_the_link_in_its_mail(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    let mail = std::fs::read_to_string(kept(&sandbox, &sent)).unwrap();
    let links = links_in(&mail, sandbox.text("portalUrl"));
    let scene = Scene::of(sandbox, operation);
    assert_eq!((links.len(), &links[0]), (2, &scene.page));
    let end = format!("{}/", scene.path("nao-receber"));
    assert!(links[1].starts_with(&end), "{links:?}");

    let page = scene.browser.get(&links[0]).await;
    let facts = [
        "R$ 12.500,50",
        "NF-1",
        "horário de Brasília",
        "Construtora Exemplo S.A.",
    ];
    page.assert_shows(200, &facts);
    page.assert_shows(200, &["Solicitar antecipação", "Recusar"]);
    let confirm = scene.browser.get(&scene.path("solicitar")).await;
    confirm.assert_shows(
        200,
        &[
            "Solicitar a antecipação?",
            "method=\"post\"",
            "R$ 12.500,50",
        ],
    );
    assert_eq!(scene.status().await, "IN_PRE_AUTH");

    let requested = scene.browser.submit(&scene.path("solicitar"), "").await;
    requested.assert_shows(200, &["Antecipação solicitada", "aria-current=\"step\""]);
    assert!(!requested.html.contains("/solicitar"), "{}", requested.html);
    let secret = scene.sandbox.text("webhookSecret");
    let arrived = receiver.arrived(2, secret).await;
    let types: Vec<_> = arrived.iter().map(|it| it.body["type"].clone()).collect();
    assert!(
        types.contains(&"anticipation.requested".into()),
        "{types:?}"
    );
    let history = scene.history().await;
    let last = ("anticipation.requested".to_owned(), "SUPPLIER".to_owned());
    assert_eq!(history[1..], [last]);
    let shown = scene.platform(&format!("/operations/{operation}")).await;
    assert_eq!(shown["history"][1]["operator"], serde_json::Value::Null);
}

async fn an_offer_is_declined_with_a_reason_that_the_company_reads(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
    let scene = Scene::of(sandbox, operation);
    let path = scene.path("recusar");
    let confirm = scene.browser.get(&path).await;
    confirm.assert_shows(200, &["Recusar a oferta?", "Motivo (opcional)"]);
    let form = "motivo=Prefiro+receber%0D%0Ano+vencimento+%3Cb%3E";
    let declined = scene.browser.submit(&path, form).await;
    declined.assert_shows(200, &["Você recusou esta oferta"]);
    let secret = scene.sandbox.text("webhookSecret");
    let arrived = receiver.arrived(2, secret).await;
    let event = arrived
        .iter()
        .find(|it| it.body["type"] == "pre_authorization.declined");
    let reason = event.unwrap().body["data"].to_string();
    assert!(
        reason.contains("Prefiro receber no vencimento <b>"),
        "{reason}"
    );
    assert_eq!(scene.status().await, "REPROVED");
}

async fn joined_offers_have_a_link_each(backend: Backend) {
    let variables = [("PREAUTH_MAIL_DAILY_SHARE_PER_COMPANY", "1")];
    let home = test_support::Home::of_a_sandbox(backend).await;
    let sandbox = Sandbox::start_as(home, office::FLAGS, &variables).await;
    office::offer(&sandbox, "NF-1", ADDRESS).await;
    until(&sandbox, 1, "SENT").await;
    for number in ["NF-2", "NF-3"] {
        office::offer(&sandbox, number, ADDRESS).await;
    }
    until(&sandbox, 2, "HELD").await;
    test_support::travel::advance(&sandbox, test_support::travel::DAY).await;
    let sent = until(&sandbox, 3, "SENT").await;
    let joint = sent
        .iter()
        .find(|mail| mail["joinedTo"].is_string())
        .unwrap();
    let lead = joint["joinedTo"].as_str().unwrap();
    let path = sandbox.data().join("mails").join(format!("{lead}.eml"));
    let mail = std::fs::read_to_string(path).unwrap();
    let links = links_in(&mail, sandbox.text("portalUrl"));
    let end = format!("{}/nao-receber/", sandbox.page_of(2));
    assert_eq!(links[..2], [sandbox.page_of(2), sandbox.page_of(3)]);
    assert!(links.len() == 3 && links[2].starts_with(&end), "{links:?}");
}
