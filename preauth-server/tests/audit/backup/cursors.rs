//! Cursors of `GET /events` after a restore: what the backup has goes on, what was lost with the database does not,
//! even when other events have taken the numbers of those that are lost.

use std::process::Command;
use std::sync::Arc;

use preauth_client::wire::path::{EVENTS, PRE_AUTHORIZATIONS};
use serde_json::{Value, json};
use test_support::{Backend, Home, RawCaller, Server, due_date, on_each_database};

on_each_database! {
    a_cursor_of_the_backup_goes_on_and_one_of_a_lost_event_has_expired,
}

const TOKEN: &str = "an-operator-token-of-the-tests";

/// Runs a command on the data of a home.
fn run(home: &Home, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command
        .args(arguments)
        .args(["--data".into(), home.folder().join("data")])
        .args(home.database_flags())
        .env("PREAUTH_PLATFORM_TOKEN", TOKEN)
        .env("PREAUTH_FILES_SHARED", "true");
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
}

/// A construction company; returns a key of both scopes.
async fn company(server: &Server) -> String {
    let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
    let post = async |path: &str, body: Value| {
        let path = format!("/api/platform/v1{path}");
        let made = platform.post_json(&path, &body).await;
        assert_eq!(made.status, 201, "{path}: {}", made.text);
        made.json()
    };
    let company = json!({"cnpj": "11222333000181", "name": "Construtora", "kind": "CONSTRUCTION"});
    let company = post("/companies", company).await;
    let base = format!("/companies/{}", company["id"].as_str().unwrap());
    let user = json!({
        "name": "Eva", "email": "eva@construtora.example.com",
        "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
    });
    let user = post(&format!("{base}/users"), user).await;
    let key = json!({
        "name": "erp", "responsibleUserId": user["id"],
        "scopes": ["preauth:read", "preauth:write"],
    });
    let key = post(&format!("{base}/api-keys"), key).await;
    let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000}).to_string();
    let path = format!("/api/platform/v1{base}/credit-analysis");
    let headers = [("content-type", "application/json")];
    let put = reqwest::Method::PUT;
    let put = platform.send(put, &path, &headers, Some(credit.into_bytes()));
    assert_eq!(put.await.status, 200);
    key["key"].as_str().unwrap().to_owned()
}

async fn offer(erp: &RawCaller, number: &str) {
    let body = json!({
        "supplier": {
            "cnpj": "12ABC34501DE35", "email": "fin@fornecedor.example.com",
            "name": "Fornecedor Novo Ltda.", "contactName": "Bruno Lima",
        },
        "invoice": {
            "amount": 1_000, "number": number, "dueDate": due_date(30).to_string(),
        },
    });
    let made = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(made.status, 201, "{}", made.text);
}

/// The invoice numbers of the next events, at most so many, and the cursor after them.
async fn read(erp: &RawCaller, after: Option<&str>, limit: u32) -> (Vec<String>, String) {
    let after = after.map_or_else(String::new, |cursor| format!("&after={cursor}"));
    let answer = erp.get(&format!("{EVENTS}?limit={limit}{after}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let page = answer.json();
    let events = page["data"].as_array().unwrap().iter();
    let number = |event: &Value| {
        event["data"]["invoice"]["number"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let next = page["pagination"]["next"].as_str().unwrap().to_owned();
    (events.map(number).collect(), next)
}

async fn assert_expired(erp: &RawCaller, cursor: &str) {
    let answer = erp.get(&format!("{EVENTS}?after={cursor}")).await;
    let expected = (410, "EVENT_CURSOR_EXPIRED".to_owned());
    assert_eq!(answer.refusal(), expected, "{}", answer.text);
}

async fn a_cursor_of_the_backup_goes_on_and_one_of_a_lost_event_has_expired(backend: Backend) {
    let home = Arc::new(Home::new(backend).await);
    let server = Server::start_in(Arc::clone(&home), TOKEN).await;
    let key = company(&server).await;
    let erp = RawCaller::new(&server.base_url, Some(&key));
    for number in ["NF-1", "NF-2", "NF-3"] {
        offer(&erp, number).await;
    }
    let (kept, middle) = read(&erp, None, 2).await;
    assert_eq!(kept, ["NF-1", "NF-2"]);
    let (kept, last) = read(&erp, Some(&middle), 100).await;
    assert_eq!(kept, ["NF-3"]);
    let backup = home.folder().join("backup");
    run(&home, &["backup", backup.to_str().unwrap()]);

    for number in ["NF-4", "NF-5"] {
        offer(&erp, number).await;
    }
    let (later, first_lost) = read(&erp, Some(&last), 1).await;
    assert_eq!(later, ["NF-4"]);
    let (later, last_lost) = read(&erp, Some(&first_lost), 100).await;
    assert_eq!(later, ["NF-5"]);
    server.stop();

    let restored = Arc::new(Home::of_a_sandbox(backend).await);
    let data = restored.folder().join("data");
    std::fs::create_dir(&data).unwrap();
    let master_key = home.folder().join("data/master.key");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(master_key)
        .arg(&data)
        .status();
    assert!(copied.unwrap().success());
    run(&restored, &["restore", backup.to_str().unwrap()]);
    run(&restored, &["adopt", "--yes"]);
    let server = Server::start_in(Arc::clone(&restored), TOKEN).await;
    let erp = erp.at(&server.base_url);
    assert_eq!(read(&erp, Some(&middle), 100).await.0, ["NF-3"]);
    assert_eq!(read(&erp, Some(&last), 100).await.0, [""; 0]);
    assert_expired(&erp, &first_lost).await;
    assert_expired(&erp, &last_lost).await;

    // As many as were lost, and one more.
    for number in ["NF-6", "NF-7", "NF-8"] {
        offer(&erp, number).await;
    }
    let (new, _) = read(&erp, Some(&last), 100).await;
    assert_eq!(new, ["NF-6", "NF-7", "NF-8"]);
    let (new, _) = read(&erp, Some(&middle), 100).await;
    assert_eq!(new, ["NF-3", "NF-6", "NF-7", "NF-8"]);
    assert_expired(&erp, &first_lost).await;
    assert_expired(&erp, &last_lost).await;
    server.stop();
}
