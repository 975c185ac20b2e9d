//! POST and GET: an offer, in the contract's form, and every reason to refuse one.

use preauth_client::value::{Cnpj, DueDate, Email, InvoiceNumber, Money, Status};
use preauth_client::wire::path::{PRE_AUTHORIZATIONS, VALIDATE};
use preauth_client::{ErrorCode, NewPreAuthorization};
use serde_json::json;
use test_support::{Backend, Sandbox, due_date, offer_body, on_each_database, with};

on_each_database! {
    an_offer_answers_with_exactly_the_fields_of_the_contract,
    the_client_creates_and_reads_back,
    a_new_supplier_is_invited_by_its_first_offer_and_keeps_its_name,
    rules_refuse_in_their_order_and_change_nothing,
    all_problems_of_all_fields_are_reported_together,
    the_same_invoice_may_be_offered_again_once_the_first_offer_is_closed,
    the_demo_company_may_do_all_that_the_contract_allows,
}

// Contract: service/offer service/moments operation/id operation/status operation/externalReference
// Contract: operation/payer* operation/supplier operation/invoice operation/invoice.dueDate
// Contract: operation/invoice.number operation/invoice.withheldTaxAmount operation/expiresAt
// Contract: operation/createdAt create-body/externalReference status/IN_PRE_AUTH transition/create
// Contract: create-call/payer create-call/201 get-call/200
async fn an_offer_answers_with_exactly_the_fields_of_the_contract(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = with(
        offer_body(&sandbox, " NF-1 "),
        "/externalReference",
        json!(" PEDIDO 1 "),
    );
    let body = with(body, "/invoice/withheldTaxAmount", json!(100.25));
    let created = sandbox
        .caller("apiKey")
        .post_json(PRE_AUTHORIZATIONS, &body)
        .await;
    assert_eq!(created.status, 201, "{}", created.text);
    let answer = created.json();
    assert_eq!(
        answer,
        json!({
            "id": 1,
            "status": "IN_PRE_AUTH",
            "externalReference": " PEDIDO 1 ",
            "payer": {"cnpj": sandbox.text("companyCnpj"), "name": "Construtora Exemplo S.A."},
            "supplier": {"cnpj": sandbox.text("supplierCnpj"), "name": "Fornecedor Exemplo Ltda."},
            "invoice": {
                "amount": 12500.5,
                "dueDate": due_date(60).to_string(),
                "number": "NF-1",
                "withheldTaxAmount": 100.25,
            },
            "expiresAt": answer["expiresAt"],
            "createdAt": answer["createdAt"],
        })
    );
    for moment in ["createdAt", "expiresAt"] {
        let text = answer[moment].as_str().unwrap();
        assert_eq!(
            (text.len(), &text[19..20], &text[23..]),
            (24, ".", "Z"),
            "{text}"
        );
    }
    let found = sandbox
        .caller("apiKey")
        .get(&format!("{PRE_AUTHORIZATIONS}/1"))
        .await;
    assert_eq!((found.status, found.text), (200, created.text));
}

// Contract: service/four-operations version/optional-fields
async fn the_client_creates_and_reads_back(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let offer = NewPreAuthorization::new(
        Cnpj::parse(sandbox.text("supplierCnpj")).unwrap(),
        Email::parse("financeiro@fornecedor.example.com").unwrap(),
        Money::from_cents(1_250_050).unwrap(),
        DueDate::from_date(due_date(30)).unwrap(),
        InvoiceNumber::parse("NF-2").unwrap(),
    );
    let client = sandbox.client();
    let created = client.create(&offer).await.unwrap();
    assert_eq!(created.status, Status::InPreAuth);
    assert_eq!(created.invoice.amount.money().cents(), 1_250_050);
    let found = client.get(created.id).await.unwrap();
    assert_eq!(*found, *created);
    let error = client.create(&offer).await.unwrap_err();
    assert_eq!(
        error.code().and_then(|code| code.known()),
        Some(&ErrorCode::PreAuthDuplicateInvoice)
    );
    assert_eq!(error.existing_operation_id(), Some(created.id));
}

