//! Writes of the platform API that need what another session holds: what does not need it is answered
//! meanwhile.
//!
//! Decided by the order of answers: no answer may come only after the write that waits was given up.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_core::value::Cnpj;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use test_support::{Answer, Backend, RawCaller, offer_body};
use tokio::task::JoinHandle;

use crate::routes::{CLOCK, ROUTES, Route, is_read};
use crate::scene::{Scene, text};

/// Maximum number of tries: what waits is refused after some seconds, and on a busy machine what stands
/// beside it may not be answered by then.
const ROUNDS: usize = 4;
const BUSY: u16 = 503;

/// Tables with rows of a head office, and the column that names it.
const TABLES: [(&str, &str); 11] = [
    ("companies", "id"),
    ("credit_analyses", "head_office_id"),
    ("blocked_suppliers", "head_office_id"),
    ("users", "company_id"),
    ("api_keys", "company_id"),
    ("endpoints", "head_office_id"),
    ("deliveries", "head_office_id"),
    ("notices", "head_office_id"),
    ("operations", "head_office_id"),
    ("extensions", "head_office_id"),
    ("payment_orders", "head_office_id"),
];

/// A head office with a record of every kind that writes change.
pub(crate) struct Office {
    pub(crate) id: String,
    number: usize,
    user: String,
    key: String,
    delivery: String,
    mail: String,
    erp: RawCaller,
}

/// A request that changes records of one head office.
#[derive(Clone)]
pub(crate) struct Request {
    method: Method,
    pub(crate) path: String,
    body: Option<Value>,
}

