//! POST /pre-authorizations/batch: many creates, each as if it were sent alone.

use std::collections::{BTreeMap, BTreeSet};

use preauth_client::wire::path::{BATCH, EVENTS, PRE_AUTHORIZATIONS};
use preauth_client::wire::{MAX_BATCH_BYTES, MAX_BATCH_ITEMS};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use test_support::{
    Answer, Backend, RawCaller, Sandbox, due_date, offer_body, on_each_database, with,
};
use tokio::task::JoinSet;

on_each_database! {
    a_batch_answers_as_its_creates_would_one_by_one,
    a_batch_that_is_malformed_as_a_whole_does_nothing,
    an_item_that_is_malformed_is_no_obstacle_to_the_others,
    a_batch_sent_again_repeats_what_was_created_and_makes_the_rest,
    batches_at_the_same_moment_make_each_operation_once,
    a_batch_shares_its_commits,
    a_batch_is_one_request_of_the_window,
    scope_and_kind_of_company_refuse_the_whole,
}

/// Batches that are compared with single creates.
const ROUNDS: usize = 40;
/// Suppliers that the platform does not know at first.
const NEW_SUPPLIERS: [&str; 2] = ["BRASIL00123400", "12ABC34501DE35"];

/// One create, as drawn.
#[derive(Clone, Debug)]
struct Draw {
    key: u8,
    supplier: usize,
    number: u8,
    is_named: bool,
    flaw: u8,
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let draw = (0..8_u8, 0..3_usize, 0..5_u8, any::<bool>(), 0..12_u8);
    let draw = draw.prop_map(|(key, supplier, number, is_named, flaw)| Draw {
        key,
        supplier,
        number,
        is_named,
        flaw,
    });
    proptest::collection::vec(draw, 1..12)
}

impl Draw {
    /// Keys are those of a round; invoices are those of three rounds, so that some are in the way.
    fn key(&self, round: usize) -> String {
        format!("round-{round}-{}", self.key)
    }

    fn body(&self, sandbox: &Sandbox, round: usize) -> Value {
        let number = format!("NF-{}-{}", round / 3, self.number);
        let mut body = offer_body(sandbox, &number);
        if self.supplier > 0 {
            let cnpj = NEW_SUPPLIERS[self.supplier - 1];
            body = with(body, "/supplier/cnpj", json!(cnpj));
        }
        if self.is_named {
            body = with(body, "/supplier/name", json!("Fornecedor Novo Ltda."));
            body = with(body, "/supplier/contactName", json!("Bruno Lima"));
        }
        match self.flaw {
            0 => with(body, "/invoice/amount", json!(1)),
            1 => with(body, "/invoice/dueDate", json!(due_date(2).to_string())),
            2 => with(body, "/invoice/dueDate", json!("amanhã")),
            3 => json!("a text"),
            _ => body,
        }
    }
}

/// Answers in a form that does not depend on ids and moments: an operation is called by the round and the
/// create that made it.
#[derive(Default)]
struct Names(BTreeMap<u64, String>);

impl Names {
    fn name(&mut self, answer: &mut Value, place: &str) {
        let id = answer["preAuthorization"]["id"].as_u64();
        if let Some(id) = id.filter(|_| answer["replayed"] == false) {
            self.0.insert(id, place.to_owned());
        }
        if let Some(id) = id {
            let operation = answer["preAuthorization"].as_object_mut().unwrap();
            operation.insert("id".to_owned(), json!(self.0[&id]));
            for moment in ["createdAt", "expiresAt"] {
                operation.remove(moment).unwrap();
            }
        }
    }

    /// The operation in the way, once all operations of the round are known.
    fn name_existing(&self, answer: &mut Value) {
        if let Some(id) = answer["details"][0]["anticipationId"].as_u64() {
            answer["details"][0]["anticipationId"] = json!(self.0[&id]);
        }
    }
}

/// A single answer in the form of a batch's.
fn as_item(answer: &Answer) -> Value {
    let body = answer.json();
    let is_created = answer.status == 201;
    json!({
        "status": answer.status,
        "replayed": answer.header("idempotency-replayed") == "true",
        "preAuthorization": if is_created { body.clone() } else { Value::Null },
        "errors": body["errors"],
        "details": body["details"],
    })
}

/// An answer of a batch, with `replayed` written out.
fn of_batch(result: &Value) -> Value {
    json!({
        "status": result["status"],
        "replayed": result["replayed"] == true,
        "preAuthorization": result["preAuthorization"],
        "errors": result["errors"],
        "details": result["details"],
    })
}

