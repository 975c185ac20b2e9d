//! Forms that no other test sends: steps of payment orders, mails, users, the block list, direct advances, the
//! clock.

use preauth_core::value::Timestamp;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Backend, MailServer, Manner, Sandbox, due_date, office, on_each_database, travel,
};

use crate::browser::{Browser, browser};

/// A form, its fields, and the status afterwards.
type Step<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

on_each_database! {
    a_payment_order_goes_every_way_by_its_forms,
    a_mail_that_failed_is_sent_again,
    an_address_gets_mails_again,
    a_user_is_changed_deactivated_and_activated,
    a_supplier_is_blocked_and_unblocked,
    an_endpoint_is_removed,
    a_direct_advance_begins_and_is_verified,
    the_clock_of_a_sandbox_goes_on,
}

async fn read(sandbox: &Sandbox, path: &str) -> Value {
    let answer = sandbox.platform().get(&format!("{PREFIX}/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// Sends a form that a page offers, and checks where it leads.
async fn step(browser: &mut Browser, page: &str, form: &str, fields: &[(&str, &str)], to: &str) {
    let shown = browser.page(page).await;
    assert!(
        shown.contains(&format!("href=\"{form}\"")),
        "{form}: {shown}"
    );
    let done = browser.submit(form, fields).await;
    assert_eq!(done.status, 303, "{form}: {}", done.text);
    assert_eq!(done.header("location"), format!("{to}?done=1"), "{form}");
    let shown = browser.page(done.header("location")).await;
    assert!(shown.contains("Done."), "{shown}");
}

async fn a_payment_order_goes_every_way_by_its_forms(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let order = json!({
        "payerCompanyId": sandbox.company().await,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "amount": 1500,
    });
    let day = due_date(10).to_string();
    let walks: [&[Step<'_>]; 3] = [
        &[
            ("review", &[], "UNDER_REVIEW"),
            ("schedule", &[("scheduledFor", &day)], "SCHEDULED"),
            ("pay", &[], "PAID"),
        ],
        &[("cancel", &[("reason", "Pedido em dobro")], "CANCELED")],
        &[
            ("review", &[], "UNDER_REVIEW"),
            ("reprove", &[("reason", "Conta encerrada")], "REPROVED"),
        ],
    ];
    for walk in walks {
        let path = format!("{PREFIX}/payment-orders");
        let made = sandbox.platform().post_json(&path, &order).await;
        assert_eq!(made.status, 201, "{}", made.text);
        let path = format!("payment-orders/{}", made.json()["id"]);
        let page = format!("/console/{path}");
        for (form, fields, reached) in walk {
            step(
                &mut browser,
                &page,
                &format!("{page}/{form}"),
                fields,
                &page,
            )
            .await;
            let order = read(&sandbox, &path).await;
            assert_eq!(order["status"], *reached, "{form}");
            for (name, value) in *fields {
                assert_eq!(order[*name], *value, "{form}");
            }
        }
        let ended = browser.page(&page).await;
        assert!(!ended.contains(&format!("{page}/")), "{ended}");
    }
}

async fn a_mail_that_failed_is_sent_again(backend: Backend) {
    const ADDRESS: &str = "ninguem@fornecedor.example.com";
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Refuse);
    let sandbox = office::start(backend, &server).await;
    let mut browser = browser(&sandbox).await;
    let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
    office::until(&sandbox, 1, "FAILED").await;
    let mail = office::mail_of(&sandbox, operation).await;
    let page = format!("/console/mails/{}", mail["id"].as_str().unwrap());
    server.treat(ADDRESS, Manner::Take);
    let form = format!("{page}/resend");
    step(&mut browser, &page, &form, &[], &page).await;
    office::until(&sandbox, 1, "SENT").await;
    assert_eq!(server.taken_for(ADDRESS).len(), 1);
    // What was sent is not sent again.
    assert!(!browser.page(&page).await.contains(&form));
    let refused = browser.submit(&form, &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
}

async fn an_address_gets_mails_again(backend: Backend) {
    const ADDRESS: &str = "financeiro@fornecedor.example.com";
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
    office::until(&sandbox, 1, "SENT").await;
    let unwanted = format!("{}/nao-receber", sandbox.page_of(operation));
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let suppliers = sandbox.suppliers();
    let ended = suppliers.send(Method::POST, &unwanted, &form, None).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    let listed = read(&sandbox, "suppressed-addresses").await;
    let id = listed["data"][0]["id"].as_str().unwrap();
    let page = "/console/suppressed-addresses";
    let form = format!("{page}/{id}/remove");
    let shown = browser.page(&form).await;
    // Whose address it is, and that nobody gets it back.
    for part in [ADDRESS, "This cannot be undone."] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    step(&mut browser, page, &form, &[], page).await;
    let listed = read(&sandbox, "suppressed-addresses").await;
    assert_eq!(listed["pagination"]["total"], 0, "{listed}");
}

async fn a_user_is_changed_deactivated_and_activated(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let path = format!("{PREFIX}/companies/{company}/users");
    let user = json!({"name": "Bia", "email": "bia@example.com", "permissions": []});
    let made = sandbox.platform().post_json(&path, &user).await.json();
    let path = format!("users/{}", made["id"].as_str().unwrap());
    let page = format!("/console/{path}");
    let company = format!("/console/companies/{company}");
    let permissions = [
        ("permissions", "PRE_AUTHORIZE_ADVANCES"),
        ("permissions", "REQUEST_ADVANCES"),
    ];
    for (form, fields, name, expected) in [
        (
            "edit",
            &permissions[..],
            "permissions",
            json!(permissions.map(|(_, value)| value)),
        ),
        ("deactivate", &[], "active", json!(false)),
        ("activate", &[], "active", json!(true)),
    ] {
        let form = format!("{page}/{form}");
        step(&mut browser, &page, &form, fields, &company).await;
        let mut found = read(&sandbox, &path).await[name].clone();
        let mut expected = expected;
        for list in [&mut found, &mut expected] {
            if let Some(list) = list.as_array_mut() {
                list.sort_by_key(Value::to_string);
            }
        }
        assert_eq!(found, expected, "{form}");
    }
}

async fn a_supplier_is_blocked_and_unblocked(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let path = format!("companies/{}", sandbox.company().await);
    let page = format!("/console/{path}");
    let cnpj = sandbox.text("supplierCnpj").to_owned();
    let list = format!("{path}/blocked-suppliers");
    let blocked = async || {
        let listed = read(&sandbox, &list).await["data"].clone();
        listed.as_array().unwrap().clone()
    };
    let (before, added) = (blocked().await, json!({"cnpj": cnpj}));
    assert!(!before.contains(&added), "{before:?}");
    let form = format!("{page}/block-supplier");
    step(&mut browser, &page, &form, &[("cnpj", &cnpj)], &page).await;
    let after = blocked().await;
    assert!(after.contains(&added), "{after:?}");
    assert_eq!(after.len(), before.len() + 1);
    let form = format!("{page}/blocked-suppliers/{cnpj}/unblock");
    step(&mut browser, &page, &form, &[], &page).await;
    assert_eq!(blocked().await, before);
}

async fn an_endpoint_is_removed(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let path = format!("companies/{}", sandbox.company().await);
    let page = format!("/console/{path}");
    let form = format!("{page}/webhook-endpoint/delete");
    step(&mut browser, &page, &form, &[], &page).await;
    let path = format!("{PREFIX}/{path}/webhook-endpoint");
    let gone = sandbox.platform().get(&path).await;
    assert_eq!(gone.status, 404, "{}", gone.text);
    assert!(!browser.page(&page).await.contains(&form));
}

async fn a_direct_advance_begins_and_is_verified(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let due = due_date(60).to_string();
    let fields = [
        ("payerCompanyId", sandbox.text("companyCnpj")),
        ("supplierCnpj", sandbox.text("supplierCnpj")),
        ("invoice.amount", "12,500.50"),
        ("invoice.dueDate", &due),
        ("invoice.number", "NF-77"),
        ("invoice.withheldTaxAmount", "100.50"),
        ("externalReference", "PEDIDO-9"),
    ];
    let form = "/console/new-operation";
    let list = browser.page("/console/operations").await;
    assert!(list.contains(&format!("href=\"{form}\"")), "{list}");
    let begun = browser.submit(form, &fields).await;
    assert_eq!(begun.status, 303, "{}", begun.text);
    let page = begun.header("location").trim_end_matches("?done=1");
    let path = page.trim_start_matches("/console/").to_owned();
    let operation = read(&sandbox, &path).await;
    assert_eq!(operation["status"], "IN_VERIFICATION");
    assert_eq!(operation["invoice"]["amount"], 12_500.5);
    assert_eq!(operation["invoice"]["withheldTaxAmount"], 100.5);
    assert_eq!(operation["externalReference"], "PEDIDO-9");
    step(&mut browser, page, &format!("{page}/verify"), &[], page).await;
    assert_eq!(read(&sandbox, &path).await["status"], "TO_APPROVE");
}

async fn the_clock_of_a_sandbox_goes_on(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let now = async || {
        let clock = travel::advance(&sandbox, 0).await.json();
        Timestamp::parse(clock["now"].as_str().unwrap()).unwrap()
    };
    let (page, form) = ("/console/health", "/console/sandbox/clock");
    // A sandbox's own seconds pass meanwhile.
    let own = 600;
    for (hours, seconds) in [("36", 129_600), ("0.5", 1_800), ("0,25", 900)] {
        let before = now().await;
        let fields = [("advanceSeconds", hours)];
        step(&mut browser, page, form, &fields, page).await;
        let passed = now().await.since(before).num_seconds();
        assert!(
            (seconds..seconds + own).contains(&passed),
            "{hours}: {passed}"
        );
    }
    // What is no number of hours, or too many, moves nothing, and is refused in hours.
    let before = now().await;
    for hours in ["soon", "1.005", "-1", "9000"] {
        for (language, says) in [
            ("en", "From 0 to 8784 hours, with two decimals at most."),
            (
                "pt-BR",
                "De 0 a 8784 horas, com no máximo duas casas decimais.",
            ),
        ] {
            browser.language = language;
            let refused = browser.submit(form, &[("advanceSeconds", hours)]).await;
            assert_eq!(refused.status, 400, "{hours}: {}", refused.text);
            assert!(refused.text.contains(says), "{hours}: {}", refused.text);
            let again = format!("value=\"{hours}\"");
            assert!(refused.text.contains(&again), "{hours}: {}", refused.text);
        }
    }
    assert!(now().await.since(before).num_seconds() < own);
}
