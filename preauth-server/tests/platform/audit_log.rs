//! The audit log: every write leaves one row in its own commit, whatever endpoint it goes through.

use std::collections::BTreeMap;

use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use test_support::{Answer, Backend, RawCaller, on_each_database};

use crate::held_rows::{Office, send_now, writes_of_all};
use crate::routes::{CLOCK, ROUTES, is_read};
use crate::scene::{Scene, text};

on_each_database! {
    every_write_leaves_one_row_in_its_commit,
    a_write_whose_row_is_refused_is_not_done,
    a_refused_write_leaves_no_row,
    a_repeated_create_leaves_no_second_row,
    a_role_that_is_too_low_leaves_one_row_a_minute,
    a_row_names_the_settings_before_and_after,
    the_log_is_listed_by_what_it_holds,
}

/// The rows of the whole log, newest first.
async fn rows(scene: &Scene) -> Vec<Value> {
    rows_of(scene, "").await
}

/// The newest rows that a filter selects, 100 at most.
async fn rows_of(scene: &Scene, filter: &str) -> Vec<Value> {
    let listed = scene.get(&format!("/audit-log?limit=100{filter}")).await;
    listed["data"].as_array().unwrap().clone()
}

async fn total(scene: &Scene) -> u64 {
    let listed = scene.get("/audit-log?limit=1").await;
    listed["pagination"]["total"].as_u64().unwrap()
}

fn request_of(answer: &Answer) -> String {
    answer.header("x-request-id").to_owned()
}

/// The name of each write in the description of the API.
async fn actions(scene: &Scene) -> BTreeMap<(String, String), String> {
    let description = scene.platform.get("/openapi.json").await.json();
    let paths = description["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.filter_map(move |(method, operation)| {
            let id = operation["operationId"].as_str()?;
            let path = path.strip_prefix(PREFIX)?;
            Some(((method.to_uppercase(), path.to_owned()), id.to_owned()))
        })
    });
    all.collect()
}

/// Executes a statement beside the server.
pub(crate) async fn execute(scene: &Scene, postgres: String, sqlite: String) {
    if let Some(url) = scene.sandbox.database_url() {
        let mut beside = PgConnection::connect(&url).await.unwrap();
        beside.execute(AssertSqlSafe(postgres)).await.unwrap();
    } else {
        let path = scene.sandbox.data().join("preauth.db");
        let url = format!("sqlite://{}", path.display());
        let mut beside = SqliteConnection::connect(&url).await.unwrap();
        beside.execute(AssertSqlSafe(sqlite)).await.unwrap();
    }
}

/// Makes what was sent fail, so that it can be sent again.
async fn fail_deliveries_and_mails(scene: &Scene) {
    let statement =
        "UPDATE deliveries SET status = 'FAILED', next_attempt_at = NULL, ended_at = created_at,
             leased_until = NULL WHERE status <> 'FAILED';
         UPDATE notices SET status = 'FAILED', next_attempt_at = NULL, ended_at = staged_at,
             leased_until = NULL WHERE status <> 'FAILED'";
    execute(scene, statement.to_owned(), statement.to_owned()).await;
}