// Contract: operation/supplier.cnpj operation/supplier.name create-body/supplier.name
async fn a_new_supplier_is_invited_by_its_first_offer_and_keeps_its_name(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let cnpj = json!("br.asi.l00/1234-00");
    let new = |number: &str| with(offer_body(&sandbox, number), "/supplier/cnpj", cnpj.clone());
    let refused = caller.post_json(PRE_AUTHORIZATIONS, &new("NF-1")).await;
    assert_eq!(
        refused.refusal(),
        (422, "PRE_AUTH_SUPPLIER_NAME_REQUIRED".to_owned())
    );
    let named = |number: &str, name: &str| {
        let body = with(new(number), "/supplier/name", json!(name));
        with(body, "/supplier/contactName", json!("Rui"))
    };
    let first = caller
        .post_json(PRE_AUTHORIZATIONS, &named("NF-1", "Brasil Areia Ltda."))
        .await;
    assert_eq!(first.status, 201, "{}", first.text);
    assert_eq!(
        first.json()["supplier"],
        json!({"cnpj": "BRASIL00123400", "name": "Brasil Areia Ltda."})
    );
    let second = caller
        .post_json(PRE_AUTHORIZATIONS, &named("NF-2", "Outro Nome"))
        .await;
    assert_eq!(second.json()["supplier"]["name"], "Brasil Areia Ltda.");
    let third = caller.post_json(PRE_AUTHORIZATIONS, &new("NF-3")).await;
    assert_eq!(third.status, 201, "{}", third.text);
}

