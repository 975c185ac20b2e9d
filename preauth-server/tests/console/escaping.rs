//! Texts of attackers are shown as text: one text for each field that a stranger, a company or another operator
//! fills, each of which has to be on a page.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::console_paths;
use preauth_server::http::platform::PREFIX;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Backend, Form, MailServer, Manner, Sandbox, due_date, office, on_each_database,
};

use crate::browser::{Browser, browser};
use crate::pages::Ids;

on_each_database! {
    script_texts_are_shown_as_texts,
    what_a_mail_server_answers_is_shown_as_a_text,
}

/// The fields, as their texts name them.
const FIELDS: &[&str] = &[
    "supplier",
    "contact",
    "ph",
    "invoice",
    "reference",
    "declined",
    "portal",
    "confirmed",
    "file",
    "answer",
    "company",
    "suspended",
    "user",
    "key",
    "operator",
    "order",
    "received",
];
/// A tax id that the demo data does not use, and another.
const INVITED: [&str; 2] = ["BRASIL00123400", "45723001000100"];

/// A text that would run, in an attribute and in an element, and that names its field.
fn script(field: &str) -> String {
    match field {
        // Of 20 characters at most.
        "ph" => format!("<script>{field}</script>"),
        // A name in a quoted header.
        "file" => format!("'><script>{field}<script>.pdf"),
        _ => format!("\"'><script>{field}</script>"),
    }
}

/// What of it is on a page that escapes it.
fn escaped(field: &str) -> String {
    format!("&#60;script&#62;{field}&#60;")
}

/// What the platform API knows.
struct Platform<'a>(&'a Sandbox);

impl Platform<'_> {
    async fn send(&self, method: Method, path: &str, body: &Value) -> Value {
        let headers = [("content-type", "application/json")];
        let body = Some(body.to_string().into_bytes());
        let path = format!("{PREFIX}/{path}");
        let done = self.0.platform().send(method, &path, &headers, body).await;
        assert!(done.status < 300, "{path}: {}", done.text);
        done.json()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        self.send(Method::POST, path, body).await
    }

    async fn get(&self, path: &str) -> Value {
        let found = self.0.platform().get(&format!("{PREFIX}/{path}")).await;
        assert_eq!(found.status, 200, "{path}: {}", found.text);
        found.json()
    }
}

fn id(record: &Value) -> String {
    let id = &record["id"];
    id.as_str()
        .map_or_else(|| id.to_string(), ToOwned::to_owned)
}

/// What ERPs and suppliers fill; returns the operations.
async fn filled_by_strangers(sandbox: &Sandbox) -> Vec<i64> {
    let mut invited = test_support::offer_body(sandbox, &script("invoice"));
    invited["externalReference"] = json!(script("reference"));
    invited["supplier"] = json!({
        "cnpj": INVITED[0],
        "name": script("supplier"),
        "contactName": script("contact"),
        "phone": script("ph"),
        "email": "a@b.co",
    });
    let declined = office::offer_as(sandbox, &invited).await;
    let reason = json!({"reason": script("declined")});
    let decline = format!("operations/{declined}/decline");
    Platform(sandbox).post(&decline, &reason).await;

    let by_portal = office::offer(sandbox, "NF-2", "b@b.co").await;
    let mut renamed = test_support::offer_body(sandbox, "NF-3");
    renamed["supplier"] = json!({
        "cnpj": INVITED[1],
        "name": "Fornecedora",
        "contactName": "Ana",
        "email": "c@b.co",
    });
    let renamed = office::offer_as(sandbox, &renamed).await;
    for (operation, page, name, field) in [
        (by_portal, "recusar", "motivo", "portal"),
        (renamed, "solicitar", "nome", "confirmed"),
    ] {
        let text = percent_encoding::utf8_percent_encode(
            &script(field),
            percent_encoding::NON_ALPHANUMERIC,
        )
        .to_string();
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let path = format!("{}/{page}", sandbox.page_of(operation));
        let body = Some(format!("{name}={text}").into_bytes());
        let sent = sandbox.suppliers();
        let sent = sent.send(Method::POST, &path, &form, body).await;
        // It follows the way to the offer's page.
        assert_eq!(sent.status, 200, "{path}: {}", sent.text);
    }

    let form = Form::of(&test_support::offer_body(sandbox, "NF-4"));
    let form = form.file(&script("file"), "application/pdf", b"%PDF-1.7");
    let caller = sandbox.caller("apiKey");
    let with_file = caller.post_form(PRE_AUTHORIZATIONS, &[], form).await;
    assert_eq!(with_file.status, 201, "{}", with_file.text);
    let with_file = with_file.json()["id"].as_i64().unwrap();
    vec![declined, by_portal, renamed, with_file]
}