fn items(sandbox: &Sandbox, round: usize, draws: &[Draw]) -> Value {
    let item = |draw: &Draw| json!({"idempotencyKey": draw.key(round), "preAuthorization": draw.body(sandbox, round)});
    json!({"items": draws.iter().map(item).collect::<Vec<_>>()})
}

#[expect(
    clippy::too_many_lines,
    reason = "one comparison after the other, of the same two sandboxes"
)]
async fn a_batch_answers_as_its_creates_would_one_by_one(backend: Backend) {
    let (alone, together) = (
        Sandbox::start_with(backend, &["--rate-limit", "1000000"]).await,
        Sandbox::start_with(backend, &["--rate-limit", "1000000"]).await,
    );
    let (one, many) = (alone.caller("apiKey"), together.caller("apiKey"));
    let (mut names_alone, mut names_together) = (Names::default(), Names::default());
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for round in 0..ROUNDS {
        let draws = draws().new_tree(&mut runner).unwrap().current();
        let mut expected = Vec::new();
        for draw in &draws {
            let key = draw.key(round);
            let headers = [("idempotency-key", key.as_str())];
            let body = draw.body(&alone, round).to_string();
            expected.push(as_item(
                &one.post_text(PRE_AUTHORIZATIONS, &headers, body).await,
            ));
        }
        let answer = many
            .post_json(BATCH, &items(&together, round, &draws))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let mut found = Vec::new();
        for (index, result) in answer.json()["results"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            assert_eq!(result["index"], json!(index));
            found.push(of_batch(result));
        }
        for (answers, names) in [
            (&mut expected, &mut names_alone),
            (&mut found, &mut names_together),
        ] {
            for (index, answer) in answers.iter_mut().enumerate() {
                names.name(answer, &format!("{round}.{index}"));
            }
            for answer in answers.iter_mut() {
                names.name_existing(answer);
            }
        }
        for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(expected, found, "item {index} of {draws:#?}");
            let code = found["errors"][0]["code"].as_str().unwrap_or("201");
            let is_replayed = found["replayed"] == true;
            seen.insert(if is_replayed { "replayed" } else { code }.to_owned());
        }
        assert_eq!(expected.len(), found.len());
    }
    let expected = [
        "201",
        "ANTICIPATION_INVALID_DUE_DATE",
        "IDEMPOTENCY_KEY_REUSED",
        "PRE_AUTH_DUPLICATE_INVOICE",
        "PRE_AUTH_SUPPLIER_NAME_REQUIRED",
        "VALIDATION_ERROR",
        "replayed",
    ];
    assert_eq!(
        seen,
        expected.map(str::to_owned).into(),
        "too few were drawn"
    );
    let (of_creates, of_batches) = (events(&one).await, events(&many).await);
    assert!(of_creates.len() > 30, "{of_creates:?}");
    assert_eq!(of_creates, of_batches);
}

/// The types and invoice numbers of all events, sorted: what one commit writes has no order.
async fn events(caller: &RawCaller) -> Vec<(String, String)> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let answer = caller.get(&format!("{EVENTS}?limit=100{after}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let page = answer.json();
        found.extend(page["data"].as_array().unwrap().iter().map(|event| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let number = &event["data"]["invoice"]["number"];
            (text(&event["type"]), text(number))
        }));
        if page["pagination"]["hasMore"] == false {
            break;
        }
        let next = page["pagination"]["next"].as_str().unwrap();
        after = format!("&after={next}");
    }
    found.sort_unstable();
    found
}

fn item(sandbox: &Sandbox, number: usize) -> Value {
    json!({
        "idempotencyKey": format!("pedido-{number:04}"),
        "preAuthorization": offer_body(sandbox, &format!("NF-{number}")),
    })
}

async fn operations(caller: &RawCaller) -> u64 {
    let listed = caller.get(&format!("{PRE_AUTHORIZATIONS}?limit=1")).await;
    listed.json()["pagination"]["total"].as_u64().unwrap()
}

