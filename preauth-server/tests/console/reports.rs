//! The form that chooses the days or months of a report.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::json;
use test_support::{Backend, Sandbox, due_date, on_each_database};

use crate::browser::browser;
use crate::lists_of_companies::{cnpj, post};

on_each_database! {
    days_and_months_are_chosen,
    a_period_is_written_as_its_reader_writes_it_and_in_files_as_programs_read_it,
    a_bad_range_is_answered_in_words,
    a_report_of_many_companies_is_whole,
}

/// More companies than one answer of the API has rows.
const MANY: usize = 101;

/// What a field of the page holds.
fn value(page: &str, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    assert!(page.contains(&mark), "no {name}: {page}");
    let value = page.split(&mark).nth(1).unwrap();
    value.split('"').next().unwrap().to_owned()
}

async fn days_and_months_are_chosen(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let caller = sandbox.caller("apiKey");
    let offer = test_support::offer_body(&sandbox, "NF-1");
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &offer).await.status,
        201
    );
    // Thirty days, the last of them today; today has the offer.
    let page = browser.page("/console/reports").await;
    let (since, today) = (value(&page, "since"), value(&page, "until"));
    assert!(since < today, "{since} {today}");
    assert!(
        page.contains(&format!("<span class=\"short\">{today}</span>")),
        "{page}"
    );
    // As the form sends it: today alone.
    let one = format!("by=DAY&since={today}&until={today}&perCompany=");
    let page = browser.page(&format!("/console/reports?{one}")).await;
    assert!(page.contains(&format!("{today} – {today}")), "{page}");
    assert!(
        page.contains(&format!("<span class=\"short\">{today}</span>")),
        "{page}"
    );
    // A day stands for its month, and keeps its place in the form.
    let (month, _) = today.rsplit_once('-').unwrap();
    let one = format!("by=MONTH&since={today}&until={today}");
    let page = browser.page(&format!("/console/reports?{one}")).await;
    assert!(page.contains(&format!("{month} – {month}")), "{page}");
    assert_eq!(value(&page, "since"), today);
    assert!(page.contains("<option value=\"MONTH\" selected>"), "{page}");
    let file = browser.get(&format!("/console/reports.csv?{one}")).await;
    assert!(
        file.text.contains(&format!("\n\"{month}\"")),
        "{}",
        file.text
    );
    // Months as links have them fill the form with their first and last day.
    let page = browser
        .page("/console/reports?by=MONTH&since=2026-02&until=2026-02")
        .await;
    assert_eq!(value(&page, "since"), "2026-02-01");
    assert_eq!(value(&page, "until"), "2026-02-28");
    // A company stays chosen.
    let company = sandbox.company().await;
    let page = browser
        .page(&format!("/console/reports?companyId={company}"))
        .await;
    assert_eq!(value(&page, "companyId"), company);
    assert!(!page.contains("name=\"perCompany\""), "{page}");
    let page = browser.page("/console/reports?perCompany=true").await;
    assert!(page.contains("<option value=\"true\" selected>"), "{page}");
    assert!(
        page.contains(&format!("/console/companies/{company}\"")),
        "{page}"
    );
}

async fn a_period_is_written_as_its_reader_writes_it_and_in_files_as_programs_read_it(
    backend: Backend,
) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    let caller = sandbox.caller("apiKey");
    let offer = test_support::offer_body(&sandbox, "NF-1");
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &offer).await.status,
        201
    );
    let page = browser.page("/console/reports").await;
    let today = value(&page, "until");
    let parts: Vec<_> = today.split('-').collect();
    let (year, month, day) = (parts[0], parts[1], parts[2]);
    for (by, iso, brazilian) in [
        ("DAY", today.clone(), format!("{day}/{month}/{year}")),
        (
            "MONTH",
            format!("{year}-{month}"),
            format!("{month}/{year}"),
        ),
    ] {
        let query = format!("by={by}&since={today}&until={today}");
        for (language, shown) in [("en", &iso), ("pt-BR", &brazilian)] {
            browser.language = language;
            let page = browser.page(&format!("/console/reports?{query}")).await;
            let cell = format!("<span class=\"short\">{shown}</span>");
            assert!(page.contains(&cell), "{page}");
            assert!(page.contains(&format!("{shown} – {shown}")), "{page}");
            // The form's own fields are those of the browser, which writes them in its language.
            assert_eq!(value(&page, "since"), today);
            let file = browser.get(&format!("/console/reports.csv?{query}")).await;
            assert!(file.text.contains(&format!("\n\"{iso}\"")), "{}", file.text);
        }
    }
    let home = browser.page("/console").await;
    let today = format!("<span class=\"short\">{day}/{month}/{year}</span>");
    assert!(home.contains(&today), "{home}");
}

