//! The platform API and its description: one story with every success, then the refusals.

use std::time::Duration;

use preauth_core::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::{LIVEZ, METRICS, PREFIX, READYZ};
use serde_json::{Value, json};
use test_support::{
    Answer, Backend, Form, MailServer, Manner, RawCaller, Sandbox, due_date, offer_body, office,
};

use crate::description::Description;
use crate::witness::Witness;

const NOBODY: &str = "018f2f3a-0000-7000-8000-000000000001";
/// The sandbox's mail server refuses this address.
const REFUSED: &str = "ninguem@fornecedor.example.com";
const ARRIVAL_DEADLINE: Duration = Duration::from_mins(1);

/// A sandbox whose platform API is called.
struct Story {
    sandbox: Sandbox,
    witness: Witness,
    /// The demo company's head office.
    company: String,
}

impl Story {
    async fn begin() -> Self {
        let mails = MailServer::start().await;
        mails.treat(REFUSED, Manner::Refuse);
        let sandbox = office::start(Backend::Sqlite, &mails).await;
        let company = sandbox.company().await;
        let witness = Witness::new(Description::platform(), sandbox.platform());
        Self {
            sandbox,
            witness,
            company,
        }
    }

    async fn get(&self, path: &str) -> Value {
        self.done("GET", path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.done("POST", path, Some(body)).await
    }

    /// POST without a body.
    async fn act(&self, path: &str) -> Value {
        self.done("POST", path, None).await
    }

    async fn done(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let answer = self.send(method, path, body).await;
        assert!(answer.status < 300, "{method} {path}: {}", answer.text);
        serde_json::from_str(&answer.text).unwrap_or_default()
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let path = format!("{PREFIX}/{path}");
        self.witness.send(method, &path, body).await
    }

    /// A request that is refused with this status and code; a null body is not sent.
    async fn refused(&self, method: &str, path: &str, body: Value, status: u16, code: &str) {
        let body = Some(body).filter(|body| !body.is_null());
        let answer = self.send(method, path, body).await;
        let expected = (status, code.to_owned());
        assert_eq!(answer.refusal(), expected, "{path}: {}", answer.text);
    }

    /// An offer of the demo company.
    async fn offer(&self, number: &str) -> String {
        let erp = self.sandbox.caller("apiKey");
        let offered = erp
            .post_json(PRE_AUTHORIZATIONS, &offer_body(&self.sandbox, number))
            .await;
        format!("operations/{}", offered.json()["id"])
    }

    /// An offer of the demo company with a file.
    async fn offer_with_a_file(&self, number: &str) -> String {
        let form =
            Form::of(&offer_body(&self.sandbox, number)).file("a.pdf", "application/pdf", b"%PDF-");
        let erp = self.sandbox.caller("apiKey");
        let offered = erp.post_form(PRE_AUTHORIZATIONS, &[], form).await;
        format!("operations/{}", offered.json()["id"])
    }

    /// A body with the demo company and its supplier.
    fn parties(&self, more: &[(&str, Value)]) -> Value {
        let supplier = self.sandbox.text("supplierCnpj");
        let mut body = json!({"payerCompanyId": self.company, "supplierCnpj": supplier});
        for (name, value) in more {
            body[name] = value.clone();
        }
        body
    }

    async fn companies_and_people(&self) {
        let construction =
            json!({"cnpj": "45723001000100", "name": "Azul", "kind": "CONSTRUCTION"});
        let company = id(&self.post("companies", construction).await);
        let of = |path: &str| format!("companies/{company}{path}");
        self.get("companies?limit=2").await;
        self.get(&of("")).await;
        let corrected = json!({"name": "Azul S.A."});
        self.done("PATCH", &of(""), Some(corrected)).await;
        self.get(&of("/branches")).await;
        self.get(&of("/invitations")).await;
        let credit = json!({"maxTermDays": 120, "maxInvoiceAmount": 250_000});
        self.done("PUT", &of("/credit-analysis"), Some(credit))
            .await;
        self.get(&of("/credit-analysis")).await;
        let blocked = of("/blocked-suppliers/11444777000161");
        self.done("PUT", &blocked, None).await;
        self.get(&blocked).await;
        self.get(&of("/blocked-suppliers")).await;
        self.done("DELETE", &blocked, None).await;
        let ana = json!({"name": "Ana", "email": "ana@azul.example.com", "permissions": ["REQUEST_ADVANCES"]});
        let user = id(&self.post(&of("/users"), ana).await);
        self.get(&of("/users")).await;
        self.get(&format!("users/{user}")).await;
        let both = json!({"permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"]});
        self.done("PATCH", &format!("users/{user}"), Some(both))
            .await;
        let request = json!({"name": "ERP", "responsibleUserId": user, "scopes": ["preauth:read"]});
        let made = self.post(&of("/api-keys"), request).await;
        let key = id(&made);
        let leaked = json!({"text": made["key"]});
        let found = self.post("api-key-search", leaked).await;
        assert_eq!(id(&found["data"][0]), key);
        let reason = json!({"reason": "Contrato em revisão"});
        self.post(&of("/suspend"), reason).await;
        self.act(&of("/resume")).await;
        self.done("DELETE", &format!("api-keys/{key}"), None).await;
        self.get(&format!("api-keys/{key}")).await;
        self.get(&of("/api-keys")).await;
    }

