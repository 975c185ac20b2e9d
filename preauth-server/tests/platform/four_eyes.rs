//! Four eyes: a server with the rule, and its named operators.

use preauth_core::value::Cnpj;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Home, RawCaller, Server, due_date, on_each_database};

use crate::scene::text;

on_each_database! {
    an_operator_does_not_pay_what_they_released,
    an_action_is_bound_to_the_version_that_was_seen,
    without_the_setting_one_operator_does_both,
}

const ROOT: &str = "operator-token-of-the-tests";

/// A server with a company, a supplier, and two named operators.
struct Office {
    server: Server,
    root: RawCaller,
    ana: RawCaller,
    beto: RawCaller,
    company: String,
    supplier: String,
}

impl Office {
    async fn open(backend: Backend, four_eyes: &str) -> Self {
        let home = Home::new(backend).await;
        let variables = [("PREAUTH_RULES_FOUR_EYES", four_eyes)];
        let server = Server::start_with(home, ROOT, &variables).await;
        let root = RawCaller::new(&server.platform_url, Some(ROOT));
        let ana = operator(&root, &server.platform_url, "Ana Souza").await;
        let beto = operator(&root, &server.platform_url, "Beto Lima").await;
        let (payer, supplier) = (cnpj("300000000001"), cnpj("300000010001"));
        let company = json!({"cnpj": payer, "name": "Obra", "kind": "CONSTRUCTION"});
        let company = text(&make(&root, "/companies", &company).await["id"]);
        let other = json!({"cnpj": supplier, "name": "Aço", "kind": "SUPPLIER"});
        make(&root, "/companies", &other).await;
        let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 250_000});
        let path = format!("/companies/{company}/credit-analysis");
        let put = send(&root, Method::PUT, &path, Some(&credit)).await;
        assert_eq!(put.status, 200, "{}", put.text);
        Self {
            server,
            root,
            ana,
            beto,
            company,
            supplier,
        }
    }

    /// An operation in analysis.
    async fn approved(&self, number: &str) -> i64 {
        let invoice =
            json!({"amount": 12500.5, "dueDate": due_date(60).to_string(), "number": number});
        let advance = json!({
            "payerCompanyId": self.company, "supplierCnpj": self.supplier, "invoice": invoice,
        });
        let made = make(&self.root, "/operations", &advance).await;
        let id = made["id"].as_i64().unwrap();
        for action in ["verify", "approve"] {
            moved(&self.root, id, action).await;
        }
        id
    }
}

async fn operator(admin: &RawCaller, url: &str, name: &str) -> RawCaller {
    let added = make(
        admin,
        "/operators",
        &json!({"name": name, "role": "OPERATOR"}),
    )
    .await;
    RawCaller::new(url, Some(&text(&added["token"])))
}

fn cnpj(base: &str) -> String {
    let mut all = (0..100).map(|check| format!("{base}{check:02}"));
    all.find(|it| Cnpj::parse(it).is_ok()).unwrap()
}

async fn send(caller: &RawCaller, method: Method, path: &str, body: Option<&Value>) -> Answer {
    let headers = [("content-type", "application/json")];
    let body = body.map(|body| body.to_string().into_bytes());
    let path = format!("{PREFIX}{path}");
    caller.send(method, &path, &headers, body).await
}

async fn make(caller: &RawCaller, path: &str, body: &Value) -> Value {
    let made = send(caller, Method::POST, path, Some(body)).await;
    assert_eq!(made.status, 201, "{path}: {}", made.text);
    made.json()
}

async fn ask(caller: &RawCaller, id: i64, action: &str) -> Answer {
    let body = match action {
        "release" => json!({"netAmount": 12_000}),
        "reprove" => json!({"by": "PLATFORM"}),
        _ => json!({}),
    };
    let path = format!("/operations/{id}/{action}");
    send(caller, Method::POST, &path, Some(&body)).await
}

async fn moved(caller: &RawCaller, id: i64, action: &str) {
    let answer = ask(caller, id, action).await;
    assert_eq!(answer.status, 200, "{action} of {id}: {}", answer.text);
}

