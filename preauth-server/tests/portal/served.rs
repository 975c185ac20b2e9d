//! The page of `serve`: off unless configured, held, without a database, under load, and in the log.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use test_support::{Backend, Home, LOG_EVERYTHING, RawCaller, Server, cluster, on_each_database};

use crate::browser::Browser;
use crate::scene::Scene;

on_each_database! {
    without_its_settings_there_is_no_page_and_no_link,
    no_link_is_in_the_log,
    an_instance_that_is_held_answers_later,
    mails_have_headers_to_end_them,
}

const LISTEN: (&str, &str) = ("PREAUTH_PORTAL_LISTEN", "127.0.0.1:0");
const URL: (&str, &str) = ("PREAUTH_PORTAL_URL", "https://ofertas.example.com");

/// A home with an open offer.
struct Offered {
    home: Arc<Home>,
    token: String,
    key: String,
    /// The path of the offer's page.
    page: String,
    body: serde_json::Value,
}

async fn offered(backend: Backend) -> Offered {
    let scene = Scene::new(backend).await;
    test_support::office::until(&scene.sandbox, 1, "SENT").await;
    Offered {
        token: scene.sandbox.text("platformToken").to_owned(),
        key: scene.sandbox.text("apiKey").to_owned(),
        body: test_support::offer_body(&scene.sandbox, "NF-2"),
        page: scene.page,
        home: Arc::new(scene.sandbox.kill()),
    }
}

impl Offered {
    async fn serve(&self, settings: &[(&str, &str)]) -> Server {
        Server::start_with(Arc::clone(&self.home), &self.token, settings).await
    }

    async fn status(&self, server: &Server) -> String {
        let platform = RawCaller::new(&server.platform_url, Some(&self.token));
        let found = platform.get("/api/platform/v1/operations/1").await;
        found.json()["status"].as_str().unwrap().to_owned()
    }

    /// Makes another offer, and returns its mail.
    async fn mail_of_another(&self, server: &Server) -> String {
        let erp = RawCaller::new(&server.base_url, Some(&self.key));
        let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
        let created = erp.post_json(path, &self.body).await;
        assert_eq!(created.status, 201, "{}", created.text);
        let folder = self.home.folder().join("data/mails");
        let before = std::fs::read_dir(&folder).unwrap().count();
        let newest = async || {
            let files = std::fs::read_dir(&folder).unwrap();
            let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
            files.retain(|path| path.extension().is_some_and(|it| it == "eml"));
            files.sort();
            (files.len() > before.min(1)).then(|| files.pop().unwrap())
        };
        test_support::office::until_true("a second mail", async || newest().await.is_some()).await;
        std::fs::read_to_string(newest().await.unwrap()).unwrap()
    }
}

async fn without_its_settings_there_is_no_page_and_no_link(backend: Backend) {
    let offered = offered(backend).await;
    let server = offered.serve(&[]).await;
    assert_eq!(server.portal_url, "");
    for other in [&server.base_url, &server.platform_url] {
        let found = Browser::at(other).get(&offered.page).await;
        assert!(found.status >= 400, "{}", found.html);
        assert!(!found.html.contains("Solicitar"), "{}", found.html);
    }
    let mail = offered.mail_of_another(&server).await;
    assert!(!mail.contains("/oferta/"), "{mail}");
    assert!(!mail.contains("List-Unsubscribe"), "{mail}");
}

async fn no_link_is_in_the_log(backend: Backend) {
    let offered = offered(backend).await;
    let server = offered.serve(&[LISTEN, URL, LOG_EVERYTHING]).await;
    let browser = Browser::at(&server.portal_url);
    let mail = offered.mail_of_another(&server).await.replace("=\r\n", "");
    assert!(
        mail.contains("https://ofertas.example.com/oferta/"),
        "{mail}"
    );
    for action in ["", "/solicitar", "/recusar", "/nao-receber", "/unknown"] {
        browser.get(&format!("{}{action}", offered.page)).await;
    }
    browser
        .post(&format!("{}/solicitar", offered.page), "")
        .await;
    assert_eq!(offered.status(&server).await, "TO_APPROVE");
    let link = offered.page.strip_prefix("/oferta/").unwrap();
    let (token, _) = link.split_once('.').unwrap();
    let log = server.stop();
    assert!(!log.contains(token), "the link is in the log");
    let other = mail.split("/oferta/").nth(1).unwrap();
    assert!(!log.contains(&other[..32]), "a mail's link is in the log");
    for path in ["/oferta/{link}", "/oferta/{link}/solicitar", "(hidden)"] {
        let logged = format!("\"listener\":\"portal\",\"method\":\"GET\",\"path\":\"{path}\"");
        assert!(log.contains(&logged), "{logged}");
    }
}

