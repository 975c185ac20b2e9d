//! The database goes away in the middle of a session, and comes back.

use preauth_server::http::platform::PREFIX;
use sqlx::{Connection as _, Executor as _, PgPool, SqliteConnection};
use test_support::{Answer, Backend, OwnCluster, Sandbox};

use crate::browser::{Browser, browser};

/// Language, what a page says, what a form says, and what a form says whose outcome nobody knows.
const SAID: [(&str, &str, &str, &str); 2] = [
    (
        "en",
        "Nothing was lost, and your session stays open.",
        "Nothing was done. Send the form again in a moment.",
        "It is not known whether this was done",
    ),
    (
        "pt-BR",
        "Nada se perdeu, e sua sessão continua aberta.",
        "Nada foi feito. Envie o formulário de novo em instantes.",
        "Não se sabe se isto foi feito",
    ),
];
/// Holds back the change of an operation.
const SLOW: &str = "CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
     CREATE TRIGGER slow BEFORE UPDATE ON operations FOR EACH ROW EXECUTE FUNCTION slow()";
const IS_HELD_BACK: &str =
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')";

async fn on(cluster: &OwnCluster) -> Sandbox {
    let url = cluster.url();
    let flags = ["--rate-limit", "1000000", "--database", &url];
    Sandbox::start_with(Backend::Sqlite, &flags).await
}

async fn requested(sandbox: &Sandbox, browser: &mut Browser, number: &str) -> i64 {
    let offer = test_support::offer_body(sandbox, number);
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    let offered = sandbox.caller("apiKey").post_json(path, &offer).await;
    let id = offered.json()["id"].as_i64().unwrap();
    let path = format!("/console/operations/{id}/request");
    assert_eq!(browser.submit(&path, &[]).await.status, 303);
    id
}

async fn status(sandbox: &Sandbox, id: i64) -> String {
    let path = format!("{PREFIX}/operations/{id}");
    let found = sandbox.platform().get(&path).await.json();
    found["status"].as_str().unwrap().to_owned()
}

async fn until_ready(sandbox: &Sandbox) {
    let stranger = sandbox.platform();
    let ready = async { while stranger.get("/readyz").await.status != 200 {} };
    let ready = tokio::time::timeout(std::time::Duration::from_mins(1), ready).await;
    assert!(ready.is_ok(), "not ready again: {}", sandbox.log());
}

