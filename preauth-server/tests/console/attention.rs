//! What needs attention on the first page: each number leads to its list, and what is wrong with the instance
//! itself leads to its health.

use std::sync::Arc;

use preauth_server::http::platform::PREFIX;
use serde_json::Value;
use test_support::{
    Backend, Home, MailServer, Manner, Sandbox, Server, office, on_each_database, travel,
};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::browser::{Browser, browser};
use crate::pages::api_key;

on_each_database! {
    each_number_leads_to_its_list,
    overdue_deliveries_lead_to_their_list,
    an_endpoint_that_is_paused_and_a_key_that_ends_are_named,
    an_instance_that_only_reads_says_so_in_both_languages,
}

const TOKEN: &str = "operator-token-of-the-tests";

async fn attention(sandbox: &Sandbox) -> Value {
    let path = format!("{PREFIX}/attention");
    sandbox.platform().get(&path).await.json()
}

/// Waits until the API reports at least one of these.
async fn until(sandbox: &Sandbox, name: &str) {
    office::until_true(name, async || {
        attention(sandbox).await[name].as_u64() > Some(0)
    })
    .await;
}

/// Follows the link of a number on the first page, and returns the list.
async fn list_of(browser: &mut Browser, label: &str) -> String {
    let page = browser.page("/console").await;
    let row = page.split(&format!("<dt>{label}</dt>")).nth(1);
    assert!(row.is_some(), "no {label}: {page}");
    let href = row.unwrap().split("href=\"").nth(1).unwrap();
    let href = href.split('"').next().unwrap();
    browser.page(href).await
}

async fn each_number_leads_to_its_list(backend: Backend) {
    let receiver = MockServer::start().await;
    let failing = Mock::given(any()).respond_with(ResponseTemplate::new(500));
    failing.mount(&receiver).await;
    let mails = MailServer::start().await;
    mails.treat("ninguem@fornecedor.example.com", Manner::Refuse);
    let port = mails.address.port().to_string();
    let variables = [
        ("PREAUTH_MAIL_FROM", office::SENDER),
        (
            "PREAUTH_MAIL_PORTAL_URL",
            "https://plataforma.example.com/entrar",
        ),
        ("PREAUTH_MAIL_SMTP_HOST", "127.0.0.1"),
        ("PREAUTH_MAIL_SMTP_PORT", &port),
        ("PREAUTH_MAIL_SMTP_TLS", "none"),
        ("PREAUTH_MAIL_DAILY_SHARE_PER_COMPANY", "1"),
    ];
    let uri = receiver.uri();
    let flags = ["--rate-limit", "1000000", "--webhook-url", &uri];
    let sandbox = Sandbox::start_as(Home::of_a_sandbox(backend).await, &flags, &variables).await;
    let mut browser = browser(&sandbox).await;
    let calm = browser.page("/console").await;
    assert!(calm.contains("Nothing needs attention."), "{calm}");
    office::offer(&sandbox, "NF-1", "ninguem@fornecedor.example.com").await;
    office::offer(&sandbox, "NF-2", "fin@fornecedor.example.com").await;
    office::until(&sandbox, 1, "SENT").await;
    office::offer(&sandbox, "NF-3", "fin@fornecedor.example.com").await;
    for name in ["retriedDeliveries", "failedMails", "heldMails"] {
        until(&sandbox, name).await;
    }
    for (label, rows) in [
        ("deliveries after a failed attempt", "title=\"PENDING\""),
        ("held mails", "title=\"HELD\""),
        ("mails given up in 24 h", "title=\"FAILED\""),
    ] {
        let list = list_of(&mut browser, label).await;
        assert!(list.contains(rows), "{label}: {list}");
    }
    // The mail server's own text in a sentence of the reader's language.
    browser.language = "pt-BR";
    let refused = browser.page("/console/mails?status=FAILED").await;
    assert!(refused.contains(">recusado: "), "{refused}");
    assert!(!refused.contains(">refused: "), "{refused}");
    assert!(refused.contains("title=\"FAILED\">Com falha<"), "{refused}");
    let held = browser.page("/console/mails?status=HELD").await;
    assert!(held.contains("title=\"HELD\">Retido<"), "{held}");
    browser.language = "en";
    let company = sandbox.company().await;
    let page = browser.page("/console").await;
    let (_, failing) = page.split_once("<h2>Failing endpoints</h2>").unwrap();
    let (failing, _) = failing.split_once("</table>").unwrap();
    let link = format!("<a href=\"/console/companies/{company}\">");
    assert!(failing.contains(&link), "{page}");
    assert_eq!(
        page.matches("<figure class=\"card plot\">").count(),
        3,
        "{page}"
    );
    // Deliveries of an endpoint that is removed are given up.
    let endpoint = format!("/console/companies/{company}/webhook-endpoint");
    let removed = browser.submit(&format!("{endpoint}/delete"), &[]).await;
    assert_eq!(removed.status, 303, "{}", removed.text);
    until(&sandbox, "failedDeliveries").await;
    let list = list_of(&mut browser, "deliveries given up in 24 h").await;
    assert!(list.contains("title=\"FAILED\""), "{list}");
}