async fn every_write_leaves_one_row_in_its_commit(backend: Backend) {
    let scene = Scene::new(backend).await;
    let actions = actions(&scene).await;
    let office = Office::new(&scene, 1).await;
    let mut requests = Vec::new();
    for route in writes_of_all() {
        requests.push((route, office.request(&scene, route).await));
    }
    let mut tried = 0;
    for (route, request) in requests {
        if route.path.contains("/resend") {
            fail_deliveries_and_mails(&scene).await;
        }
        let before = total(&scene).await;
        let answer = send_now(&scene, &request).await;
        let what = format!("{} {}", route.method, request.path);
        assert!(answer.status < 300, "{what}: {}", answer.text);
        let rows = rows(&scene).await;
        assert_eq!(total(&scene).await, before + 1, "{what}");
        let row = &rows[0];
        assert_eq!(
            row["operator"]["requestId"],
            request_of(&answer),
            "{what}: {row}"
        );
        let action = &actions[&(route.method.to_owned(), route.path.to_owned())];
        assert_eq!(row["action"], json!(action), "{what}");
        assert_eq!(row["outcome"], "DONE", "{what}");
        assert_eq!(row["role"], "ADMIN", "{what}");
        assert_eq!(row["operator"]["name"], "root", "{what}");
        assert_eq!(row["operator"]["address"], "127.0.0.1", "{what}");
        let record = text(&row["record"]);
        let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        let created = &body["id"];
        let is_create = answer.status == 201 && !record.contains("/blocked-suppliers/");
        let named_by_path = route.path.ends_with("/extensions")
            || route.path.ends_with("/webhook-endpoint")
            || route.path.ends_with("/test");
        if is_create && !named_by_path {
            let id = created
                .as_str()
                .map_or_else(|| created.to_string(), ToOwned::to_owned);
            assert!(record.ends_with(&format!("/{id}")), "{what}: {record}");
        } else {
            let path = &request.path[1..];
            assert!(path.starts_with(&record), "{what}: {record}");
        }
        let is_nobodys = [
            "operators",
            "master-keys",
            "sandbox",
            "suppressed-addresses",
            "personal-data",
        ]
        .iter()
        .any(|kind| record.starts_with(kind));
        let expected = if is_nobodys {
            Value::Null
        } else if route.path == "/companies" {
            created.clone()
        } else {
            json!(office.id)
        };
        assert_eq!(row["companyId"], expected, "{what}");
        tried += 1;
    }
    let posted_reads = ROUTES.iter().filter(|route| is_read(route.path)).count();
    let writes = ROUTES.iter().filter(|route| route.method != "GET").count();
    assert_eq!(tried, writes - posted_reads);
}

/// The database refuses every row of the log: a write that had another transaction for its row would be
/// done nevertheless.
async fn a_write_whose_row_is_refused_is_not_done(backend: Backend) {
    let scene = Scene::new(backend).await;
    let office = Office::new(&scene, 1).await;
    let mut requests = Vec::new();
    for route in writes_of_all() {
        // The clock is not in the database.
        if route.path != CLOCK {
            requests.push((route, office.request(&scene, route).await));
        }
    }
    fail_deliveries_and_mails(&scene).await;
    let before = total(&scene).await;
    execute(
        &scene,
        "CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'no row'; END $$;
         CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_log
             FOR EACH ROW EXECUTE FUNCTION refuse_row()"
            .to_owned(),
        "CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_log
             BEGIN SELECT RAISE(ABORT, 'no row'); END"
            .to_owned(),
    )
    .await;
    for (route, request) in &requests {
        let answer = send_now(&scene, request).await;
        let what = format!("{} {}", route.method, request.path);
        assert!(answer.status >= 400, "{what}: {}", answer.text);
    }
    execute(
        &scene,
        "DROP TRIGGER refuse_rows ON audit_log".to_owned(),
        "DROP TRIGGER refuse_rows".to_owned(),
    )
    .await;
    assert_eq!(total(&scene).await, before);
    // What was done before cannot be done again: a create, an action, a resend, a removal.
    for (route, request) in &requests {
        let answer = send_now(&scene, request).await;
        let what = format!("{} {}", route.method, request.path);
        assert!(answer.status < 300, "{what}: {}", answer.text);
    }
}