async fn a_bad_range_is_answered_in_words(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut browser = browser(&sandbox).await;
    for (query, en, pt) in [
        (
            "since=2026-11-02&until=2026-11-01",
            "id=\"error-since\">The first day is after the last one.",
            "O primeiro dia vem depois do último.",
        ),
        (
            "by=MONTH&since=2026-11-30&until=2026-10-01",
            "The first day is after the last one.",
            "O primeiro dia vem depois do último.",
        ),
        (
            "since=2020-01-01&until=2026-01-01",
            "id=\"error-since\">A report has at most 92 days, or 36 months.",
            "Um relatório tem no máximo 92 dias, ou 36 meses.",
        ),
        (
            "until=2026-02-30",
            "id=\"error-until\">This field is not in the calendar.",
            "id=\"error-until\">Este campo não existe no calendário.",
        ),
        (
            "since=%3Cscript%3E",
            "id=\"error-since\">This field must be a date",
            "id=\"error-since\">Este campo deve ter o formato AAAA-MM-DD.",
        ),
        ("by=WEEK", "by", "by"),
        ("companyId=7", "companyId", "companyId"),
    ] {
        for (language, words) in [("en", en), ("pt-BR", pt)] {
            browser.language = language;
            let answer = browser.get(&format!("/console/reports?{query}")).await;
            assert_eq!(answer.status, 400, "{query}: {}", answer.text);
            assert!(answer.text.contains(words), "{query}: {}", answer.text);
            // The form is there, with what was typed.
            assert!(answer.text.contains("name=\"since\""), "{}", answer.text);
            assert!(!answer.text.contains("<script>"), "{}", answer.text);
        }
    }
    let missing = "018f2f3a-0000-7000-8000-000000000001";
    let missing = browser
        .get(&format!("/console/reports?companyId={missing}"))
        .await;
    assert_eq!(missing.status, 404, "{}", missing.text);
}

async fn a_report_of_many_companies_is_whole(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut companies = Vec::new();
    for number in 1..=MANY {
        let company = json!({
            "kind": "CONSTRUCTION",
            "cnpj": cnpj(60_000_000 + number),
            "name": format!("Obra {number}"),
        });
        let company = post(&sandbox, "companies", &company).await;
        let id = company["id"].as_str().unwrap().to_owned();
        let advance = json!({
            "payerCompanyId": id,
            "supplierCnpj": sandbox.text("supplierCnpj"),
            "invoice": {"amount": 980, "dueDate": due_date(60), "number": format!("NF-{number}")},
        });
        post(&sandbox, "operations", &advance).await;
        companies.push(id);
    }
    let mut browser = browser(&sandbox).await;
    let page = browser.page("/console/reports?perCompany=true").await;
    for id in &companies {
        assert!(page.contains(&format!("/console/companies/{id}\"")), "{id}");
    }
    let file = browser.get("/console/reports.csv?perCompany=true").await;
    let names = file.text.matches("\"Obra ").count();
    assert_eq!(names, MANY, "{}", file.text);
    let head = file.text.lines().next().unwrap();
    for title in [
        "direct amount",
        "returned, net",
        "paid orders",
        "paid orders, amount",
    ] {
        assert!(head.contains(&format!("\"{title}\"")), "{head}");
    }
}
