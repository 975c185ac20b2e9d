//! Identifying texts: every character is visible, and each text has one normalized form.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_client::{ErrorCode, NewPreAuthorization};
use preauth_core::value::{Cnpj, DueDate, Email, InvoiceNumber, Money};
use serde_json::{Value, json};
use test_support::{Backend, Form, Sandbox, due_date, offer_body, on_each_database, with};

on_each_database! {
    hidden_characters_do_not_make_a_second_invoice,
    a_hidden_character_is_refused_in_every_text,
    a_number_in_another_form_is_the_same_invoice_and_is_shown_as_sent,
    a_number_with_other_spaces_is_the_same_invoice,
    a_reference_is_found_by_exactly_what_was_sent,
    a_create_in_another_form_is_the_same_create,
    a_file_name_has_only_characters_that_show,
}

/// Soft hyphen, grapheme joiner, an unassigned default-ignorable, Hangul filler, variation selector,
/// tag letter; hair space, Braille cell without dots, object that is not there, blank hieroglyph, note
/// without a head.
const HIDDEN: [char; 11] = [
    '\u{ad}',
    '\u{34f}',
    '\u{2065}',
    '\u{3164}',
    '\u{fe0f}',
    '\u{e0041}',
    '\u{200a}',
    '\u{2800}',
    '\u{fffc}',
    '\u{13441}',
    '\u{1d159}',
];
const COMPOSED: &str = "NF-\u{e9}\u{e7}";
const DECOMPOSED: &str = "NF-e\u{301}c\u{327}";

async fn total(sandbox: &Sandbox) -> Value {
    let list = sandbox.caller("apiKey").get(PRE_AUTHORIZATIONS).await;
    list.json()["pagination"]["total"].clone()
}

// Contract: create-body/invoice.number
async fn hidden_characters_do_not_make_a_second_invoice(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let first = caller
        .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, "T4-77"))
        .await;
    assert_eq!(first.status, 201, "{}", first.text);
    for hidden in HIDDEN {
        for number in [format!("T4-{hidden}77"), format!("T4-77{hidden}")] {
            let body = offer_body(&sandbox, &number);
            let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
            assert_eq!(
                (answer.refusal(), answer.fields()),
                (
                    (400, "VALIDATION_ERROR".to_owned()),
                    vec!["invoice.number".to_owned()]
                ),
                "{hidden:?}"
            );
            let message = answer.json()["errors"][0]["message"].to_string();
            assert!(message.contains("caractere invis\u{ed}vel"), "{message}");
        }
    }
    assert_eq!(total(&sandbox).await, 1);
}

async fn a_hidden_character_is_refused_in_every_text(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for hidden in HIDDEN
        .into_iter()
        .chain(['\u{200b}', '\u{202e}', '\u{2028}', '\u{2029}'])
    {
        let text = json!(format!("A{hidden}B"));
        let fields = [
            ("/supplier/name", "supplier.name"),
            ("/supplier/contactName", "supplier.contactName"),
            ("/supplier/phone", "supplier.phone"),
            ("/invoice/number", "invoice.number"),
            ("/externalReference", "externalReference"),
        ];
        let body = fields
            .iter()
            .fold(offer_body(&sandbox, ""), |body, (pointer, _)| {
                with(body, pointer, text.clone())
            });
        let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(answer.refusal(), (400, "VALIDATION_ERROR".to_owned()));
        assert_eq!(
            answer.fields(),
            fields.map(|(_, field)| field),
            "{hidden:?}"
        );
    }
    assert_eq!(total(&sandbox).await, 0);
    // Private-use and unassigned characters show as boxes; a combining accent is visible.
    let body = offer_body(&sandbox, "NF-\u{e000}\u{378}e\u{301}");
    let taken = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(taken.status, 201, "{}", taken.text);
}

// Contract: duplicate/refused
async fn a_number_in_another_form_is_the_same_invoice_and_is_shown_as_sent(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let offer = |number: &str| {
        NewPreAuthorization::new(
            Cnpj::parse(sandbox.text("supplierCnpj")).unwrap(),
            Email::parse("financeiro@fornecedor.example.com").unwrap(),
            Money::from_cents(1_250_050).unwrap(),
            DueDate::from_date(due_date(30)).unwrap(),
            InvoiceNumber::parse(number).unwrap(),
        )
    };
    let client = sandbox.client();
    for (first, again) in [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)] {
        let created = client.create(&offer(first)).await.unwrap();
        assert_eq!(created.invoice.number.as_deref(), Some(first));
        let error = client.create(&offer(again)).await.unwrap_err();
        let code = error.code().and_then(|code| code.known());
        assert_eq!(code, Some(&ErrorCode::PreAuthDuplicateInvoice));
        assert_eq!(error.existing_operation_id(), Some(created.id));
        client.cancel(created.id).await.unwrap();
    }
}