async fn a_refused_write_leaves_no_row(backend: Backend) {
    const NOBODY: &str = "018f2f3a-0000-7000-8000-000000000001";
    let scene = Scene::new(backend).await;
    let before = total(&scene).await;
    for route in writes_of_all() {
        if ["/master-keys/reencrypt", CLOCK].contains(&route.path) {
            continue;
        }
        let id = if route.is_numbered() {
            "999999"
        } else {
            NOBODY
        };
        let path = route
            .path
            .replace("{id}", id)
            // Of no company.
            .replace("{cnpj}", "45723001000100");
        let method = Method::from_bytes(route.method.as_bytes()).unwrap();
        let answer = scene.send(method, &path, Some(json!({}))).await;
        let is_refused = (400..500).contains(&answer.status);
        assert!(is_refused, "{} {path}: {}", route.method, answer.status);
    }
    // One that is refused by its transaction, and one by the rules.
    let id = scene.offer("NF-1").await;
    let made = total(&scene).await;
    assert_eq!(scene.ask(id, "pay").await.status, 409);
    let company = json!({
        "cnpj": scene.sandbox.text("supplierCnpj"), "name": "Outra", "kind": "SUPPLIER",
    });
    assert_eq!(scene.post("/companies", company).await.status, 409);
    assert_eq!(total(&scene).await, made);
    assert_eq!(made, before, "an ERP's create leaves no row");
}

async fn a_repeated_create_leaves_no_second_row(backend: Backend) {
    let scene = Scene::new(backend).await;
    for (path, key, body) in [
        ("/operations", "create-0001", scene.advance_body("NF-1")),
        (
            "/operators",
            "create-0002",
            json!({"name": "Ana", "role": "VIEWER"}),
        ),
    ] {
        let before = total(&scene).await;
        for round in 0..3 {
            let path = format!("{PREFIX}{path}");
            let headers = [("idempotency-key", key)];
            let made = scene.platform.post_text(&path, &headers, body.to_string());
            let made = made.await;
            assert_eq!(made.status, 201, "{}", made.text);
            assert_eq!(made.header("idempotency-replayed") == "true", round > 0);
        }
        assert_eq!(total(&scene).await, before + 1, "{path}");
    }
}

async fn a_role_that_is_too_low_leaves_one_row_a_minute(backend: Backend) {
    let scene = Scene::new(backend).await;
    let added = scene
        .make("/operators", json!({"name": "Vera", "role": "VIEWER"}))
        .await;
    let url = scene.sandbox.text("platformUrl");
    let vera = RawCaller::new(url, Some(&text(&added["token"])));
    let id = scene.advance("NF-1").await;
    let before = total(&scene).await;
    let path = format!("{PREFIX}/operations/{id}/verify");
    let mut first = None;
    for _ in 0..5 {
        let refused = vera.post(&path).await;
        assert_eq!(refused.refusal(), (403, "OPERATOR_FORBIDDEN".to_owned()));
        first.get_or_insert(request_of(&refused));
    }
    assert_eq!(total(&scene).await, before + 1);
    let row = &rows(&scene).await[0];
    assert_eq!(row["operator"]["requestId"], first.unwrap());
    assert_eq!(row["operator"]["name"], "Vera");
    assert_eq!(row["operator"]["id"], added["id"]);
    assert_eq!(
        (&row["role"], &row["outcome"]),
        (&json!("VIEWER"), &json!("FORBIDDEN"))
    );
    assert_eq!(row["action"], "verifyOperation");
    assert_eq!(row["record"], format!("operations/{id}"));
    // Another operation of the API has a row of its own, whatever is in its path.
    let refused = vera
        .send(
            Method::DELETE,
            &format!("{PREFIX}/companies/%00'%22/webhook-endpoint"),
            &[],
            None,
        )
        .await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert_eq!(total(&scene).await, before + 2);
    let row = &rows(&scene).await[0];
    assert_eq!(
        (&row["record"], &row["companyId"]),
        (&json!("companies"), &Value::Null)
    );
}