impl Office {
    pub(crate) async fn new(scene: &Scene, number: usize) -> Self {
        let company = json!({"cnpj": cnpj(number), "name": "Obra", "kind": "CONSTRUCTION"});
        let id = text(&scene.make("/companies", company).await["id"]);
        let of_this = |rest: &str| format!("/companies/{id}/{rest}");
        let user = json!({
            "name": "Eva",
            "email": "eva@obra.example.com",
            "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"],
        });
        let user = text(&scene.make(&of_this("users"), user).await["id"]);
        let scopes = ["preauth:read", "preauth:write"];
        let key = json!({"name": "ERP", "responsibleUserId": user, "scopes": scopes});
        let key = scene.make(&of_this("api-keys"), key).await;
        let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 250_000});
        put(scene, &of_this("credit-analysis"), Some(credit)).await;
        let blocked = of_this(&format!("blocked-suppliers/{}", cnpj(0)));
        put(scene, &blocked, None).await;
        scene.register(&id, &scene.receiver.url()).await;
        let tested = scene
            .post(&of_this("webhook-endpoint/test"), json!({}))
            .await;
        let delivery = text(&tested.json()["id"]);
        let mut office = Self {
            id,
            number,
            user,
            key: text(&key["id"]),
            delivery,
            mail: String::new(),
            erp: RawCaller::new(scene.sandbox.text("baseUrl"), Some(&text(&key["key"]))),
        };
        office.offer(scene, "MAIL").await;
        let mails = scene
            .get(&format!("/companies/{}/notices", office.id))
            .await;
        office.mail = text(&mails["data"][0]["id"]);
        office
    }

    async fn offer(&self, scene: &Scene, number: &str) -> i64 {
        let body = offer_body(&scene.sandbox, number);
        let made = self.erp.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()["id"].as_i64().unwrap()
    }

    /// An entry of the list of addresses that are sent no mails.
    async fn suppressed(&self, scene: &Scene) -> String {
        let offer = self.offer(scene, "SUPPRESSED").await;
        let path = format!("{}/nao-receber", scene.sandbox.page_of(offer));
        let ended = scene.sandbox.suppliers().post(&path).await;
        assert_eq!(ended.status, 200, "{}", ended.text);
        let listed = scene.get("/suppressed-addresses").await;
        text(&listed["data"][0]["id"])
    }

    /// An operation to which `action` is possible next.
    async fn operation(&self, scene: &Scene, action: &str) -> i64 {
        if ["request", "decline", "withdraw"].contains(&action) {
            return self.offer(scene, action).await;
        }
        let before: &[&str] = match action {
            "verify" | "reprove" => &[],
            "approve" => &["verify"],
            "release" => &["verify", "approve"],
            "pay" => &["verify", "approve", "release"],
            "bill" | "return-payout" => &["verify", "approve", "release", "pay"],
            "conclude" | "extensions" => &["verify", "approve", "release", "pay", "bill"],
            "reopen" => &["reprove by COMPANY"],
            other => panic!("{other} is no action"),
        };
        let mut body = scene.advance_body(action);
        body["payerCompanyId"] = json!(self.id);
        let made = scene.make("/operations", body).await;
        let id = made["id"].as_i64().unwrap();
        scene.play(id, before).await;
        id
    }

    /// An open extension.
    async fn extension(&self, scene: &Scene, action: &str) -> i64 {
        let mut body = scene.advance_body(&format!("extension-{action}"));
        body["payerCompanyId"] = json!(self.id);
        let made = scene.make("/operations", body).await;
        let id = made["id"].as_i64().unwrap();
        let until_open = ["verify", "approve", "release", "pay", "bill", "extend"];
        scene.play(id, &until_open).await;
        let listed = scene.get(&format!("/operations/{id}/extensions")).await;
        listed["data"][0]["id"].as_i64().unwrap()
    }

    /// A payment order to which `action` is possible next.
    async fn order(&self, scene: &Scene, action: &str) -> i64 {
        let mut body = scene.advance_body("-");
        body["payerCompanyId"] = json!(self.id);
        body["amount"] = json!(900.5);
        let made = scene.make("/payment-orders", body).await;
        let id = made["id"].as_i64().unwrap();
        let before = match action {
            "pay" => Some("schedule"),
            "reprove" => Some("review"),
            _ => None,
        };
        if let Some(action) = before {
            let path = format!("/payment-orders/{id}/{action}");
            let done = scene.post(&path, json!({})).await;
            assert_eq!(done.status, 200, "{}", done.text);
        }
        id
    }

    /// The tax id of a supplier with nothing in progress.
    async fn idle_company(&self, scene: &Scene) -> String {
        let cnpj = cnpj(self.number + 200);
        let company = json!({"cnpj": cnpj, "name": "Fornecedor", "kind": "SUPPLIER"});
        let made = scene.post("/companies", company).await;
        assert!([201, 409].contains(&made.status), "{}", made.text);
        cnpj
    }

    /// A request to `route` about records of this head office, which succeeds.
    pub(crate) async fn request(&self, scene: &Scene, route: &Route) -> Request {
        let (kind, rest) = route.path[1..].split_once('/').unwrap_or_default();
        let action = rest.strip_prefix("{id}/").unwrap_or_default();
        let id = match kind {
            "companies" => self.id.clone(),
            "users" => self.user.clone(),
            "api-keys" => self.key.clone(),
            "deliveries" => self.delivery.clone(),
            "notices" => self.mail.clone(),
            "suppressed-addresses" => self.suppressed(scene).await,
            "operations" => self.operation(scene, action).await.to_string(),
            "extensions" => self.extension(scene, action).await.to_string(),
            "payment-orders" => self.order(scene, action).await.to_string(),
            "operators" if !action.is_empty() => operator(scene).await,
            _ => String::new(),
        };
        let supplier = if route.method == "DELETE" {
            cnpj(0)
        } else {
            cnpj(9)
        };
        let supplier = if kind == "personal-data" {
            self.idle_company(scene).await
        } else {
            supplier
        };
        let mut body = route.valid(scene).await;
        let own = [
            ("payerCompanyId", self.id.as_str()),
            ("responsibleUserId", &self.user),
        ];
        for (name, value) in own {
            if body.get(name).is_some() {
                body[name] = json!(value);
            }
        }
        if route.path == "/companies" {
            let cnpj = cnpj(self.number + 100);
            body = json!({
                "cnpj": cnpj, "name": "Filial", "kind": "CONSTRUCTION", "headOfficeId": self.id,
            });
        }
        Request {
            method: Method::from_bytes(route.method.as_bytes()).unwrap(),
            path: route.path.replace("{id}", &id).replace("{cnpj}", &supplier),
            body: route.fields().map(|_| body),
        }
    }
}