    async fn operators(&self) {
        self.get("calling-operator").await;
        let bia = json!({"name": "Bia", "role": "VIEWER", "validUntil": "2099-01-01T00:00:00Z"});
        let added = self.post("operators", bia).await;
        let one = format!("operators/{}", id(&added));
        self.get(&one).await;
        self.get("operators").await;
        self.get("audit-log?operator=root").await;
        let token = added["token"].as_str().unwrap();
        let bia = RawCaller::new(self.sandbox.text("platformUrl"), Some(token));
        let bia = Witness::new(Description::platform(), bia);
        for (method, path) in [
            ("POST", "master-keys/reencrypt"),
            ("POST", "operations/1/pay"),
            ("POST", "operators"),
        ] {
            let answer = bia.send(method, &format!("{PREFIX}/{path}"), None).await;
            assert_eq!(answer.refusal(), (403, "OPERATOR_FORBIDDEN".to_owned()));
        }
        self.act(&format!("{one}/revoke")).await;
        let root = json!({"name": "root", "role": "ADMIN"});
        self.refused("POST", "operators", root, 409, "RESOURCE_CONFLICT")
            .await;
    }

    async fn endpoint_and_deliveries(&self) {
        let demo = format!("companies/{}/webhook-endpoint", self.company);
        let url = self.get(&demo).await["url"].clone();
        let wanted = json!({"url": url, "events": ["webhook.test", "pre_authorization.created"]});
        self.done("PUT", &demo, Some(wanted.clone())).await;
        let queued = id(&self.act(&format!("{demo}/test")).await);
        self.arrived(&queued).await;
        self.act(&format!("deliveries/{queued}/resend")).await;
        let list = format!("companies/{}/deliveries", self.company);
        self.get(&format!("{list}?eventType=webhook.test&limit=5"))
            .await;
        let since = json!({"since": "2026-01-01T00:00:00Z"});
        self.post(&format!("{list}/resend"), since.clone()).await;
        self.post(&format!("{list}/resend-range/count"), since.clone())
            .await;
        self.post(&format!("{list}/resend-range"), since).await;
        self.act(&format!("{demo}/pause")).await;
        self.act(&format!("{demo}/resume")).await;
        self.post(&format!("{demo}/rotate-secret"), json!({"overlapHours": 1}))
            .await;
        self.done("DELETE", &demo, None).await;
        self.done("PUT", &demo, Some(wanted)).await;
        self.get("master-keys").await;
        self.act("master-keys/reencrypt").await;
    }