/// What other operators fill; returns the pages of what they made, and the token of one of them.
async fn filled_by_operators(sandbox: &Sandbox, company: &str) -> (Vec<String>, String) {
    let platform = Platform(sandbox);
    let company = format!("companies/{company}");
    let both = ["PRE_AUTHORIZE_ADVANCES", "REQUEST_ADVANCES"];
    let user = json!({"name": script("user"), "email": "x@b.co", "permissions": both});
    let user = id(&platform.post(&format!("{company}/users"), &user).await);
    let key = json!({
        "name": script("key"),
        "responsibleUserId": user,
        "scopes": ["preauth:read"],
        "validityDays": 30,
    });
    let key = platform.post(&format!("{company}/api-keys"), &key).await;
    let invoice = json!({
        "payerCompanyId": company.trim_start_matches("companies/"),
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "invoice": {
            "amount": 10,
            "dueDate": due_date(60).to_string(),
            "number": script("received"),
        },
    });
    let received = platform.post("invoices", &invoice).await;
    let order = json!({
        "payerCompanyId": company.trim_start_matches("companies/"),
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "amount": 10,
    });
    let order = format!(
        "payment-orders/{}",
        platform.post("payment-orders", &order).await["id"]
    );
    let reason = json!({"reason": script("order")});
    platform.post(&format!("{order}/cancel"), &reason).await;
    let operator = json!({"name": script("operator"), "role": "ADMIN"});
    let operator = platform.post("operators", &operator).await;
    let name = json!({"name": script("company")});
    platform.send(Method::PATCH, &company, &name).await;
    let reason = json!({"reason": script("suspended")});
    platform.post(&format!("{company}/suspend"), &reason).await;
    let pages = vec![
        order,
        company,
        format!("users/{user}"),
        format!("api-keys/{}", id(&key)),
        format!("api-keys/{}/revoke", id(&key)),
        format!("invoices/{}", received["id"]),
        format!("operators/{}", id(&operator)),
    ];
    (pages, operator["token"].as_str().unwrap().to_owned())
}

async fn script_texts_are_shown_as_texts(backend: Backend) {
    let receiver = wiremock::MockServer::start().await;
    let endless = "x".repeat(1_000_000);
    let hostile = format!("{}{endless}", script("answer"));
    let hostile = wiremock::ResponseTemplate::new(500).set_body_string(hostile);
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(hostile)
        .mount(&receiver)
        .await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.uri()).await;
    let ids = Ids::of(&sandbox).await;
    let operations = filled_by_strangers(&sandbox).await;
    let company = sandbox.company().await;
    let platform = Platform(&sandbox);
    let deliveries = format!("deliveries?operationId={}", operations[0]);
    let mut pages = Vec::new();
    office::until_true("attempted", async || {
        let found = platform.get(&deliveries).await;
        let found = found["data"].as_array().unwrap().iter();
        found
            .filter(|it| !it["attempts"].as_array().unwrap().is_empty())
            .count()
            > 0
    })
    .await;
    let found = platform.get(&deliveries).await;
    for delivery in found["data"].as_array().unwrap() {
        pages.push(format!("deliveries/{}", id(delivery)));
    }
    for invited in INVITED {
        let found = platform.get(&format!("companies?cnpj={invited}")).await;
        let invited = id(&found["data"][0]);
        pages.push(format!("companies/{invited}"));
        pages.push(format!("companies/{invited}/invitations"));
    }
    let (made, token) = filled_by_operators(&sandbox, &company).await;
    pages.extend(made);
    pages.extend(operations.iter().map(|id| format!("operations/{id}")));
    let pages = pages.into_iter().map(|page| format!("/console/{page}"));
    let browser = Browser::signed_in(sandbox.text("platformUrl"), &token).await;
    let shown = look_for_scripts(browser, &ids, pages.collect()).await;
    let missing: Vec<_> = FIELDS
        .iter()
        .filter(|field| !shown.contains(&escaped(field)))
        .collect();
    assert!(missing.is_empty(), "on no page: {missing:?}");
    // Of a receiver's answer its beginning.
    assert!(
        !shown.contains(&endless[..1_025]),
        "an answer is shown whole"
    );
    assert!(shown.contains(&endless[..900]), "an answer is not shown");
}

