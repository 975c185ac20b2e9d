//! Batches are compared with the same creates, sent one after the other to another sandbox.

use std::collections::BTreeSet;

use preauth_client::wire::path::{BATCH, PRE_AUTHORIZATIONS};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use test_support::{Answer, Backend, Sandbox, due_date, offer_body, with};

use super::effects;
use super::names::Names;

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
        // No address gets as many mails as its limit, which would decide by the moment which of them wait.
        let email = format!("notas-{}-{}@fornecedor.example.com", round / 3, self.number);
        let body = offer_body(sandbox, &number);
        let mut body = with(body, "/supplier/email", json!(email));
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
pub(super) async fn a_batch_answers_as_its_creates_would_one_by_one(backend: Backend) {
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
    let of_creates = effects::of(&alone, &names_alone).await;
    let of_batches = effects::of(&together, &names_together).await;
    for (alone, together) in [
        (&of_creates.events, &of_batches.events),
        (&of_creates.deliveries, &of_batches.deliveries),
        (&of_creates.mails, &of_batches.mails),
    ] {
        assert!(alone.len() > 30, "{alone:?}");
        assert_eq!(alone, together);
    }
}