    async fn arrived(&self, delivery: &str) {
        let path = format!("deliveries/{delivery}");
        let wait = async {
            while self.get(&path).await["status"] != "DELIVERED" {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(ARRIVAL_DEADLINE, wait).await;
        assert!(waited.is_ok(), "the sandbox's receiver confirms");
    }

    async fn personal_data(&self) {
        let path = "personal-data/33444555000181";
        let company = json!({"cnpj": "33444555000181", "name": "Obra S.A.", "kind": "SUPPLIER"});
        let company = id(&self.post("companies", company).await);
        let user = json!({"name": "Ana", "email": "ana@obra.example.com", "permissions": []});
        self.post(&format!("companies/{company}/users"), user).await;
        self.get(path).await;
        self.get(&format!("{path}/export")).await;
        self.act(&format!("{path}/erasure")).await;
        self.get(path).await;
    }

    async fn operations(&self) {
        let offer = self.offer("NF-1").await;
        let mails = format!(
            "companies/{}/notices?kind=OFFER&operationId=1",
            self.company
        );
        let mail = self.get(&mails).await["data"][0]["id"].clone();
        self.get(&format!("notices/{}", mail.as_str().unwrap()))
            .await;
        office::offer(&self.sandbox, "NF-M", REFUSED).await;
        let failed = id(&office::until(&self.sandbox, 1, "FAILED").await[0]);
        self.act(&format!("notices/{failed}/resend")).await;
        let path = format!("{}/nao-receber", self.sandbox.page_of(1));
        let ended = self.sandbox.suppliers().post(&path).await;
        assert_eq!(ended.status, 200, "{}", ended.text);
        let ended = self.get("suppressed-addresses").await["data"][0].clone();
        let address = ended["address"].as_str().unwrap();
        self.get(&format!("suppressed-addresses?address={address}"))
            .await;
        let one = format!("suppressed-addresses/{}", id(&ended));
        self.get(&one).await;
        self.done("DELETE", &one, None).await;
        self.personal_data().await;
        let act = async |action: &str| self.act(&format!("{offer}/{action}")).await;
        act("request").await;
        act("approve").await;
        self.post(&format!("{offer}/release"), json!({"netAmount": 11_987.65}))
            .await;
        for action in ["pay", "return-payout", "pay", "bill"] {
            act(action).await;
        }
        let later = json!({"newDueDate": due_date(90).to_string(), "totalAmount": 12_777.25});
        let extensions = format!("{offer}/extensions");
        for end in ["cancel", "conclude"] {
            let extension = self.post(&extensions, later.clone()).await["id"].clone();
            self.get(&offer).await;
            self.get(&format!("extensions/{extension}")).await;
            self.act(&format!("extensions/{extension}/{end}")).await;
        }
        self.get(&extensions).await;
        act("conclude").await;
        let offer = self.offer_with_a_file("NF-F").await;
        let shown = self.get(&offer).await;
        assert_eq!(shown["invoiceFile"]["name"], "a.pdf");
        let file = format!("{PREFIX}/{offer}/invoice-file");
        assert_eq!(self.witness.get(&file).await.text, "%PDF-");
        let reason = json!({"reason": "Sem interesse"});
        for (number, action) in [("NF-2", "decline"), ("NF-3", "withdraw")] {
            let offer = self.offer(number).await;
            self.post(&format!("{offer}/{action}"), reason.clone())
                .await;
            self.get(&offer).await;
        }
        let invoice = json!({"amount": 900, "dueDate": due_date(60).to_string()});
        let advance = self
            .post("operations", self.parties(&[("invoice", invoice)]))
            .await;
        let advance = format!("operations/{}", advance["id"]);
        self.act(&format!("{advance}/verify")).await;
        self.post(&format!("{advance}/reprove"), json!({"by": "PLATFORM"}))
            .await;
        self.act(&format!("{advance}/reopen")).await;
        self.get("operations?status=IN_ANALYSIS&status=REPROVED")
            .await;
    }

    async fn records(&self) {
        let invoice = json!({"amount": 900, "dueDate": due_date(60).to_string(), "number": "R-1"});
        let invoice = self
            .post("invoices", self.parties(&[("invoice", invoice)]))
            .await;
        self.get(&format!("invoices/{}", invoice["id"])).await;
        self.get("invoices").await;
        let reason = json!({"reason": "Em duplicidade"});
        let day = json!({"scheduledFor": due_date(9).to_string()});
        let ways: [&[(&str, &Value)]; 3] = [
            &[
                ("review", &json!({})),
                ("schedule", &day),
                ("pay", &json!({})),
            ],
            &[("cancel", &reason)],
            &[("reprove", &reason)],
        ];
        for way in ways {
            let order = self
                .post("payment-orders", self.parties(&[("amount", 900.into())]))
                .await;
            let order = format!("payment-orders/{}", order["id"]);
            for (action, body) in way {
                self.post(&format!("{order}/{action}"), (*body).clone())
                    .await;
            }
            self.get(&order).await;
        }
        self.get("payment-orders").await;
        self.get("deliveries?status=DELIVERED").await;
        self.get("notices?kind=OFFER").await;
        self.get("attention").await;
        self.get("reports?by=MONTH").await;
        self.get("reports?perCompany=true&limit=1").await;
        self.post("sandbox/clock", json!({"advanceSeconds": 60}))
            .await;
        for path in [LIVEZ, READYZ, METRICS] {
            assert_eq!(self.witness.get(path).await.status, 200);
        }
    }
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_success_is_as_described() {
    let story = Story::begin().await;
    story.operators().await;
    story.companies_and_people().await;
    story.endpoint_and_deliveries().await;
    story.operations().await;
    story.records().await;
    assert_eq!(story.witness.unseen_successes(), Vec::<String>::new());
}

#[tokio::test]
async fn nobody_and_nothing_is_refused_as_described() {
    let story = Story::begin().await;
    let stranger = RawCaller::new(story.sandbox.text("platformUrl"), None);
    let stranger = Witness::new(Description::platform(), stranger);
    for operation in Description::platform().operations() {
        if !operation.path.starts_with(PREFIX) {
            continue;
        }
        let parameters = operation.body["parameters"].as_array();
        let id = parameters
            .into_iter()
            .flatten()
            .find(|each| each["name"] == "id");
        let is_number = id.is_some_and(|id| id["schema"]["type"] == "integer");
        let nobody = if is_number { "999999" } else { NOBODY };
        let path = operation
            .path
            .replace("{id}", nobody)
            .replace("{cnpj}", "11444777000161");
        let method = operation.method.to_uppercase();
        let refused = stranger.send(&method, &path, None).await;
        assert_eq!(
            refused.refusal(),
            (401, "PLATFORM_TOKEN_INVALID".to_owned())
        );
        let is_read = !operation.body["responses"]["408"].is_null();
        if is_read {
            let text = "not json".into();
            let answer = story.witness.send(&method, &path, Some(text)).await;
            assert_eq!(answer.status, 400, "{method} {path}");
        }
        if id.is_some() && !is_read {
            let answer = story.witness.send(&method, &path, None).await;
            assert_eq!(answer.status, 404, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn refusals_about_companies_are_as_described() {
    let story = Story::begin().await;
    let sought = format!("companies?cnpj={}", story.sandbox.text("branchCnpj"));
    let branch = id(&story.get(&sought).await["data"][0]);
    let endpoint = |company: &str| format!("companies/{company}/webhook-endpoint");
    let wanted = |url: &str| json!({"url": url, "events": ["webhook.test"]});
    let (at_branch, at_ours) = (endpoint(&branch), endpoint(&story.company));
    let key = json!({"name": "ERP", "responsibleUserId": NOBODY, "scopes": ["preauth:read"]});
    let cnpj = story.sandbox.text("companyCnpj");
    let company = json!({"cnpj": cnpj, "name": "C", "kind": "CONSTRUCTION"});
    let of_branch = |path: &str| format!("companies/{branch}/{path}");
    let (conflict, refused) = ("RESOURCE_CONFLICT", "ENDPOINT_URL_REFUSED");
    let good = wanted("https://erp.azul.com.br");
    let (add, set, get) = ("POST", "PUT", "GET");
    story
        .refused(add, "companies", company, 409, conflict)
        .await;
    let (credit, keys) = (of_branch("credit-analysis"), of_branch("api-keys"));
    story
        .refused(get, &credit, Value::Null, 409, conflict)
        .await;
    let not_head_office = "ENDPOINT_NOT_HEAD_OFFICE";
    story
        .refused(set, &at_branch, good, 422, not_head_office)
        .await;
    let bad = wanted("ftp://example.com");
    story.refused(set, &at_ours, bad, 422, refused).await;
    let nobody = "RESPONSIBLE_USER_REFUSED";
    story.refused(add, &keys, key, 422, nobody).await;
    let no_page = "companies?limit=0";
    story
        .refused(get, no_page, Value::Null, 400, "VALIDATION_ERROR")
        .await;
}

#[tokio::test]
async fn refusals_about_operations_are_as_described() {
    let story = Story::begin().await;
    let offer = story.offer("NF-1").await;
    let day = due_date(60).to_string();
    let invoice = json!({"amount": 12500.5, "dueDate": day, "number": "NF-1"});
    let taken = story.parties(&[("invoice", invoice)]);
    let mut own = taken.clone();
    own["supplierCnpj"] = story.sandbox.text("companyCnpj").into();
    let (own_code, taken_code) = ("PRE_AUTH_SUPPLIER_SELF", "PRE_AUTH_DUPLICATE_INVOICE");
    story
        .refused("POST", "operations", own, 422, own_code)
        .await;
    story
        .refused("POST", "operations", taken, 409, taken_code)
        .await;
    let mut order = story.parties(&[("amount", json!(900))]);
    order["supplierCnpj"] = story.sandbox.text("companyCnpj").into();
    story
        .refused("POST", "payment-orders", order, 422, own_code)
        .await;
    let (pay, invalid) = (format!("{offer}/pay"), "ANTICIPATION_INVALID_TRANSITION");
    story.refused("POST", &pay, json!({}), 409, invalid).await;
    let (request, other) = (format!("{offer}/request?ifVersion=2"), "RESOURCE_CONFLICT");
    story.refused("POST", &request, json!({}), 409, other).await;
    let (no_number, code) = ("operations/abc", "VALIDATION_ERROR");
    story
        .refused("GET", no_number, Value::Null, 400, code)
        .await;
}