async fn a_row_names_the_settings_before_and_after(backend: Backend) {
    let scene = Scene::new(backend).await;
    let company = &scene.company;
    let credit = format!("/companies/{company}/credit-analysis");
    for days in [90, 120] {
        let body = json!({"maxTermDays": days, "maxInvoiceAmount": 250_000});
        let set = scene.send(Method::PUT, &credit, Some(body)).await;
        assert_eq!(set.status, 200, "{}", set.text);
    }
    let change = |setting: &str, before: Value, after: Value| json!({"setting": setting, "before": before, "after": after});
    let term = change("maxTermDays", json!("90"), json!("120"));
    assert_eq!(rows(&scene).await[0]["changes"], json!([term]));
    let url = format!("{}/secret-path", scene.receiver.url().trim_end_matches('/'));
    let endpoint = json!({"url": url, "events": ["anticipation.paid"]});
    let path = format!("/companies/{company}/webhook-endpoint");
    let set = scene.send(Method::PUT, &path, Some(endpoint)).await;
    assert_eq!(set.status, 200, "{}", set.text);
    let changes = rows(&scene).await[0]["changes"].clone();
    assert_eq!(changes[0]["setting"], "webhookEvents", "{changes}");
    assert!(!changes.to_string().contains("secret-path"), "{changes}");
    let user = json!({
        "name": "Eva Pessoa", "email": "eva@construtora.example.com", "permissions": ["REQUEST_ADVANCES"],
    });
    let user = scene
        .make(&format!("/companies/{company}/users"), user)
        .await;
    let row = &rows(&scene).await[0];
    let added = [
        change("permissions", Value::Null, json!("REQUEST_ADVANCES")),
        change("active", Value::Null, json!("true")),
    ];
    assert_eq!(row["changes"], json!(added));
    let key = json!({"name": "Vera", "role": "VIEWER"});
    let operator = scene.make("/operators", key).await;
    let all = rows(&scene).await;
    let log = json!(all).to_string();
    for kept_out in ["Eva Pessoa", "eva@construtora", &text(&operator["token"])] {
        assert!(!log.contains(kept_out), "{kept_out}");
    }
    let change_user = json!({"active": false});
    let path = format!("/users/{}", text(&user["id"]));
    scene.send(Method::PATCH, &path, Some(change_user)).await;
    let row = &rows(&scene).await[0];
    let ended = change("active", json!("true"), json!("false"));
    assert_eq!(row["changes"], json!([ended]));
    assert_eq!(row["companyId"], json!(company));
}

async fn the_log_is_listed_by_what_it_holds(backend: Backend) {
    let scene = Scene::new(backend).await;
    let (one, other) = (scene.advance("NF-1").await, scene.advance("NF-2").await);
    scene.play(one, &["verify", "approve"]).await;
    scene.play(other, &["verify"]).await;
    let all = rows(&scene).await;
    let numbers: Vec<_> = all
        .iter()
        .map(|row| row["number"].as_u64().unwrap())
        .collect();
    assert!(
        numbers.is_sorted_by(|a, b| a > b),
        "newest first: {numbers:?}"
    );
    let actions = async |filter: &str| {
        let found = rows_of(&scene, filter).await;
        found
            .iter()
            .map(|row| text(&row["action"]))
            .collect::<Vec<_>>()
    };
    let record = format!("&record=operations/{one}");
    let of_one = ["approveOperation", "verifyOperation", "addOperation"];
    assert_eq!(actions(&record).await[..2], of_one[..2]);
    assert_eq!(
        actions(&format!("{record}&action=approveOperation")).await,
        of_one[..1]
    );
    assert_eq!(actions("&operator=Nobody").await, [""; 0]);
    assert!(actions("&operator=root").await.len() >= 5);
    let company = &scene.company;
    assert!(actions(&format!("&companyId={company}")).await.len() >= 5);
    let newest = text(&all[0]["at"]);
    assert!(!actions(&format!("&from={newest}")).await.is_empty());
    assert_eq!(actions("&until=2020-01-01T00:00:00Z").await, [""; 0]);
    let page = scene.get("/audit-log?limit=2&page=2").await;
    assert_eq!(page["data"][0]["number"], all[2]["number"]);
    for wrong in [
        "companyId=x",
        "from=today",
        "record=%00",
        "operator=",
        "page=0",
    ] {
        let refused = scene
            .platform
            .get(&format!("{PREFIX}/audit-log?{wrong}"))
            .await;
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.text);
    }
}