async fn overdue_deliveries_lead_to_their_list(backend: Backend) {
    // Accepts connections and answers nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let sandbox = Sandbox::start_sending_to(backend, &url).await;
    let mut browser = browser(&sandbox).await;
    office::offer(&sandbox, "NF-1", "fin@fornecedor.example.com").await;
    travel::advance(&sandbox, 600).await;
    until(&sandbox, "overdueDeliveries").await;
    let list = list_of(&mut browser, "overdue deliveries").await;
    assert!(list.contains("title=\"PENDING\""), "{list}");
}

async fn an_endpoint_that_is_paused_and_a_key_that_ends_are_named(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let home = format!("/console/companies/{company}");
    let paused = browser
        .submit(&format!("{home}/webhook-endpoint/pause"), &[])
        .await;
    assert_eq!(paused.status, 303, "{}", paused.text);
    let key = api_key(&sandbox, &company).await;
    let user = key["responsibleUserId"].as_str().unwrap();
    let fields = [
        ("name", "ERP que vence"),
        ("responsibleUserId", user),
        ("scopes", "preauth:read"),
        ("validityDays", "30"),
    ];
    let made = browser.submit(&format!("{home}/new-key"), &fields).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let page = browser.page("/console").await;
    let found = attention(&sandbox).await;
    let key = found["endingKeys"][0]["id"].as_str().unwrap();
    for part in [
        "Paused endpoints",
        &format!("href=\"{home}\""),
        "Keys that end within 30 days",
        &format!("href=\"/console/api-keys/{key}\">ERP que vence<"),
        &format!("href=\"{home}\">Construtora Exemplo S.A.<"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Nothing is left out, and nothing says so.
    assert!(!page.contains("These are the 20"), "{page}");
    for number in 0..20 {
        let name = format!("ERP {number}");
        let fields = [("name", name.as_str()), fields[1], fields[2], fields[3]];
        let made = browser.submit(&format!("{home}/new-key"), &fields).await;
        assert_eq!(made.status, 200, "{}", made.text);
    }
    let page = browser.page("/console").await;
    assert!(page.contains("These are the 20 that end first"), "{page}");
    browser.language = "pt-BR";
    let page = browser.page("/console").await;
    assert!(
        page.contains("Estas são as 20 que vencem primeiro"),
        "{page}"
    );
}

async fn an_instance_that_only_reads_says_so_in_both_languages(backend: Backend) {
    let home = Arc::new(Home::new(backend).await);
    let first = Server::start_in(Arc::clone(&home), TOKEN).await;
    let browser = Browser::signed_in(&first.platform_url, TOKEN).await;
    let mut there = browser.elsewhere(&first.platform_url);
    let health = there.page("/console/health").await;
    assert!(
        health.contains("This instance serves requests."),
        "{health}"
    );
    let calm = there.page("/console").await;
    assert!(calm.contains("Nothing needs attention."), "{calm}");
    first.stop();
    let quiet = [("PREAUTH_QUIET_OUTBOUND", "true")];
    let second = Server::start_with(home, TOKEN, &quiet).await;
    let mut there = browser.elsewhere(&second.platform_url);
    for (language, says, absent) in [
        (
            "en",
            "This instance does not serve all requests:",
            "Nothing needs attention.",
        ),
        (
            "pt-BR",
            "Esta instância não atende todas as requisições: foi iniciada com --quiet-outbound: nada é gravado nem enviado.",
            "Nada precisa de atenção.",
        ),
    ] {
        there.language = language;
        let health = there.page("/console/health").await;
        assert!(health.contains(says), "{health}");
        assert!(!health.contains("notice good"), "{health}");
        let page = there.page("/console").await;
        let link = format!("<a href=\"/console/health\">{says}");
        assert!(page.contains(&link), "{page}");
        assert!(!page.contains(absent), "{page}");
    }
}