async fn an_instance_that_is_held_answers_later(backend: Backend) {
    let offered = offered(backend).await;
    let held = [LISTEN, URL, ("PREAUTH_QUIET_OUTBOUND", "true")];
    let server = offered.serve(&held).await;
    let browser = Browser::at(&server.portal_url);
    let page = browser.get(&offered.page).await;
    page.assert_shows(200, &["Oferta de antecipação"]);
    for action in ["solicitar", "recusar", "nao-receber"] {
        let later = browser
            .post(&format!("{}/{action}", offered.page), "")
            .await;
        later.assert_shows(503, &["Tente de novo mais tarde"]);
        assert_eq!(later.headers["retry-after"], "30");
    }
    assert_eq!(offered.status(&server).await, "IN_PRE_AUTH");
}

async fn mails_have_headers_to_end_them(backend: Backend) {
    let offered = offered(backend).await;
    let server = offered.serve(&[LISTEN, URL]).await;
    let mail = offered.mail_of_another(&server).await.replace("\r\n ", " ");
    let mut lines = mail.lines();
    let header = lines.find_map(|line| line.strip_prefix("List-Unsubscribe: "));
    let url = header
        .unwrap()
        .trim_start_matches('<')
        .trim_end_matches('>');
    let path = url.strip_prefix("https://ofertas.example.com").unwrap();
    assert!(path.contains("/nao-receber/"), "{url}");
    assert!(
        mail.contains("\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"),
        "{mail}"
    );
    let browser = Browser::at(&server.portal_url);
    let ended = browser.post(path, "List-Unsubscribe=One-Click").await;
    ended.assert_shows(200, &["E-mails encerrados"]);
}

#[tokio::test]
async fn a_client_that_asks_too_often_waits_whether_its_links_are_valid_or_not() {
    let offered = offered(Backend::Sqlite).await;
    let proxies = ("PREAUTH_TRUSTED_PROXIES", "127.0.0.0/8");
    let server = offered.serve(&[LISTEN, URL, proxies]).await;
    let browser = Browser::at(&server.portal_url);
    let from = |address| [("x-forwarded-for", address)];
    let get = async |address, path: &str| {
        let headers = from(address);
        browser.send(reqwest::Method::GET, path, &headers, "").await
    };
    for n in 0..600 {
        let path = if n % 2 == 0 {
            "/oferta/guess.1.1"
        } else {
            offered.page.as_str()
        };
        let status = get("203.0.113.7", path).await.status;
        assert!([200, 404].contains(&status), "{n}: {status}");
    }
    let refused = get("203.0.113.7", &offered.page).await;
    refused.assert_shows(429, &["Acessos demais"]);
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(get("203.0.113.8", &offered.page).await.status, 200);
}

#[tokio::test]
async fn without_its_database_the_page_says_later_and_then_goes_on() {
    let offered = offered(Backend::Postgres).await;
    let server = offered.serve(&[LISTEN, URL]).await;
    let browser = Browser::at(&server.portal_url);
    assert_eq!(browser.get(&offered.page).await.status, 200);
    let url = offered.home.database_flags().pop().unwrap();
    let name = url
        .rsplit('/')
        .next()
        .unwrap()
        .split('?')
        .next()
        .unwrap()
        .to_owned();
    let mut admin = PgConnection::connect(&format!("{}/postgres", cluster::url()))
        .await
        .unwrap();
    let refuse = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false");
    let hang_up =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    for statement in [refuse, hang_up] {
        admin.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    for path in ["", "/recusar"] {
        let later = browser.get(&format!("{}{path}", offered.page)).await;
        later.assert_shows(503, &["Tente de novo mais tarde"]);
    }
    let later = browser
        .post(&format!("{}/solicitar", offered.page), "")
        .await;
    let says = [
        "Tente de novo mais tarde",
        "veja se a resposta foi registrada",
    ];
    later.assert_shows(503, &says);
    assert_eq!(later.headers["retry-after"], "1");
    // A guess costs the database nothing.
    assert_eq!(browser.get("/oferta/guess.1.1").await.status, 404);
    let allow = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true");
    admin.execute(AssertSqlSafe(allow)).await.unwrap();
    let is_back = async || browser.get(&offered.page).await.status == 200;
    test_support::office::until_true("the page is back", is_back).await;
    // The answer that was refused was not recorded, and is now.
    let form = format!("{}/solicitar", offered.page);
    assert_eq!(browser.submit(&form, "").await.status, 200);
}
