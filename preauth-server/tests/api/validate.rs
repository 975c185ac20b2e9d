//! POST /pre-authorizations/validate: the decision of a create, and nothing else.

use preauth_client::wire::path::{EVENTS, PRE_AUTHORIZATIONS, VALIDATE};
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, due_date, offer_body, on_each_database, with};

on_each_database! {
    what_would_be_accepted_is_described,
    what_a_create_refuses_is_refused_in_the_same_words,
    fields_that_a_create_does_not_read_are_named,
    nothing_is_kept,
}

const NEW_SUPPLIER: &str = "BRASIL00123400";

fn of_a_new_supplier(sandbox: &Sandbox, number: &str) -> Value {
    with(
        offer_body(sandbox, number),
        "/supplier/cnpj",
        json!(NEW_SUPPLIER),
    )
}

fn named(body: Value) -> Value {
    let body = with(body, "/supplier/name", json!("Fornecedor Novo Ltda."));
    with(body, "/supplier/contactName", json!("Bruno Lima"))
}

async fn what_would_be_accepted_is_described(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let known = caller
        .post_json(VALIDATE, &offer_body(&sandbox, "NF-1"))
        .await;
    let new = named(of_a_new_supplier(&sandbox, "NF-1"));
    let invited = caller.post_json(VALIDATE, &new).await;
    let supplier = json!({"cnpj": sandbox.text("supplierCnpj"), "name": "Fornecedor Exemplo Ltda.", "registered": true});
    assert_eq!((known.status, &known.json()["supplier"]), (200, &supplier));
    let supplier =
        json!({"cnpj": NEW_SUPPLIER, "name": "Fornecedor Novo Ltda.", "registered": false});
    assert_eq!(
        (invited.status, &invited.json()["supplier"]),
        (200, &supplier)
    );

    // As the create shows it.
    let created = caller.post_json(PRE_AUTHORIZATIONS, &new).await.json();
    assert_eq!(created["supplier"]["name"], supplier["name"]);
    let tried = named(of_a_new_supplier(&sandbox, "NF-2"));
    let tried = with(tried, "/supplier/name", json!("Outro nome"));
    let again = caller.post_json(VALIDATE, &tried).await.json();
    let supplier =
        json!({"cnpj": NEW_SUPPLIER, "name": "Fornecedor Novo Ltda.", "registered": true});
    assert_eq!(
        (&again["supplier"], &again["valid"]),
        (&supplier, &json!(true))
    );
    let day = |moment: &Value| moment.as_str().unwrap()[..10].to_owned();
    assert_eq!(day(&again["expiresAt"]), day(&created["expiresAt"]));
}

async fn what_a_create_refuses_is_refused_in_the_same_words(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let taken = offer_body(&sandbox, "NF-1");
    let created = caller.post_json(PRE_AUTHORIZATIONS, &taken).await;
    assert_eq!(created.status, 201);
    let own = sandbox.text("companyCnpj");
    let invalid = with(offer_body(&sandbox, " "), "/supplier/email", json!("x"));
    let bodies = [
        taken,
        of_a_new_supplier(&sandbox, "NF-2"),
        with(offer_body(&sandbox, "NF-2"), "/supplier/cnpj", json!(own)),
        with(
            offer_body(&sandbox, "NF-2"),
            "/invoice/amount",
            json!(10_000_001),
        ),
        with(
            offer_body(&sandbox, "NF-2"),
            "/invoice/dueDate",
            json!(due_date(3).to_string()),
        ),
        with(
            offer_body(&sandbox, "NF-2"),
            "/invoice/dueDate",
            json!(due_date(181).to_string()),
        ),
        invalid,
        json!([]),
    ];
    for body in &bodies {
        let tried = caller.post_json(VALIDATE, body).await;
        let refused = caller.post_json(PRE_AUTHORIZATIONS, body).await;
        assert!(refused.status >= 400, "{body}");
        assert_eq!((tried.status, tried.text), (refused.status, refused.text));
    }
    let form = [("content-type", "multipart/form-data; boundary=x")];
    let refused = caller
        .send(
            reqwest::Method::POST,
            VALIDATE,
            &form,
            Some(b"--x--".to_vec()),
        )
        .await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST".to_owned()));
    let of_an_id = caller.get(VALIDATE).await;
    assert_eq!(of_an_id.status, 400, "an id that is no number");
    let supplier = sandbox.caller("branchApiKey");
    let refused = supplier.post_json(VALIDATE, &bodies[0]).await;
    assert_eq!(
        refused.refusal(),
        (403, "PRE_AUTH_ONLY_CONSTRUTORA".to_owned())
    );
}

async fn fields_that_a_create_does_not_read_are_named(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let mut all = named(offer_body(&sandbox, "NF-1"));
    all["supplier"]["phone"] = json!("+55 11 5555-0100");
    all["invoice"]["withheldTaxAmount"] = json!(1);
    all["externalReference"] = json!("PED-1");
    let read = caller.post_json(VALIDATE, &all).await;
    assert_eq!(
        (read.status, &read.json()["ignoredFields"]),
        (200, &json!([]))
    );
    let mut misspelt = offer_body(&sandbox, "NF-1");
    misspelt["invoice"]["withheldTax"] = json!(1);
    misspelt["supplier"]["fone"] = Value::Null;
    misspelt["invoiceFile"] = json!({"name": "nota.pdf"});
    let tried = caller.post_json(VALIDATE, &misspelt).await.json();
    let mut ignored: Vec<String> = serde_json::from_value(tried["ignoredFields"].clone()).unwrap();
    ignored.sort();
    assert_eq!(
        ignored,
        ["invoice.withheldTax", "invoiceFile", "supplier.fone"]
    );
}

/// But the rate window.
async fn nothing_is_kept(backend: Backend) {
    let sandbox = Sandbox::start_with(backend, &["--rate-limit", "120"]).await;
    let caller = sandbox.caller("apiKey");
    let body = named(of_a_new_supplier(&sandbox, "NF-1"));
    for remaining in ["119", "118", "117"] {
        let tried = caller.post_json(VALIDATE, &body).await;
        assert_eq!(tried.status, 200);
        assert_eq!(tried.header("x-ratelimit-remaining"), remaining);
    }
    let events = caller.get(EVENTS).await.json();
    assert_eq!(events["data"], json!([]));
    let listed = caller.get(PRE_AUTHORIZATIONS).await.json();
    assert_eq!(listed["pagination"]["total"], 0);
    let bare = of_a_new_supplier(&sandbox, "NF-1");
    let refused = caller.post_json(PRE_AUTHORIZATIONS, &bare).await;
    assert_eq!(
        refused.code(),
        "PRE_AUTH_SUPPLIER_NAME_REQUIRED",
        "not invited"
    );
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
        201
    );
    let company = sandbox.company().await;
    let mails = format!("/api/platform/v1/companies/{company}/notices");
    let mails = sandbox.platform().get(&mails).await;
    assert_eq!(
        mails.json()["pagination"]["total"],
        1,
        "of the create alone"
    );
    let deliveries = format!("/api/platform/v1/companies/{company}/deliveries");
    let deliveries = sandbox.platform().get(&deliveries).await;
    assert_eq!(
        deliveries.json()["pagination"]["total"],
        1,
        "of the create alone"
    );
}
