//! Lists over all companies name the company of each row, and a company's page leads to its lists.

use preauth_server::http::platform::PREFIX;
use serde_json::json;
use test_support::{Backend, Sandbox, office, on_each_database};

use crate::browser::browser;

on_each_database! {
    lists_over_all_companies_name_the_company,
    a_company_leads_to_its_lists,
    a_payment_order_leads_to_its_companies,
}

const NAME: &str = "Construtora Exemplo S.A.";

async fn lists_over_all_companies_name_the_company(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let company = sandbox.company().await;
    let operation = office::offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    let withdrawn = format!("{PREFIX}/operations/{operation}/withdraw");
    let withdrawn = sandbox.platform().post_json(&withdrawn, &json!({})).await;
    assert_eq!(withdrawn.status, 200, "{}", withdrawn.text);
    let link = format!("<a href=\"/console/companies/{company}\">{NAME}</a>");
    for (list, rows) in [
        ("deliveries", 2),
        ("mails", 1),
        ("log?action=withdrawOperation", 1),
    ] {
        let page = browser.page(&format!("/console/{list}")).await;
        assert_eq!(page.matches(&link).count(), rows, "{list}: {page}");
        assert!(page.contains(">company</th>"), "{list}: {page}");
        let (list, query) = list.split_once('?').unwrap_or((list, ""));
        let file = browser.get(&format!("/console/{list}.csv?{query}")).await;
        let names = file.text.matches(&format!("\"{NAME}\"")).count();
        assert_eq!(names, rows, "{}", file.text);
    }
}

async fn a_company_leads_to_its_lists(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let home = format!("/console/companies/{}", sandbox.company().await);
    office::offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    let page = browser.page(&home).await;
    let cnpj = sandbox.text("companyCnpj");
    let id = sandbox.company().await;
    for (list, row) in [
        (
            format!("/console/operations?cnpj={cnpj}"),
            "title=\"IN_PRE_AUTH\"",
        ),
        (format!("{home}/deliveries"), "href=\"/console/deliveries/"),
        (format!("{home}/mails"), "a@fornecedor.example.com"),
        (format!("/console/reports?companyId={id}"), &id),
    ] {
        assert!(page.contains(&format!("href=\"{list}\"")), "{list}: {page}");
        let found = browser.page(&list).await;
        assert!(found.contains(row), "{list}: {found}");
    }
}

async fn a_payment_order_leads_to_its_companies(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let order = json!({
        "payerCompanyId": sandbox.company().await,
        "supplierCnpj": sandbox.text("supplierCnpj"),
        "amount": 1500,
    });
    let path = format!("{PREFIX}/payment-orders");
    let order = sandbox.platform().post_json(&path, &order).await.json();
    let page = format!("/console/payment-orders/{}", order["id"]);
    let page = browser.page(&page).await;
    for party in ["payer", "supplier"] {
        let id = order[party]["companyId"].as_str().unwrap();
        let link = format!("href=\"/console/companies/{id}\"");
        assert!(page.contains(&link), "{party}: {page}");
    }
}