// Contract: create-body/invoice.dueDate error-code/ANTICIPATION_INVALID_DUE_DATE
// Contract: error-code/ANTICIPATION_DUE_DATE_TOO_FAR error-code/CREDIT_ANALYSIS_DUE_DATE_EXCEEDED
// Contract: error-code/CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED error-code/PRE_AUTH_SUPPLIER_SELF
// Contract: error-code/PRE_AUTH_SUPPLIER_BLOCKED limit/due-date
async fn rules_refuse_in_their_order_and_change_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    sandbox.limit_credit(150, 1_000_000).await;
    let body = || offer_body(&sandbox, "NF-1");
    let due = |days: u64| {
        with(
            body(),
            "/invoice/dueDate",
            json!(due_date(days).to_string()),
        )
    };
    let supplier = |name: &str| with(body(), "/supplier/cnpj", json!(sandbox.text(name)));
    let cases = [
        (due(4), "ANTICIPATION_INVALID_DUE_DATE"),
        (due(181), "ANTICIPATION_DUE_DATE_TOO_FAR"),
        (due(151), "CREDIT_ANALYSIS_DUE_DATE_EXCEEDED"),
        (
            with(body(), "/invoice/amount", json!(1_000_000.01)),
            "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        ),
        (supplier("companyCnpj"), "PRE_AUTH_SUPPLIER_SELF"),
        (supplier("branchCnpj"), "PRE_AUTH_SUPPLIER_SELF"),
        (supplier("blockedSupplierCnpj"), "PRE_AUTH_SUPPLIER_BLOCKED"),
        (
            with(
                supplier("blockedSupplierCnpj"),
                "/invoice/dueDate",
                json!(due_date(4).to_string()),
            ),
            "ANTICIPATION_INVALID_DUE_DATE",
        ),
    ];
    for (body, code) in cases {
        let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(answer.refusal(), (422, code.to_owned()), "{body}");
        let field = match code {
            "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED" => Some("invoice.amount"),
            code if code.contains("DUE_DATE") => Some("invoice.dueDate"),
            _ => None,
        };
        assert_eq!(answer.fields(), field.as_slice(), "{body}");
    }
    let (earliest, latest) = (due_date(5), due_date(180));
    for (due, defect) in [
        (json!("2026-01-31"), "já passou"),
        (json!(due_date(0).to_string()), "está próximo demais"),
        (json!(due_date(181).to_string()), "está distante demais"),
    ] {
        let body = with(body(), "/invoice/dueDate", due);
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        let tried = caller.post_json(VALIDATE, &body).await;
        let says = format!(
            "O vencimento {defect}: deve ser de {earliest} a {latest}, que são 5 e 180 dias corridos a partir de hoje em São Paulo."
        );
        for answer in [created, tried] {
            assert_eq!(answer.json()["errors"][0]["message"], says, "{body}");
        }
    }
    for days in [5, 150] {
        let number = format!("NF-{days}");
        let body = with(due(days), "/invoice/number", json!(number));
        let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    let list = caller.get(PRE_AUTHORIZATIONS).await.json();
    assert_eq!(list["pagination"]["total"], 2);
}

// Contract: error-body/errors error-body/details[].field error-code/VALIDATION_ERROR
async fn all_problems_of_all_fields_are_reported_together(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = json!({
        "supplier": {"cnpj": "11222333000182", "email": ".a@b.co", "name": "X", "phone": "1".repeat(21)},
        "invoice": {"amount": 499.99, "dueDate": "2026-2-30", "number": "  ", "withheldTaxAmount": "10"},
        "externalReference": "   ",
    });
    let answer = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(answer.refusal(), (400, "VALIDATION_ERROR".to_owned()));
    assert_eq!(
        answer.fields(),
        [
            "supplier.cnpj",
            "supplier.email",
            "supplier.name",
            "supplier.phone",
            "invoice.dueDate",
            "invoice.number",
            "invoice.withheldTaxAmount",
            "invoice.amount",
            "externalReference",
        ]
    );
    let errors = answer.json()["errors"].as_array().unwrap().clone();
    assert_eq!(errors.len(), 9);
    assert!(
        errors
            .iter()
            .all(|error| error["code"] == "VALIDATION_ERROR")
    );
    let empty = caller.post_json(PRE_AUTHORIZATIONS, &json!({})).await;
    assert_eq!(empty.fields(), ["supplier", "invoice"]);
    let mut body = offer_body(&sandbox, "NF-1");
    body["invoice"]["amount"] = json!("muito");
    body["invoice"]["withheldTaxAmount"] = json!(-5);
    let amounts = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(
        amounts.fields(),
        ["invoice.amount", "invoice.withheldTaxAmount"]
    );
    let mut body = offer_body(&sandbox, "NF-1");
    body["supplier"]["phone"] = json!(" ");
    let blank = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(blank.status, 201, "{}", blank.text);
}

// Contract: error-body/details[].anticipationId transition/free-again duplicate/refused
// Contract: duplicate/id error-code/PRE_AUTH_DUPLICATE_INVOICE
async fn the_same_invoice_may_be_offered_again_once_the_first_offer_is_closed(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let body = offer_body(&sandbox, "NF-1");
    let first = caller.post_json(PRE_AUTHORIZATIONS, &body).await.json();
    let duplicate = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(
        duplicate.refusal(),
        (409, "PRE_AUTH_DUPLICATE_INVOICE".to_owned())
    );
    assert_eq!(
        duplicate.json()["details"][0],
        json!({"anticipationId": first["id"]})
    );
    let other_case = with(body.clone(), "/invoice/number", json!("nf-1"));
    assert_eq!(
        caller
            .post_json(PRE_AUTHORIZATIONS, &other_case)
            .await
            .status,
        201
    );
    let cancelled = caller
        .post(&format!("{PRE_AUTHORIZATIONS}/{}/cancel", first["id"]))
        .await;
    assert_eq!(cancelled.status, 201);
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
        201
    );
}

// Contract: limit/amount limit/due-date
async fn the_demo_company_may_do_all_that_the_contract_allows(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let far = with(
        offer_body(&sandbox, "NF-1"),
        "/invoice/dueDate",
        json!(due_date(180).to_string()),
    );
    let far = with(far, "/invoice/amount", json!(10_000_000));
    let answer = caller.post_json(PRE_AUTHORIZATIONS, &far).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
}
