//! What forms of companies, and of payments without an operation, do.

use preauth_server::http::platform::PREFIX;
use serde_json::Value;
use test_support::{Answer, Backend, Sandbox, on_each_database};

use crate::browser::browser;

on_each_database! {
    each_form_of_a_company_leads_back_to_it,
    the_second_of_two_who_set_limits_sees_the_first_ones,
    pressing_twice_pays_once,
    a_link_fills_in_nothing,
}

async fn read(sandbox: &Sandbox, path: &str) -> Value {
    let answer = sandbox.platform().get(&format!("{PREFIX}/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// The page of the sandbox's head office.
async fn company(sandbox: &Sandbox) -> String {
    let cnpj = sandbox.text("companyCnpj");
    let found = read(sandbox, &format!("companies?cnpj={cnpj}")).await;
    format!("companies/{}", found["data"][0]["id"].as_str().unwrap())
}

/// Where a form leads: by itself, or by the link below what it shows once.
fn next(answer: &Answer) -> String {
    if answer.status == 303 {
        return answer.header("location").to_owned();
    }
    assert_eq!(answer.status, 200, "{}", answer.text);
    let link = answer.text.rsplit("<a class=\"button\" href=\"").next();
    link.unwrap().split('"').next().unwrap().to_owned()
}

async fn each_form_of_a_company_leads_back_to_it(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = company(&sandbox).await;
    let users = read(&sandbox, &format!("{company}/users")).await;
    let users = users["data"].as_array().unwrap();
    let may = |user: &&Value| {
        user["active"] == true && user["permissions"].as_array().unwrap().len() == 2
    };
    let user = users.iter().find(may).unwrap()["id"].as_str().unwrap();
    let url = read(&sandbox, &format!("{company}/webhook-endpoint")).await["url"].clone();
    let url = url.as_str().unwrap();
    let home = format!("/console/{company}");
    for (form, fields) in [
        ("edit", &[("name", "Construtora Azul Nova S.A.")][..]),
        ("suspend", &[("reason", "teste")]),
        ("resume", &[]),
        (
            "credit-analysis",
            &[("maxTermDays", "90"), ("maxInvoiceAmount", "100.000")],
        ),
        (
            "new-user",
            &[
                ("name", "Bia"),
                ("email", "bia@example.com"),
                ("permissions", "PRE_AUTHORIZE_ADVANCES"),
            ],
        ),
        (
            "new-key",
            &[
                ("name", "ERP 2"),
                ("responsibleUserId", user),
                ("scopes", "preauth:read"),
            ],
        ),
        ("webhook-endpoint", &[("url", url)]),
        ("webhook-endpoint/pause", &[]),
        ("webhook-endpoint/resume", &[]),
        ("webhook-endpoint/rotate-secret", &[]),
    ] {
        browser.language = if form == "credit-analysis" {
            "pt-BR"
        } else {
            "en"
        };
        let answer = browser.submit(&format!("{home}/{form}"), fields).await;
        let next = next(&answer);
        assert_eq!(next.split('?').next().unwrap(), home, "{form}");
        browser.page(&next).await;
    }
    let limits = read(&sandbox, &format!("{company}/credit-analysis")).await;
    assert_eq!(limits["maxInvoiceAmount"], 100_000.0);
    let test = browser
        .submit(&format!("{home}/webhook-endpoint/test"), &[])
        .await;
    let delivery = next(&test);
    assert!(delivery.starts_with("/console/deliveries/"), "{delivery}");
    browser.page(&delivery).await;
}

async fn the_second_of_two_who_set_limits_sees_the_first_ones(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (mut one, mut other) = (browser(&sandbox).await, browser(&sandbox).await);
    let company = company(&sandbox).await;
    let path = format!("/console/{company}/credit-analysis");
    let form = other.page(&path).await;
    // It begins with what stands.
    let limits = read(&sandbox, &format!("{company}/credit-analysis")).await;
    let days = format!(
        "name=\"maxTermDays\" type=\"number\" value=\"{}\"",
        limits["maxTermDays"]
    );
    assert!(form.contains(&days), "{form}");
    let set = [("maxTermDays", "60"), ("maxInvoiceAmount", "50,000.00")];
    assert_eq!(one.submit(&path, &set).await.status, 303);
    let late = [("maxTermDays", "30"), ("maxInvoiceAmount", "1.00")];
    let late = other.submit_again(&form, &path, &late).await;
    assert_eq!(late.status, 409, "{}", late.text);
    assert!(
        late.text
            .contains("This has changed since you opened the form"),
        "{}",
        late.text
    );
    let limits = read(&sandbox, &format!("{company}/credit-analysis")).await;
    assert_eq!(limits["maxTermDays"], 60);
    assert_eq!(limits["maxInvoiceAmount"], 50_000.0);
}

async fn pressing_twice_pays_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let path = "/console/new-payment-order";
    let form = browser.page(path).await;
    let payer = company(&sandbox).await;
    let fields = [
        ("payerCompanyId", payer.trim_start_matches("companies/")),
        ("supplierCnpj", sandbox.text("supplierCnpj")),
        ("amount", "1,500.00"),
    ];
    let mut again = browser.clone();
    let (one, two) = tokio::join!(
        browser.submit_again(&form, path, &fields),
        again.submit_again(&form, path, &fields)
    );
    for answer in [one, two] {
        let mut answer = answer;
        // The first was still under way; the page has its fields, and is sent again.
        while answer.status == 409 {
            let shown = answer.text.clone();
            answer = browser.submit_again(&shown, path, &fields).await;
        }
        assert_eq!(answer.status, 303, "{}", answer.text);
    }
    let orders = read(&sandbox, "payment-orders").await;
    let amounts = orders["data"].as_array().unwrap().iter();
    let made = amounts.filter(|order| order["amount"] == 1_500.0).count();
    assert_eq!(made, 1, "{orders}");
}

async fn a_link_fills_in_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let page = browser
        .page("/console/new-operator?name=eve&role=ADMIN")
        .await;
    assert!(!page.contains("value=\"eve\""), "{page}");
    assert!(!page.contains("selected"), "{page}");
}