/// Opens every page, and some under paths of attackers; returns all that they show.
async fn look_for_scripts(mut browser: Browser, ids: &Ids, own: Vec<String>) -> String {
    let mut paths: Vec<_> = console_paths()
        .into_iter()
        .filter(|(method, _)| method == "GET")
        .map(|(_, path)| ids.fill(&path))
        .collect();
    paths.extend(own);
    paths.extend([
        "/console/operations?invoiceNumber=\"><script>alert(1)</script>".to_owned(),
        "/console/operations?status=\"><script>".to_owned(),
        "/console/log?companyId=\"><script>".to_owned(),
        "/console/sign-in?next=\"><script>alert(1)</script>".to_owned(),
        "/console/\"><script>alert(1)</script>".to_owned(),
    ]);
    let mut shown = String::new();
    for path in paths {
        let answer = browser.get(&path).await;
        if answer.header("content-type").starts_with("text/html") {
            assert!(!answer.text.contains("<script>"), "{path}: {}", answer.text);
            shown.push_str(&answer.text);
        }
    }
    let count = shown.matches("&#60;script&#62;").count();
    assert!(count > 60, "shown {count} times");
    shown
}

async fn what_a_mail_server_answers_is_shown_as_a_text(backend: Backend) {
    const ADDRESS: &str = "ninguem@fornecedor.example.com";
    let server = MailServer::start().await;
    let answer = "550 5.1.1 \"'><script>smtp</script>";
    server.treat(ADDRESS, Manner::RefuseSaying(answer));
    let sandbox = office::start(backend, &server).await;
    let operation = office::offer(&sandbox, "NF-1", ADDRESS).await;
    let failed = office::until(&sandbox, 1, "FAILED").await;
    let mut browser = browser(&sandbox).await;
    for path in [
        "/console/mails".to_owned(),
        format!("/console/mails/{}", id(&failed[0])),
    ] {
        let page = browser.page(&path).await;
        assert!(page.contains(&escaped("smtp")), "{path}: {page}");
        assert!(!page.contains("<script>"), "{path}: {page}");
    }
    let page = browser
        .page(&format!("/console/operations/{operation}"))
        .await;
    assert!(!page.contains("<script>"), "{page}");
}

#[tokio::test]
async fn a_url_of_an_endpoint_is_shown_as_a_text() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let mut browser = browser(&sandbox).await;
    let company = format!("companies/{}", sandbox.company().await);
    let url = "http://127.0.0.1:9/?x='><script>url</script>\"";
    let body = json!({"url": url, "events": ["webhook.test"]});
    let path = format!("{company}/webhook-endpoint");
    let set = Platform(&sandbox).send(Method::PUT, &path, &body).await;
    for page in ["", "/webhook-endpoint", "/webhook-endpoint/pause"] {
        let page = format!("/console/{company}{page}");
        let shown = browser.page(&page).await;
        let stored = set["url"].as_str().unwrap();
        let stored = ["<", ">", "\"", "'"]
            .iter()
            .zip(["&#60;", "&#62;", "&#34;", "&#39;"])
            .fold(stored.replace('&', "&#38;"), |text, (from, to)| {
                text.replace(from, to)
            });
        assert!(!shown.contains("<script>"), "{shown}");
        assert!(
            page.ends_with("pause") || shown.contains(&stored),
            "{stored}: {shown}"
        );
    }
}
