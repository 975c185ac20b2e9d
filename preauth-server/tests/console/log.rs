//! The audit log: searched by company, with the ids of requests, and with links to its records.

use preauth_server::http::platform::PREFIX;
use serde_json::json;
use test_support::{Backend, Sandbox, due_date, on_each_database};

use crate::browser::browser;

on_each_database! { rows_of_the_log_lead_to_their_records }

#[expect(clippy::too_many_lines, reason = "one log, a row of each kind")]
async fn rows_of_the_log_lead_to_their_records(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let platform = sandbox.platform();
    let made = async |path: &str, body| {
        let made = platform.post_json(&format!("{PREFIX}/{path}"), &body).await;
        assert!(made.status < 300, "{path}: {}", made.text);
        let id = made.json()["id"].clone();
        id.as_str()
            .map_or_else(|| id.to_string(), ToOwned::to_owned)
    };
    let both = json!(["PRE_AUTHORIZE_ADVANCES", "REQUEST_ADVANCES"]);
    let user = json!({"name": "Bia", "email": "bia@example.com", "permissions": both});
    let user = made(&format!("companies/{company}/users"), user).await;
    let key = json!({"name": "ERP", "responsibleUserId": user, "scopes": ["preauth:read"]});
    let key = made(&format!("companies/{company}/api-keys"), key).await;
    let operator = made("operators", json!({"name": "Ana", "role": "ADMIN"})).await;
    let invoice = json!({
        "payerCompanyId": company,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "invoice": {"amount": 10, "dueDate": due_date(60).to_string(), "number": "NF-9"},
    });
    let received = made("invoices", invoice.clone()).await;
    let mut advance = invoice;
    advance["invoice"]["amount"] = json!(12_500.5);
    let operation = made("operations", advance).await;
    for (step, body) in [
        ("verify", json!({})),
        ("approve", json!({})),
        ("release", json!({"netAmount": 11_000})),
        ("pay", json!({})),
        ("bill", json!({})),
    ] {
        made(&format!("operations/{operation}/{step}"), body).await;
    }
    let extension = json!({"newDueDate": due_date(90).to_string(), "totalAmount": 12_777.25});
    let extension = made(&format!("operations/{operation}/extensions"), extension).await;
    made(&format!("extensions/{extension}/conclude"), json!({})).await;
    let log = browser.page("/console/log").await;
    for record in [
        format!("users/{user}"),
        format!("api-keys/{key}"),
        format!("operators/{operator}"),
        format!("invoices/{received}"),
        format!("operations/{operation}"),
    ] {
        let link = format!("href=\"/console/{record}\"");
        assert!(log.contains(&link), "{record}: {log}");
        browser.page(&format!("/console/{record}")).await;
    }
    let link = format!("href=\"/console/extensions/{extension}\"");
    assert!(log.contains(&link), "{log}");
    let led = browser
        .get(&format!("/console/extensions/{extension}"))
        .await;
    let page = format!("/console/operations/{operation}");
    assert_eq!(led.header("location"), page);

    // The same request in the history of the operation and in the log, and in the server's log.
    let details = format!("{PREFIX}/operations/{operation}");
    let details = platform.get(&details).await.json();
    let history = browser.page(&page).await;
    let event = &details["history"].as_array().unwrap().last().unwrap()["operator"];
    let request = event["requestId"].as_str().unwrap();
    let whole = format!("title=\"{request}\">…{}<", &request[28..]);
    assert!(history.contains(&whole), "{history}");
    assert!(log.contains(&whole), "{log}");

    // Only on behalf of one company; its page leads there.
    let of_company = format!("/console/log?companyId={company}");
    let shown = browser.page(&format!("/console/companies/{company}")).await;
    assert!(shown.contains(&format!("href=\"{of_company}\"")), "{shown}");
    let shown = browser.page(&of_company).await;
    assert!(shown.contains(&format!("/console/users/{user}")), "{shown}");
    assert!(!shown.contains("/console/operators/"), "{shown}");
    let file = format!("/console/log.csv?companyId={company}");
    let file = browser.get(&file).await;
    assert!(file.text.contains(request), "{}", file.text);
    assert!(!file.text.contains("addOperator"), "{}", file.text);
    assert!(file.text.contains(&format!("\"users/{user}\"")));
    let wrong = browser.page("/console/log?companyId=1").await;
    assert!(wrong.contains("error-companyId"), "{wrong}");
}