async fn a_batch_that_is_malformed_as_a_whole_does_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let many: Vec<_> = (0..=MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let good = item(&sandbox, 1);
    for (body, field) in [
        (json!({"items": []}), "items"),
        (json!({"items": many}), "items"),
        (json!({"items": {"0": good}}), "items"),
        (json!({"items": null}), "items"),
        (json!({}), "items"),
        (json!([good]), "body"),
    ] {
        let refused = caller.post_json(BATCH, &body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(refused.fields(), [field]);
    }
    let cut = json!({"items": [good]}).to_string();
    let cut = cut[..cut.len() - 1].to_owned();
    let twice = format!("{{\"items\": [{good}], \"items\": [{good}]}}");
    for (body, field) in [(cut, "body"), (twice, "items")] {
        let refused = caller.post_text(BATCH, &[], body).await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(refused.fields(), [field]);
    }
    let form = [("content-type", "multipart/form-data; boundary=x")];
    let refused = caller
        .send(reqwest::Method::POST, BATCH, &form, Some(b"--x--".to_vec()))
        .await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST".to_owned()));

    let filled = |bytes: usize| {
        let body = json!({"items": [good], "comment": ""}).to_string();
        let filling = " ".repeat(bytes - body.len());
        body.replace("\"comment\":\"\"", &format!("\"comment\":\"{filling}\""))
    };
    let too_large = caller
        .post_text(BATCH, &[], filled(MAX_BATCH_BYTES + 1))
        .await;
    assert_eq!(too_large.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    for method in [reqwest::Method::GET, reqwest::Method::HEAD] {
        let of_an_id = caller.send(method, BATCH, &[], None).await;
        assert_eq!(of_an_id.status, 400, "an id that is no number");
    }
    assert_eq!(operations(&caller).await, 0);

    let largest = caller.post_text(BATCH, &[], filled(MAX_BATCH_BYTES)).await;
    assert_eq!(
        largest.json()["results"][0]["status"],
        201,
        "{}",
        largest.text
    );
}

async fn an_item_that_is_malformed_is_no_obstacle_to_the_others(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let good = item(&sandbox, 1);
    let offer = &good["preAuthorization"];
    let key = "\"idempotencyKey\": \"pedido-9999\"";
    let bad = [
        ("7".to_owned(), "VALIDATION_ERROR", Some("items[0]")),
        ("{}".to_owned(), "IDEMPOTENCY_KEY_INVALID", None),
        (
            format!("{{\"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            None,
        ),
        (
            format!("{{\"idempotencyKey\": 12345678, \"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            None,
        ),
        (
            format!("{{\"idempotencyKey\": \"curta\", \"preAuthorization\": {offer}}}"),
            "IDEMPOTENCY_KEY_INVALID",
            None,
        ),
        (
            format!("{{{key}, {key}, \"preAuthorization\": {offer}}}"),
            "VALIDATION_ERROR",
            Some("idempotencyKey"),
        ),
        (
            format!("{{{key}}}"),
            "VALIDATION_ERROR",
            Some("preAuthorization"),
        ),
        (
            format!("{{{key}, \"preAuthorization\": null}}"),
            "VALIDATION_ERROR",
            Some("preAuthorization"),
        ),
        (
            format!("{{{key}, \"preAuthorization\": {{\"supplier\": 1, \"supplier\": 2}}}}"),
            "VALIDATION_ERROR",
            Some("supplier"),
        ),
        (
            format!(
                "{{{key}, \"preAuthorization\": {}1{}}}",
                "[".repeat(40),
                "]".repeat(40)
            ),
            "VALIDATION_ERROR",
            Some("body"),
        ),
    ];
    for (number, (bad, code, field)) in bad.into_iter().enumerate() {
        let good = item(&sandbox, number + 1);
        let body = format!("{{\"items\": [{bad}, {good}]}}");
        let answer = caller.post_text(BATCH, &[], body).await;
        let results = answer.json()["results"].clone();
        let refused = &results[0];
        assert_eq!(refused["status"], 400, "{bad}: {}", answer.text);
        assert_eq!(refused["errors"][0]["code"], code, "{bad}");
        assert_eq!(refused["details"][0]["field"].as_str(), field, "{bad}");
        assert_eq!(results[1]["status"], 201, "{bad}: {}", answer.text);
    }
}

async fn a_batch_sent_again_repeats_what_was_created_and_makes_the_rest(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let half = json!({"items": all[..MAX_BATCH_ITEMS / 2]});
    let first = caller.post_json(BATCH, &half).await.json();
    let second = caller.post_json(BATCH, &json!({"items": all})).await;
    let results = second.json()["results"].as_array().unwrap().clone();
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["status"], 201);
        let is_replayed = index < MAX_BATCH_ITEMS / 2;
        assert_eq!(result["replayed"] == true, is_replayed, "{index}");
        if is_replayed {
            let before = &first["results"][index]["preAuthorization"];
            assert_eq!(&result["preAuthorization"], before);
        }
    }
    assert_eq!(
        operations(&caller).await,
        u64::try_from(MAX_BATCH_ITEMS).unwrap()
    );
    // Byte for byte.
    let id = &results[7]["preAuthorization"]["id"];
    let found = caller.get(&format!("{PRE_AUTHORIZATIONS}/{id}")).await;
    assert!(second.text.contains(&found.text), "{}", found.text);
}

async fn batches_at_the_same_moment_make_each_operation_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let all: Vec<_> = (0..50).map(|it| item(&sandbox, it)).collect();
    let body = json!({"items": all});
    let mut tasks = JoinSet::new();
    for _ in 0..6 {
        let (caller, body) = (sandbox.caller("apiKey"), body.clone());
        tasks.spawn(async move { caller.post_json(BATCH, &body).await });
    }
    let mut made = 0;
    while let Some(answer) = tasks.join_next().await {
        for result in answer.unwrap().json()["results"].as_array().unwrap() {
            match result["status"].as_u64().unwrap() {
                201 => made += u64::from(result["replayed"] != true),
                _ => assert_eq!(result["errors"][0]["code"], "IDEMPOTENCY_IN_PROGRESS"),
            }
        }
    }
    assert_eq!(made, 50);
    let caller = sandbox.caller("apiKey");
    let again = caller.post_json(BATCH, &body).await.json();
    let results = again["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["replayed"] == true));
    assert_eq!(operations(&caller).await, 50);
}

/// Maximum number of commits of a whole batch. It takes 3 to 5; on SQLite deliveries that have begun add some.
const MAX_COMMITS: usize = 12;

/// Many creates wait for few syncs.
async fn a_batch_shares_its_commits(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..MAX_BATCH_ITEMS).map(|it| item(&sandbox, it)).collect();
    let before = commits(&sandbox).await;
    let answer = caller.post_json(BATCH, &json!({"items": all})).await;
    let made = commits(&sandbox).await - before;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(operations(&caller).await, 100);
    assert!((1..=MAX_COMMITS).contains(&made), "{made} commits");
}

/// On PostgreSQL the transactions that wrote operations, on SQLite all that are in its log.
async fn commits(sandbox: &Sandbox) -> usize {
    if let Some(url) = sandbox.database_url() {
        let mut sql = PgConnection::connect(&url).await.unwrap();
        let written = "SELECT count(DISTINCT xmin::TEXT) FROM operations";
        let written: i64 = sqlx::query_scalar(written)
            .fetch_one(&mut sql)
            .await
            .unwrap();
        return usize::try_from(written).unwrap();
    }
    let log = std::fs::read(sandbox.data().join("preauth.db-wal")).unwrap();
    let number = |at: &[u8]| u32::from_be_bytes(at.try_into().unwrap());
    let (head, frames) = log.split_at(32);
    let page = usize::try_from(number(&head[8..12])).unwrap();
    let frames = frames.chunks_exact(24 + page);
    // The last frame of a transaction has the size of the database.
    frames.filter(|it| number(&it[4..8]) > 0).count()
}

async fn a_batch_is_one_request_of_the_window(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "3"]).await;
    let caller = sandbox.caller("apiKey");
    let all: Vec<_> = (0..5).map(|it| item(&sandbox, it)).collect();
    let answer = caller.post_json(BATCH, &json!({"items": all})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("x-ratelimit-remaining"),
        "2",
        "{:?}",
        answer.headers
    );
}

async fn scope_and_kind_of_company_refuse_the_whole(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for code in [
        "INTEGRATION_SCOPE_FORBIDDEN",
        "PRE_AUTH_ONLY_CONSTRUTORA",
        "SERVICE_UNAVAILABLE",
    ] {
        let magic = with(
            item(&sandbox, 1),
            "/preAuthorization/invoice/number",
            json!(format!("sandbox:{code}")),
        );
        let first = json!({"items": [magic, item(&sandbox, 2)]});
        let refused = caller.post_json(BATCH, &first).await;
        assert_eq!(refused.code(), code, "the first item's magic value");
        assert_eq!(operations(&caller).await, 0);
    }
    let supplier = sandbox.caller("branchApiKey");
    let refused = supplier
        .post_json(BATCH, &json!({"items": [item(&sandbox, 1)]}))
        .await;
    assert_eq!(
        refused.refusal(),
        (403, "PRE_AUTH_ONLY_CONSTRUTORA".to_owned())
    );
    let stranger = sandbox.stranger();
    let refused = stranger.post_json(BATCH, &json!({"items": []})).await;
    assert_eq!(refused.status, 401);
}