async fn a_number_with_other_spaces_is_the_same_invoice(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let offer = async |number: &str| {
        let body = offer_body(&sandbox, number);
        caller.post_json(PRE_AUTHORIZATIONS, &body).await
    };
    // Whichever comes first is the invoice, and is shown as it was sent.
    let numbers = [
        "T4 77",
        "T4\u{a0}77",
        "T4\u{2003}77",
        "T4  77",
        "T4\u{3000} 77",
    ];
    for first in numbers {
        let created = offer(first).await;
        assert_eq!(created.status, 201, "{first:?}: {}", created.text);
        let created = created.json();
        assert_eq!(created["invoice"]["number"], first);
        for again in numbers {
            let refused = offer(again).await;
            assert_eq!(
                refused.refusal(),
                (409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned()),
                "{first:?} {again:?}"
            );
            assert_eq!(
                refused.json()["details"][0]["anticipationId"],
                created["id"]
            );
        }
        let cancel = format!("{PRE_AUTHORIZATIONS}/{}/cancel", created["id"]);
        assert_eq!(caller.post_json(&cancel, &json!({})).await.status, 201);
    }
    // Without a space it is another number.
    assert_eq!(offer("T4 77").await.status, 201);
    assert_eq!(offer("T477").await.status, 201);
}

// Contract: list-call/externalReference
async fn a_reference_is_found_by_exactly_what_was_sent(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let reference = json!(" PED-e\u{301} ");
    let body = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        reference.clone(),
    );
    let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(created.json()["externalReference"], reference);
    let found = async |filter: &str| {
        let path = format!("{PRE_AUTHORIZATIONS}?externalReference={filter}");
        caller.get(&path).await
    };
    let list = found("%20PED-e%CC%81%20").await.json();
    assert_eq!(list["data"][0]["externalReference"], reference);
    // A filter accepts texts that earlier builds may have stored.
    for other in ["%20PED-%C3%A9%20", "PED-e%CC%81", "PED%C2%AD", "%E2%80%8B"] {
        let list = found(other).await;
        assert_eq!(
            (list.status, &list.json()["pagination"]["total"]),
            (200, &json!(0)),
            "{other}"
        );
    }
    assert_eq!(
        found("a%00b").await.refusal(),
        (400, "VALIDATION_ERROR".to_owned())
    );
}

async fn a_create_in_another_form_is_the_same_create(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let key = [("idempotency-key", "pedido-0001")];
    let body = |number: &str| offer_body(&sandbox, number).to_string();
    let first = caller
        .post_text(PRE_AUTHORIZATIONS, &key, body(DECOMPOSED))
        .await;
    assert_eq!(first.status, 201, "{}", first.text);
    for number in [DECOMPOSED, COMPOSED] {
        let again = caller
            .post_text(PRE_AUTHORIZATIONS, &key, body(number))
            .await;
        assert_eq!(
            (again.status, again.header("idempotency-replayed")),
            (201, "true")
        );
        assert_eq!(again.text, first.text);
    }
    let other = caller
        .post_text(PRE_AUTHORIZATIONS, &key, body("NF-ec"))
        .await;
    assert_eq!(other.refusal(), (409, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    // An invisible character in a keyed request is refused, too, and the key stays unused.
    let key = [("idempotency-key", "pedido-0002")];
    for _ in 0..2 {
        let refused = caller
            .post_text(PRE_AUTHORIZATIONS, &key, body("NF\u{ad}-1"))
            .await;
        assert_eq!(refused.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    }
    let taken = caller
        .post_text(PRE_AUTHORIZATIONS, &key, body("NF-1"))
        .await;
    assert_eq!(taken.status, 201, "{}", taken.text);
}

async fn a_file_name_has_only_characters_that_show(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let send = |name: String| {
        let body = with(
            offer_body(&sandbox, "NF-1"),
            "/supplier/phone",
            json!("1\u{ad}"),
        );
        let form = Form::of(&body).file(&name, "application/pdf", b"%PDF-1.7");
        caller.post_form(PRE_AUTHORIZATIONS, &[], form)
    };
    for hidden in HIDDEN.into_iter().chain(['\u{202e}']) {
        let answer = send(format!("nota{hidden}.pdf")).await;
        assert_eq!(
            answer.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{hidden:?}"
        );
        assert_eq!(
            answer.fields(),
            ["supplier.phone", "invoiceFile"],
            "{hidden:?}"
        );
    }
    assert_eq!(
        send("nota não.pdf".to_owned()).await.fields(),
        ["supplier.phone"]
    );
    assert_eq!(total(&sandbox).await, 0);
}