/// An operator's id.
async fn operator(scene: &Scene) -> String {
    let body = json!({"name": "Iris", "role": "VIEWER"});
    text(&scene.make("/operators", body).await["id"])
}

async fn put(scene: &Scene, path: &str, body: Option<Value>) {
    let put = scene.send(Method::PUT, path, body).await;
    assert!(put.status < 300, "{path}: {}", put.text);
}

fn cnpj(number: usize) -> String {
    let spelled = |check| format!("{:012}{check:02}", 300_000_000_000 + number);
    let mut all = (0..100).map(spelled);
    all.find(|it| Cnpj::parse(it).is_ok()).unwrap()
}

/// Every write that needs rows of one head office. What removes or resends what others need comes last.
fn writes() -> Vec<&'static Route> {
    /// The re-encryption goes from head office to head office; operators and suppressed
    /// addresses belong to none; personal data are erased of companies without anything in progress.
    const OTHERS: [&str; 6] = [
        "/master-keys/reencrypt",
        "/operators",
        "/operators/{id}/revoke",
        "/suppressed-addresses/{id}",
        "/personal-data/{cnpj}/erasure",
        CLOCK,
    ];
    let mut writes = writes_of_all();
    writes.retain(|route| !OTHERS.contains(&route.path));
    writes
}

/// Every write, in the same order.
pub(crate) fn writes_of_all() -> Vec<&'static Route> {
    let writes = ROUTES.iter().filter(|route| route.method != "GET");
    let mut writes: Vec<_> = writes.filter(|route| !is_read(route.path)).collect();
    writes.sort_by_key(|route| match (route.method, route.path) {
        ("DELETE", _) => 2,
        (_, "/companies/{id}/deliveries/resend" | "/companies/{id}/deliveries/resend-range") => 1,
        _ => 0,
    });
    writes
}

fn send(scene: &Scene, request: &Request) -> JoinHandle<Answer> {
    let (caller, request) = (scene.platform.clone(), request.clone());
    tokio::spawn(async move {
        let headers: &[_] = match request.body {
            Some(_) => &[("content-type", "application/json")],
            None => &[],
        };
        let body = request.body.map(|body| body.to_string().into_bytes());
        let path = format!("{PREFIX}{}", request.path);
        caller.send(request.method, &path, headers, body).await
    })
}

/// Sends a request and waits for its answer.
pub(crate) async fn send_now(scene: &Scene, request: &Request) -> Answer {
    send(scene, request).await.unwrap()
}

/// Sends `held`, which needs what is locked, and then has `beside` answered before that is; returns `held`
/// while it waits.
async fn goes_on_beside(
    scene: &Scene,
    held: &Request,
    beside: impl AsyncFn(usize),
) -> JoinHandle<Answer> {
    for round in 0..ROUNDS {
        let waiting = send(scene, held);
        beside(round).await;
        if !waiting.is_finished() {
            return waiting;
        }
        let answer = waiting.await.unwrap();
        let Request { method, path, .. } = held;
        assert_eq!(
            answer.status, BUSY,
            "{method} {path} did not wait: {}",
            answer.text
        );
    }
    panic!(
        "{} was given up {ROUNDS} times before others were answered",
        held.path
    );
}

