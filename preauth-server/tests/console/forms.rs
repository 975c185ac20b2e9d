//! What forms do: steps of an operation, conflicts, secrets shown once.

use preauth_server::http::platform::PREFIX;
use test_support::{Backend, Sandbox, on_each_database};

use crate::browser::{Browser, browser};

on_each_database! {
    an_operation_is_led_from_offer_to_boleto,
    the_second_of_two_operators_sees_what_the_first_did,
    a_form_that_is_sent_twice_creates_once,
    a_refusal_is_shown_in_the_reader_s_language,
    a_list_is_searched_and_downloaded,
    payment_orders_are_downloaded_in_the_reader_s_spelling,
    the_page_of_an_operation_leads_to_its_lists,
}

async fn offered(sandbox: &Sandbox, number: &str) -> i64 {
    let caller = sandbox.caller("apiKey");
    let body = test_support::offer_body(sandbox, number);
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    let answer = caller.post_json(path, &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_i64().unwrap()
}

async fn status(sandbox: &Sandbox, id: i64) -> String {
    let path = format!("{PREFIX}/operations/{id}");
    let found = sandbox.platform().get(&path).await.json();
    found["status"].as_str().unwrap().to_owned()
}

async fn an_operation_is_led_from_offer_to_boleto(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let id = offered(&sandbox, "NF-900").await;
    for (step, fields, reached) in [
        ("request", &[][..], "TO_APPROVE"),
        (
            "reprove-by-company",
            &[("reason", "Nota cancelada")],
            "REPROVED",
        ),
        ("reopen", &[], "TO_APPROVE"),
        ("approve", &[], "IN_ANALYSIS"),
        ("release", &[("netAmount", "11987.65")], "TO_PAY"),
        ("pay", &[], "TO_BILL"),
        ("return-payout", &[], "TO_PAY"),
        ("pay", &[], "TO_BILL"),
        ("bill", &[], "TO_RECEIVE"),
        ("conclude", &[], "CONCLUDED"),
    ] {
        let page = browser.page(&format!("/console/operations/{id}")).await;
        let path = format!("/console/operations/{id}/{step}");
        assert!(page.contains(&format!("href=\"{path}\"")), "{step}: {page}");
        let answer = browser.submit(&path, fields).await;
        assert_eq!(answer.status, 303, "{step}: {}", answer.text);
        let then = format!("/console/operations/{id}?done=1");
        assert_eq!(answer.header("location"), then);
        assert_eq!(status(&sandbox, id).await, reached, "{step}");
    }
    let page = browser.page(&format!("/console/operations/{id}")).await;
    assert!(
        !page.contains(&format!("/console/operations/{id}/")),
        "{page}"
    );
    // The history names the operator.
    assert_eq!(page.matches("root <small>").count(), 10, "{page}");
}

async fn the_second_of_two_operators_sees_what_the_first_did(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (mut one, mut other) = (browser(&sandbox).await, browser(&sandbox).await);
    let id = offered(&sandbox, "NF-901").await;
    let path = format!("/console/operations/{id}/decline");
    let form = other.page(&path).await;
    let first = one
        .submit(&format!("/console/operations/{id}/request"), &[])
        .await;
    assert_eq!(first.status, 303, "{}", first.text);
    let late = other
        .submit_again(&form, &path, &[("reason", "Sem interesse")])
        .await;
    assert_eq!(late.status, 409, "{}", late.text);
    assert!(
        late.text
            .contains("This has changed since you opened the form"),
        "{}",
        late.text
    );
    assert!(late.text.contains("title=\"TO_APPROVE\""), "{}", late.text);
    assert_eq!(status(&sandbox, id).await, "TO_APPROVE");
    // The form of what is no longer possible says so, too.
    let refused = other.submit(&path, &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(
        refused.text.contains("See what happened"),
        "{}",
        refused.text
    );
}

async fn a_form_that_is_sent_twice_creates_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let path = "/console/new-operator";
    let form = browser.page(path).await;
    let fields = [("name", "Bruno"), ("role", "OPERATOR")];
    let first = browser.submit_again(&form, path, &fields).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let token = first.text.split("id=\"secret\">").nth(1).unwrap();
    let token = token.split('<').next().unwrap();
    assert!(token.starts_with("preauth_op_"), "{token}");
    let again = browser.submit_again(&form, path, &fields).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert!(!again.text.contains("preauth_op_0") && !again.text.contains(token));
    let mut bruno = Browser::signed_in(&browser.url, token).await;
    assert!(bruno.page("/console").await.contains("<b>Bruno</b>"));
}

async fn a_refusal_is_shown_in_the_reader_s_language(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let id = offered(&sandbox, "NF-902").await;
    for step in ["request", "approve"] {
        let done = browser
            .submit(&format!("/console/operations/{id}/{step}"), &[])
            .await;
        assert_eq!(done.status, 303, "{}", done.text);
    }
    let path = format!("/console/operations/{id}/release");
    browser.language = "pt-BR";
    let refused = browser
        .submit(&path, &[("netAmount", "99.999.999,00")])
        .await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let sentence =
        "Este campo deve ser maior que zero e no máximo o valor da nota menos as retenções.";
    assert!(refused.text.contains(sentence), "{}", refused.text);
    // What was typed is kept.
    assert!(
        refused.text.contains("value=\"99.999.999,00\""),
        "{}",
        refused.text
    );
    let done = browser.submit(&path, &[("netAmount", "11.987,65")]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let page = browser.page(&format!("/console/operations/{id}")).await;
    assert!(page.contains("R$\u{a0}11.987,65"), "{page}");
    browser.language = "en";
    let page = browser.page(&format!("/console/operations/{id}")).await;
    assert!(page.contains("BRL\u{a0}11,987.65"), "{page}");
    let again = browser.submit(&path, &[("netAmount", "1.00")]).await;
    assert_eq!(again.status, 409);
    assert!(
        again.text.contains("status does not allow this action"),
        "{}",
        again.text
    );
}

async fn a_list_is_searched_and_downloaded(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let mut offer = test_support::offer_body(&sandbox, "NF-903");
    offer["externalReference"] = serde_json::json!("PEDIDO-903");
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    let made = sandbox.caller("apiKey").post_json(path, &offer).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.json()["id"].as_i64().unwrap();
    let link = format!("href=\"/console/operations/{id}\"");
    let today = browser.page("/console/operations").await;
    // As the reader sees it: a day of São Paulo.
    let today = today.split("</time>").next().unwrap();
    let today = today.rsplit('>').next().unwrap()[..10].to_owned();
    let supplier = sandbox.text("supplierCnpj").to_owned();
    for (query, finds) in [
        ("", true),
        ("?status=IN_PRE_AUTH", true),
        ("?status=TO_PAY", false),
        ("?invoiceNumber=NF-903", true),
        ("?invoiceNumber=NF-9", false),
        ("?externalReference=PEDIDO-903", true),
        ("?externalReference=PEDIDO-9", false),
        (&format!("?cnpj={supplier}"), true),
        (&format!("?cnpj={}", sandbox.text("companyCnpj")), true),
        (&format!("?cnpj={}", sandbox.text("branchCnpj")), false),
        (&format!("?from={today}&invoiceNumber=NF-903"), true),
        ("?until=2020-01-01", false),
        ("?cnpj=1", false),
    ] {
        let page = browser.page(&format!("/console/operations{query}")).await;
        assert_eq!(page.contains(&link), finds, "{query}: {page}");
    }
    // An id leads to the record; of an id that none has, the page says so.
    let sought = browser.get(&format!("/console/operations?id={id}")).await;
    assert_eq!(sought.status, 303, "{}", sought.text);
    let page = format!("/console/operations/{id}");
    assert_eq!(sought.header("location"), page);
    let sought = browser.get("/console/operations?id=999999").await;
    let missing = browser.get(sought.header("location")).await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    let wrong = browser.page("/console/operations?cnpj=1").await;
    assert!(wrong.contains("role=\"alert\""), "{wrong}");
    let file = browser
        .get("/console/operations.csv?invoiceNumber=NF-903")
        .await;
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<_> = file.text.lines().collect();
    assert_eq!(lines.len(), 2, "{}", file.text);
    assert!(lines[0].starts_with("\u{feff}\""), "{}", file.text);
    assert!(
        lines[1].starts_with(&format!("\"{id}\",\"IN_PRE_AUTH\",")),
        "{}",
        file.text
    );
    browser.language = "pt-BR";
    let file = browser
        .get("/console/operations.csv?invoiceNumber=NF-903")
        .await;
    assert!(
        file.text.contains(&format!("\n\"{id}\";\"IN_PRE_AUTH\";")),
        "{}",
        file.text
    );
    // A column of plain numbers, as a spreadsheet in Portuguese reads them.
    assert!(file.text.contains(";\"12500,50\";"), "{}", file.text);
}

async fn payment_orders_are_downloaded_in_the_reader_s_spelling(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let fields = [
        ("payerCompanyId", company.as_str()),
        ("supplierCnpj", sandbox.text("supplierCnpj")),
        ("amount", "11,900.05"),
    ];
    let added = browser.submit("/console/new-payment-order", &fields).await;
    assert_eq!(added.status, 303, "{}", added.text);
    let path = format!("{PREFIX}/payment-orders");
    let order = sandbox.platform().get(&path).await.json()["data"][0].clone();
    let [payer, supplier] = ["payer", "supplier"].map(|it| order[it]["name"].as_str().unwrap());
    let [id, at] = ["id", "createdAt"].map(|it| order[it].to_string().replace('"', ""));

    let rows = async |browser: &mut Browser| {
        let file = browser.get("/console/payment-orders.csv").await;
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
        let file = file.text.strip_prefix('\u{feff}').unwrap().to_owned();
        let lines: Vec<_> = file.split_terminator("\r\n").map(str::to_owned).collect();
        <[String; 2]>::try_from(lines).unwrap()
    };
    let [titles, row] = rows(&mut browser).await;
    assert!(
        titles.starts_with("\"id\",\"status\",\"payer\""),
        "{titles}"
    );
    assert_eq!(
        row,
        format!("\"{id}\",\"CREATED\",\"{payer}\",\"{supplier}\",\"11900.05\",\"\",\"\",\"{at}\"")
    );
    browser.language = "pt-BR";
    let [titles, row] = rows(&mut browser).await;
    assert!(
        titles.starts_with("\"id\";\"situação\";\"empresa pagadora\""),
        "{titles}"
    );
    assert_eq!(
        row,
        format!("\"{id}\";\"CREATED\";\"{payer}\";\"{supplier}\";\"11900,05\";\"\";\"\";\"{at}\"")
    );
}

async fn the_page_of_an_operation_leads_to_its_lists(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let (id, other) = (
        offered(&sandbox, "NF-904").await,
        offered(&sandbox, "NF-905").await,
    );
    for operation in [id, other] {
        for (step, fields) in [
            ("request", &[][..]),
            ("approve", &[]),
            ("release", &[("netAmount", "11987.65")]),
        ] {
            let form = format!("/console/operations/{operation}/{step}");
            let done = browser.submit(&form, fields).await;
            assert_eq!(done.status, 303, "{}", done.text);
        }
        let form = format!("/console/operations/{operation}/new-payment-order");
        let page = browser.page(&form).await;
        let filled = |name: &str| {
            let field = page.split(&format!("name=\"{name}\"")).nth(1).unwrap();
            let value = field.split("value=\"").nth(1).unwrap();
            value.split('"').next().unwrap().to_owned()
        };
        let names = ["payerCompanyId", "supplierCnpj", "amount", "operationId"];
        let values = names.map(|name| (name, filled(name)));
        let fields = values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let made = browser.submit_again(&page, &form, &fields).await;
        assert_eq!(made.status, 303, "{}", made.text);
    }
    let page = browser.page(&format!("/console/operations/{id}")).await;
    let records = format!("href=\"/console/operations/{other}\"");
    let own = format!("href=\"/console/operations/{id}\"");
    for list in ["deliveries", "mails", "payment-orders"] {
        let path = format!("/console/{list}?operationId={id}");
        assert!(page.contains(&format!("href=\"{path}\"")), "{path}: {page}");
        let list = browser.page(&path).await;
        assert!(list.contains(&own), "{list}");
        assert!(!list.contains(&records), "{list}");
    }
}