async fn is_refused(caller: &RawCaller, id: i64) {
    let refused = ask(caller, id, "pay").await;
    assert_eq!(refused.refusal(), (403, "FOUR_EYES_REQUIRED".to_owned()));
    let message = text(&refused.json()["errors"][0]["message"]);
    for part in [
        "peça a outro operador",
        "OPERATOR ou ADMIN",
        "rules.four_eyes",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

// Contract: error-code-of-ours/FOUR_EYES_REQUIRED
async fn an_operator_does_not_pay_what_they_released(backend: Backend) {
    let office = Office::open(backend, "true").await;
    let (root, ana, beto) = (&office.root, &office.ana, &office.beto);
    let id = office.approved("NF-1").await;
    moved(ana, id, "release").await;
    is_refused(ana, id).await;
    let shown = ana.get(&format!("{PREFIX}/operations/{id}")).await.json();
    assert_eq!(shown["status"], "TO_PAY");
    assert_eq!(shown["history"].as_array().unwrap().len(), 4);
    moved(beto, id, "pay").await;

    // The bank's return releases nothing: whoever released may still not pay.
    moved(ana, id, "return-payout").await;
    is_refused(ana, id).await;
    // A new release counts, whoever released before.
    for (caller, action) in [(ana, "reprove"), (ana, "reopen"), (beto, "release")] {
        moved(caller, id, action).await;
    }
    is_refused(beto, id).await;
    moved(ana, id, "pay").await;

    // The holder of the configured token is an operator like any other.
    let id = office.approved("NF-2").await;
    moved(root, id, "release").await;
    is_refused(root, id).await;
    moved(beto, id, "pay").await;

    let log = office.server.stop();
    let released = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["event"] == "anticipation.analysis_approved");
    assert_eq!(released.unwrap()["operator"], "Ana Souza");
}

async fn an_action_is_bound_to_the_version_that_was_seen(backend: Backend) {
    let office = Office::open(backend, "true").await;
    let (ana, beto) = (&office.ana, &office.beto);
    let id = office.approved("NF-1").await;
    moved(ana, id, "release").await;
    let path = format!("/operations/{id}");
    let seen = beto.get(&format!("{PREFIX}{path}")).await.json();
    // Another amount is released before who saw the first one pays.
    moved(ana, id, "reprove").await;
    moved(ana, id, "reopen").await;
    let release = json!({"netAmount": 12_345});
    let again = send(
        ana,
        Method::POST,
        &format!("{path}/release"),
        Some(&release),
    )
    .await;
    let again = again.json();
    assert_eq!(again["status"], "TO_PAY", "{again}");
    let pay = async |version: &Value| {
        let path = format!("{path}/pay?ifVersion={version}");
        send(beto, Method::POST, &path, None).await
    };
    let refused = pay(&seen["version"]).await;
    assert_eq!(refused.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    let message = text(&refused.json()["errors"][0]["message"]);
    let current = format!("versão atual: {}", again["version"]);
    assert!(message.contains(&current), "{message}");
    let unchanged = beto.get(&format!("{PREFIX}{path}")).await.json();
    assert_eq!(unchanged["version"], again["version"]);
    for nonsense in ["0", "-1", "latest", "4&ifVersion=5"] {
        let path = format!("{path}/pay?ifVersion={nonsense}");
        let refused = send(beto, Method::POST, &path, None).await.refusal();
        assert_eq!(refused, (400, "VALIDATION_ERROR".to_owned()), "{nonsense}");
    }
    let misspelt = format!("{path}/pay?if_version={}", seen["version"]);
    let refused = send(beto, Method::POST, &misspelt, None).await.refusal();
    assert_eq!(refused, (400, "VALIDATION_ERROR".to_owned()));
    assert_eq!(pay(&again["version"]).await.status, 200);

    let order = json!({
        "payerCompanyId": office.company, "supplierCnpj": office.supplier, "amount": 12_345,
    });
    let order = make(beto, "/payment-orders", &order).await;
    let act = async |action: &str, version: i64| {
        let path = format!(
            "/payment-orders/{}/{action}?ifVersion={version}",
            order["id"]
        );
        send(beto, Method::POST, &path, None).await
    };
    assert_eq!(act("schedule", 1).await.status, 200);
    let refused = act("pay", 1).await.refusal();
    assert_eq!(refused, (409, "RESOURCE_CONFLICT".to_owned()));
    assert_eq!(act("pay", 2).await.json()["status"], "PAID");
}

async fn without_the_setting_one_operator_does_both(backend: Backend) {
    let office = Office::open(backend, "false").await;
    let id = office.approved("NF-1").await;
    moved(&office.ana, id, "release").await;
    moved(&office.ana, id, "pay").await;
}