/// Returns once a session of the server waits for a lock. Where it waits only for moments, none may be seen.
async fn one_waits(observer: &mut PgConnection) {
    const MAX_LOOKS: usize = 50;
    for _ in 0..MAX_LOOKS {
        let waits: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                              AND application_name = 'preauth-server')",
        )
        .fetch_one(&mut *observer)
        .await
        .unwrap();
        if waits {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_whose_rows_are_held_delays_no_other_companys() {
    let scene = Scene::new(Backend::Postgres).await;
    let url = scene.sandbox.database_url().unwrap();
    let mut observer = PgConnection::connect(&url).await.unwrap();
    let (held, other) = (Office::new(&scene, 1).await, Office::new(&scene, 2).await);
    let mut writes_of_both = Vec::new();
    for route in writes() {
        let of_held = held.request(&scene, route).await;
        writes_of_both.push((of_held, other.request(&scene, route).await));
    }
    for office in [&held, &other] {
        let (delivery, mail) = (&office.delivery, &office.mail);
        let failed = format!(
            "UPDATE deliveries SET status = 'FAILED', next_attempt_at = NULL,
                 ended_at = created_at, leased_until = NULL WHERE id = '{delivery}';
             UPDATE notices SET status = 'FAILED', next_attempt_at = NULL, ended_at = staged_at,
                 leased_until = NULL WHERE id = '{mail}'"
        );
        observer.execute(AssertSqlSafe(failed)).await.unwrap();
    }
    let mut holder = PgConnection::connect(&url).await.unwrap();
    holder.execute("BEGIN").await.unwrap();
    for (table, column) in TABLES {
        let id = &held.id;
        let lock = format!("SELECT 1 FROM {table} WHERE {column} = '{id}' FOR UPDATE");
        let locked = holder.execute(AssertSqlSafe(lock)).await.unwrap();
        assert!(locked.rows_affected() > 0, "{table}");
    }
    let observer = tokio::sync::Mutex::new(observer);
    let mut waiting = Vec::new();
    for (of_held, of_other) in &writes_of_both {
        let beside = async |round| {
            one_waits(&mut *observer.lock().await).await;
            let answer = send(&scene, of_other).await.unwrap();
            // In a further round it was done before.
            let is_done = answer.status < 300 || round > 0 && answer.status < 500;
            assert!(is_done, "{}: {}", of_other.path, answer.text);
        };
        waiting.push(goes_on_beside(&scene, of_held, beside).await);
    }
    holder.execute("ROLLBACK").await.unwrap();
    let mut done = 0;
    for waiting in waiting {
        let answer = waiting.await.unwrap();
        assert!(
            answer.status < 500 || answer.status == BUSY,
            "{}",
            answer.text
        );
        done += usize::from(answer.status < 300);
    }
    assert!(done > 0, "what still waited goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_write_that_waits_for_sqlites_writer_delays_no_read() {
    let scene = Scene::new(Backend::Sqlite).await;
    let path = scene.sandbox.data().join("preauth.db");
    let office = Office::new(&scene, 1).await;
    let mut reads = Vec::new();
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        let is_numbered = route.is_numbered() && route.path.contains("{id}");
        if !is_numbered {
            reads.push(office.request(&scene, route).await);
        }
    }
    let rename = Request {
        method: Method::PATCH,
        path: format!("/companies/{}", office.id),
        body: Some(json!({"name": "Outra"})),
    };
    let url = format!("sqlite://{}", path.display());
    let mut holder = SqliteConnection::connect(&url).await.unwrap();
    holder.execute("BEGIN IMMEDIATE").await.unwrap();
    let beside = async |_| {
        for read in &reads {
            let answer = send(&scene, read).await.unwrap();
            let is_answered = [200, 404].contains(&answer.status);
            assert!(is_answered, "{}: {}", read.path, answer.text);
        }
    };
    let waiting = goes_on_beside(&scene, &rename, beside).await;
    holder.execute("ROLLBACK").await.unwrap();
    assert_eq!(waiting.await.unwrap().status, 200);
}