/// A page that says so, with the next step, and leaves the session alone.
fn assert_away(answer: &Answer, says: &str, again: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text);
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    for absent in ["set-cookie", "content-disposition", "location"] {
        assert!(!answer.headers.contains_key(absent), "{absent}");
    }
    let again = format!("href=\"{again}\"");
    for part in [says, "preauth-server doctor", &again] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_session_outlives_its_database_and_nothing_is_done_meanwhile() {
    let cluster = OwnCluster::start();
    let sandbox = on(&cluster).await;
    let mut browser = browser(&sandbox).await;
    let id = requested(&sandbox, &mut browser, "NF-1").await;
    let page = format!("/console/operations/{id}");
    let approve = format!("{page}/approve");
    let form = browser.page(&approve).await;
    let live = browser.page(&page).await;
    assert!(live.contains("data-live"), "{live}");
    cluster.control("--mode fast stop").await;
    for (language, page_says, form_says, _) in SAID {
        browser.language = language;
        for path in [page.as_str(), "/console", "/console/operations.csv?cnpj=1"] {
            assert_away(&browser.get(path).await, page_says, path);
        }
        let refused = browser.submit_again(&form, &approve, &[]).await;
        assert_away(&refused, form_says, &approve);
    }
    // Of a session that is not there yet nothing is promised.
    let mut other = Browser::at(&browser.url);
    for (language, says) in [
        ("en", "Nothing was done. Try again in a moment."),
        ("pt-BR", "Nada foi feito. Tente de novo em instantes."),
    ] {
        other.language = language;
        let refused = other.sign_in(sandbox.text("platformToken")).await;
        assert_away(&refused, says, "/console/sign-in");
        for wrong in ["your session", "sua sessão"] {
            assert!(!refused.text.contains(wrong), "{}", refused.text);
        }
    }
    // The cause is in the log, with the server's name.
    let log = sandbox.log();
    let of_sign_in = log.lines().filter(|line| line.contains("/console/sign-in"));
    let no_connection = |line: &str| {
        line.contains("no connection to the database at ") && line.contains("Connection refused")
    };
    let has_cause = |line: &str| line.contains(" 503 ") && no_connection(line);
    assert!(of_sign_in.clone().any(has_cause), "{log}");
    let noted = log
        .lines()
        .filter(|line| line.contains("tried again until it succeeds"));
    assert_eq!(noted.filter(|line| no_connection(line)).count(), 1, "{log}");
    cluster.control("start").await;
    until_ready(&sandbox).await;
    browser.language = "en";
    browser.page(&page).await;
    assert_eq!(status(&sandbox, id).await, "TO_APPROVE");
    // The form that was refused is still good.
    let done = browser.submit_again(&form, &approve, &[]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert_eq!(status(&sandbox, id).await, "IN_ANALYSIS");
}

/// The connection breaks while the database commits, and it stays away.
#[tokio::test]
async fn a_form_whose_outcome_is_unknown_says_so_and_where_to_look() {
    let cluster = OwnCluster::start();
    let sandbox = on(&cluster).await;
    let mut browser = browser(&sandbox).await;
    let mut operations = Vec::new();
    for number in ["NF-1", "NF-2"] {
        operations.push(requested(&sandbox, &mut browser, number).await);
    }
    let sql = PgPool::connect(&cluster.url()).await.unwrap();
    sqlx::raw_sql(SLOW).execute(&sql).await.unwrap();
    for ((language, _, _, unknown), id) in SAID.into_iter().zip(&operations) {
        browser.language = language;
        let approve = format!("/console/operations/{id}/approve");
        let form = browser.page(&approve).await;
        let mut sending = browser.clone();
        let sent = {
            let approve = approve.clone();
            tokio::spawn(async move { sending.submit_again(&form, &approve, &[]).await })
        };
        let sql = PgPool::connect(&cluster.url()).await.unwrap();
        let is_held = || sqlx::query_scalar::<_, bool>(IS_HELD_BACK).fetch_one(&sql);
        while !is_held().await.unwrap() {}
        cluster.control("--mode immediate stop").await;
        let answer = sent.await.unwrap();
        assert_eq!(answer.status, 500, "{}", answer.text);
        for part in [
            unknown,
            "href=\"/console/log\"",
            &format!("href=\"{approve}\""),
        ] {
            assert!(answer.text.contains(part), "{part}: {}", answer.text);
        }
        cluster.control("start").await;
        until_ready(&sandbox).await;
        // The audit log answers what the page could not.
        let path = format!("{PREFIX}/audit-log?action=approveOperation&record=operations/{id}");
        let log = sandbox.platform().get(&path).await.json();
        let is_done = status(&sandbox, *id).await != "TO_APPROVE";
        assert_eq!(log["pagination"]["total"], u64::from(is_done), "{log}");
    }
}

#[tokio::test]
async fn a_form_that_waits_in_vain_for_sqlite_keeps_what_was_typed() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let mut browser = browser(&sandbox).await;
    let id = requested(&sandbox, &mut browser, "NF-1").await;
    let path = format!("/console/operations/{id}/reprove-by-company");
    let form = browser.page(&path).await;
    let url = format!("sqlite://{}", sandbox.data().join("preauth.db").display());
    let mut holder = SqliteConnection::connect(&url).await.unwrap();
    holder.execute("BEGIN IMMEDIATE").await.unwrap();
    for (language, _, says, _) in SAID {
        browser.language = language;
        browser.page(&format!("/console/operations/{id}")).await;
        let refused = browser
            .submit_again(&form, &path, &[("reason", "Nota errada")])
            .await;
        assert_away(&refused, says, &format!("/console/operations/{id}"));
        assert!(
            refused.text.contains("value=\"Nota errada\""),
            "{}",
            refused.text
        );
    }
    holder.execute("ROLLBACK").await.unwrap();
    assert_eq!(status(&sandbox, id).await, "TO_APPROVE");
    let done = browser
        .submit_again(&form, &path, &[("reason", "Nota errada")])
        .await;
    assert_eq!(done.status, 303, "{}", done.text);
    assert_eq!(status(&sandbox, id).await, "REPROVED");
}
