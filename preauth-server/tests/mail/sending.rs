//! Staged mails are sent, with the right content.

use std::os::unix::fs::PermissionsExt;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::json;
use test_support::{
    Backend, MailServer, Sandbox, offer_body,
    office::{kept, list_mails, mail_of, offer, offer_as, start, until},
    on_each_database,
};

use crate::eml::Eml;

on_each_database! {
    without_a_mail_server_mails_become_files,
    a_mail_server_is_handed_what_was_staged,
    a_create_stages_one_mail_and_a_replay_or_a_refusal_none,
    texts_of_callers_become_no_links_in_a_mail,
}

const ADDRESS: &str = "Financeiro@fornecedor.example.com";

async fn without_a_mail_server_mails_become_files(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let operation = offer(&sandbox, "NF-1", ADDRESS).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    assert_eq!(sent["operationId"], operation);
    assert_eq!(sent["kind"], "OFFER");
    assert_eq!(sent["recipient"], ADDRESS);
    assert_eq!(sent["attempts"], 1);
    let path = kept(&sandbox, &sent);
    assert!(path.parent().unwrap().ends_with("data/mails"));
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mail = Eml::parse(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(mail.headers["to"], ADDRESS);
    assert!(mail.text.contains("R$\u{a0}12.500,50"), "{}", mail.text);
    assert!(sandbox.log().contains("OFFER sent: "), "{}", sandbox.log());
}

// Contract: service/mails
async fn a_mail_server_is_handed_what_was_staged(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    let mut body = offer_body(&sandbox, "NF-1042");
    body["supplier"] = json!({
        "cnpj": "45723001000100",
        "email": ADDRESS,
        "name": "Ação & Irmãos <Ltda>",
        "contactName": "Ana Souza",
    });
    offer_as(&sandbox, &body).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    assert_eq!(sent["kind"], "INVITATION");
    let taken = server.taken_for(ADDRESS);
    assert_eq!(taken.len(), 1);
    let mail = Eml::parse(&taken[0]);
    let id = format!("<{}@plataforma.example.com>", sent["id"].as_str().unwrap());
    assert_eq!(mail.headers["message-id"], id);
    assert_eq!(mail.headers["auto-submitted"], "auto-generated");
    assert!(mail.headers["from"].ends_with("<avisos@plataforma.example.com>"));
    for header in ["date", "subject", "mime-version"] {
        assert!(
            mail.headers.contains_key(header),
            "{header} in {}",
            taken[0]
        );
    }
    for shown in [
        "45.723.001/0001-00",
        "NF-1042",
        "R$\u{a0}12.500,50",
        "horário de Brasília",
    ] {
        assert!(mail.text.contains(shown), "{shown} in {}", mail.text);
        assert!(mail.html.contains(shown), "{shown} in {}", mail.html);
    }
    // The caller chose the supplier's name: it is untrusted text.
    for words in [&mail.text, &mail.html] {
        assert!(words.contains("Olá,"), "{words}");
        assert!(!words.contains("Irmãos"), "{words}");
    }
    let page = format!("{}{}", sandbox.text("portalUrl"), sandbox.page_of(1));
    assert_eq!(mail.html.matches("href=").count(), 2);
    for link in [format!("{page}\""), format!("{page}/nao-receber/")] {
        let link = format!("href=\"{link}");
        assert!(mail.html.contains(&link), "{link} in {}", mail.html);
    }
}

// Contract: service/mails
async fn a_create_stages_one_mail_and_a_replay_or_a_refusal_none(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1").to_string();
    let key = [("idempotency-key", "mails-0001")];
    for (headers, status) in [(&key[..], 201), (&key, 201), (&[], 409)] {
        let answer = caller.post_text(PRE_AUTHORIZATIONS, headers, body.as_str());
        assert_eq!(answer.await.status, status);
    }
    assert_eq!(list_mails(&sandbox, "").await.len(), 1);
    let mail = mail_of(&sandbox, 1).await;
    let path = format!("/api/platform/v1/notices/{}", mail["id"].as_str().unwrap());
    let found = sandbox.platform().get(&path).await.json();
    assert_eq!(found["recipient"], mail["recipient"]);
}

async fn texts_of_callers_become_no_links_in_a_mail(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    let mut body = offer_body(&sandbox, "http://evil.example.net/<script>1</script>");
    body["supplier"] = json!({
        "cnpj": "45723001000100",
        "email": ADDRESS,
        "name": "Pague em www.evil.example.net \"><script>alert(1)</script>",
        "contactName": "Ana",
    });
    offer_as(&sandbox, &body).await;
    until(&sandbox, 1, "SENT").await;
    let taken = server.taken_for(ADDRESS);
    let mail = Eml::parse(&taken[0]);
    for written in [&mail.text, &mail.html] {
        assert!(!written.contains("evil.example"), "{written}");
        let own = written.matches(sandbox.text("portalUrl")).count();
        assert_eq!(written.matches("http:/").count(), own, "{written}");
    }
    assert!(!mail.html.contains("<script"), "{}", mail.html);
    assert!(mail.html.contains("&lt;script"), "{}", mail.html);
    assert!(!mail.html.contains("Pague"), "{}", mail.html);
    assert!(!mail.headers["subject"].contains("evil"));
}
