//! The operations and their description: successes, and each refusal that it lists.

use preauth_core::wire::path::{BATCH, EVENTS, PRE_AUTHORIZATIONS, PREFIX, VALIDATE};
use preauth_server::http::integration::MAGIC_PREFIX;
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, offer_body, with};

use crate::description::Description;
use crate::witness::Witness;

#[tokio::test]
async fn successes_are_as_described() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let witness = Witness::new(Description::integration(), sandbox.caller("apiKey"));
    let full = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        "PEDIDO-1".into(),
    );
    let key = [("idempotency-key", "pedido-1-nf")];
    let created = witness
        .send_with("POST", PRE_AUTHORIZATIONS, &key, Some(full.clone()))
        .await;
    let replayed = witness
        .send_with("POST", PRE_AUTHORIZATIONS, &key, Some(full))
        .await;
    assert_eq!(replayed.header("idempotency-replayed"), "true");
    assert_eq!(created.text, replayed.text);
    // No optional field, and no amount.
    witness
        .post(PRE_AUTHORIZATIONS, offer_body(&sandbox, "NF-2"))
        .await;
    let id = created.json()["id"].clone();
    let found = witness.get(&format!("{PRE_AUTHORIZATIONS}/{id}")).await;
    assert_eq!(found.text, created.text);
    witness
        .get(&format!("{PRE_AUTHORIZATIONS}?status=IN_PRE_AUTH&limit=1"))
        .await;
    witness
        .send("POST", &format!("{PRE_AUTHORIZATIONS}/{id}/cancel"), None)
        .await;
    let item = |key: &str, number: &str| json!({"idempotencyKey": key, "preAuthorization": offer_body(&sandbox, number)});
    let items = [item("pedido-3-nf", "NF-3"), item("pedido-4-nf", "NF-1")];
    let batch = witness.post(BATCH, json!({"items": items})).await.json();
    let statuses = [0, 1].map(|place| batch["results"][place]["status"].as_u64());
    assert_eq!(
        statuses,
        [Some(201), Some(201)],
        "NF-1 was canceled: {batch}"
    );
    let batch = witness.post(BATCH, json!({"items": items})).await.json();
    assert_eq!(batch["results"][0]["replayed"], true);
    let items = [item("pedido-5-nf", "NF-3"), item("key", "NF-5")];
    let batch = witness.post(BATCH, json!({"items": items})).await.json();
    let statuses = [0, 1].map(|place| batch["results"][place]["status"].as_u64());
    assert_eq!(statuses, [Some(409), Some(400)]);
    witness.post(VALIDATE, offer_body(&sandbox, "NF-6")).await;
    let first = witness.get(&format!("{EVENTS}?limit=1")).await.json();
    let next = first["pagination"]["next"].as_str().unwrap();
    witness.get(&format!("{EVENTS}?after={next}&wait=1")).await;
    assert_eq!(witness.unseen_successes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_direct_advance_without_number_is_as_described() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let advance = json!({
        "payerCompanyId": sandbox.company().await,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "invoice": {"amount": 900, "dueDate": "2027-01-20"},
    });
    let made = sandbox
        .platform()
        .post_json("/api/platform/v1/operations", &advance)
        .await;
    let witness = Witness::new(Description::integration(), sandbox.caller("apiKey"));
    let found = witness
        .get(&format!("{PRE_AUTHORIZATIONS}/{}", made.json()["id"]))
        .await;
    assert_eq!(
        (
            &found.json()["invoice"]["number"],
            &found.json()["expiresAt"]
        ),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn every_refusal_listed_has_its_status_and_headers() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let witness = Witness::new(Description::integration(), sandbox.caller("apiKey"));
    let mut count = 0_usize;
    for operation in witness.description.operations() {
        for (status, response) in crate::description::members(&operation.body["responses"]) {
            let response = witness.description.resolve(response);
            for code in response["x-error-codes"].as_array().into_iter().flatten() {
                let code = code.as_str().unwrap();
                let answer = provoke(&sandbox, &witness, &operation.id(), code).await;
                assert_eq!(
                    answer,
                    (status.parse().unwrap(), code.to_owned()),
                    "{}",
                    operation.id()
                );
                count = count.saturating_add(1);
            }
        }
    }
    assert!(count > 50, "{count} refusals were provoked");
}

/// Provokes a refusal in a sandbox with a magic value.
async fn provoke(sandbox: &Sandbox, witness: &Witness, id: &str, code: &str) -> (u16, String) {
    let magic = format!("{MAGIC_PREFIX}{code}");
    if id == "createPreAuthorization" {
        return witness
            .post(PRE_AUTHORIZATIONS, offer_body(sandbox, &magic))
            .await
            .refusal();
    }
    if id == "validatePreAuthorization" {
        return witness
            .post(VALIDATE, offer_body(sandbox, &magic))
            .await
            .refusal();
    }
    if id == "createPreAuthorizations" {
        let items = match code {
            "VALIDATION_ERROR" => json!([]),
            _ => json!([{"idempotencyKey": "pedido-1-nf",
                         "preAuthorization": offer_body(sandbox, &magic)}]),
        };
        return witness.post(BATCH, json!({"items": items})).await.refusal();
    }
    if id == "listEvents" {
        let path = format!("{EVENTS}?after={}", magic.replace(':', "%3A"));
        return witness.get(&path).await.refusal();
    }
    if id == "listPreAuthorizations" {
        let path = format!(
            "{PRE_AUTHORIZATIONS}?externalReference={}",
            magic.replace(':', "%3A")
        );
        return witness.get(&path).await.refusal();
    }
    let offer = offer_body(
        sandbox,
        &format!("{id}-{code}").chars().take(50).collect::<String>(),
    );
    let offer = with(offer, "/externalReference", magic.into());
    let created = witness.post(PRE_AUTHORIZATIONS, offer).await;
    let path = format!("{PRE_AUTHORIZATIONS}/{}", created.json()["id"]);
    let answer = match id {
        "getPreAuthorization" => witness.get(&path).await,
        _ => witness.send("POST", &format!("{path}/cancel"), None).await,
    };
    answer.refusal()
}

// Contract: version/OpenAPI
#[test]
fn the_statuses_of_each_operation_are_described() {
    let description = Description::integration();
    assert_eq!(description.document["openapi"], "3.1.0");
    assert_eq!(description.document["info"]["version"], "1.0.0");
    let statuses = [
        ("listPreAuthorizations", "200 400 401 403 429 500"),
        (
            "createPreAuthorization",
            "201 400 401 403 409 413 422 429 500",
        ),
        ("listEvents", "200 400 401 403 410 429 500"),
        ("getPreAuthorization", "200 400 401 403 404 429 500"),
        (
            "cancelPreAuthorization",
            "201 400 401 403 404 409 422 429 500",
        ),
        ("createPreAuthorizations", "200 400 401 403 413 429 500"),
        (
            "validatePreAuthorization",
            "200 400 401 403 409 413 422 429 500",
        ),
    ];
    let operations: Vec<_> = description.operations().collect();
    assert_eq!(operations.len(), statuses.len());
    for operation in operations {
        assert!(operation.path.starts_with(PREFIX));
        let (_, expected) = statuses
            .iter()
            .find(|(id, _)| *id == operation.id())
            .unwrap();
        for status in expected.split(' ') {
            assert!(
                !operation.body["responses"][status].is_null(),
                "{} {status}",
                operation.id()
            );
        }
    }
}

const EMAILS: [(&str, bool); 10] = [
    ("o'neil_a+b-c@mail-1.example.com", true),
    ("o.neil@x.co", true),
    ("oneil'@example.com", false),
    (".oneil@example.com", false),
    ("o..neil@example.com", false),
    ("o}neil@example.com", false),
    ("oneil@example", false),
    ("oneil@-example.com", false),
    ("oneil@example.c", false),
    ("oneil@example.c0m", false),
];

/// Creates written by hand: whether the description allows one, and whether the
/// API accepts it, must be one answer.
#[tokio::test]
async fn the_description_allows_what_the_api_accepts() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let description = Description::integration();
    let schema = &description.document["components"]["schemas"]["CreatePreAuthorization"];
    let erp = sandbox.caller("apiKey");
    let cnpj = sandbox.text("supplierCnpj").to_owned();
    let masked = format!(
        " {}.{}.{}/{}-{} ",
        &cnpj[..2],
        &cnpj[2..5],
        &cnpj[5..8],
        &cnpj[8..12],
        &cnpj[12..]
    );
    let cases = [
        ("/externalReference", Value::Null, true),
        ("/invoice/withheldTaxAmount", Value::Null, true),
        ("/supplier/name", Value::Null, true),
        ("/supplier/phone", Value::Null, true),
        ("/supplier/cnpj", Value::Null, false),
        ("/invoice/number", Value::Null, false),
        ("/supplier/cnpj", masked.into(), true),
        ("/supplier/cnpj", cnpj[..13].into(), false),
        (
            "/supplier/cnpj",
            format!("{}A{}", &cnpj[..12], &cnpj[13..]).into(),
            false,
        ),
        ("/supplier/cnpj", cnpj.replace('1', "\u{661}").into(), false),
        (
            "/externalReference",
            "Pedido n\u{ba} 7 \u{2014} \u{e7}\u{1f3d7}".into(),
            true,
        ),
        ("/externalReference", "PEDIDO\u{ad}-1".into(), false),
        ("/externalReference", "PEDIDO\u{200b}-1".into(), false),
        ("/externalReference", "PEDIDO\n1".into(), false),
        ("/invoice/number", "NF\u{3164}1".into(), false),
        ("/invoice/withheldTaxAmount", 9_999_500.into(), true),
        ("/invoice/withheldTaxAmount", 9_999_501.into(), false),
    ];
    let emails = EMAILS.map(|(email, is_allowed)| ("/supplier/email", email.into(), is_allowed));
    let cases = cases.into_iter().chain(emails);
    for (number, (field, value, is_allowed)) in cases.enumerate() {
        let body = offer_body(&sandbox, &format!("NF-{number}"));
        let mut body = with(body, field, value.clone());
        if field == "/invoice/withheldTaxAmount" {
            // Only the greatest amount allows the greatest tax.
            body = with(body, "/invoice/amount", 10_000_000.into());
        }
        let described = description.validate(schema, &body);
        assert_eq!(
            described.is_ok(),
            is_allowed,
            "{field} {value}: {described:?}"
        );
        let answer = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(
            answer.status == 201,
            is_allowed,
            "{field} {value}: {}",
            answer.text
        );
    }
}
