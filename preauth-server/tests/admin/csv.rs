//! Lists as files that a spreadsheet opens.

use test_support::due_date;

use crate::operator::{COMPANY, Operator, SUPPLIER};

#[tokio::test]
async fn a_list_is_a_csv_file_in_the_readers_spelling() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let list = ["operation", "list", "--csv"];
    let english = operator.stdout(&list);
    let mut lines = english.split("\r\n");
    let titles = lines.next().unwrap();
    assert!(titles.starts_with("\u{feff}\"id\",\"status\","), "{titles}");
    let line = lines.next().unwrap();
    assert!(
        line.starts_with(&format!("\"{id}\",\"IN_PRE_AUTH\",")),
        "{line}"
    );
    assert!(line.contains("\"12500.50\""), "{line}");

    let portuguese = operator.stdout(&[&list[..], &["--lang", "pt"]].concat());
    let mut lines = portuguese.split("\r\n");
    let titles = lines.next().unwrap();
    assert!(
        titles.starts_with("\u{feff}\"id\";\"situação\";"),
        "{titles}"
    );
    let line = lines.next().unwrap();
    assert!(line.contains(";\"12500,50\";"), "{line}");

    let everything = operator.stdout(&["company", "list", "--all", "--csv"]);
    let all = operator.json(&["company", "list", "--all"]);
    let rows = all["data"].as_array().unwrap().len();
    assert_eq!(everything.lines().count(), rows + 1, "{everything}");
    let none = operator.stdout(&["payment-order", "list", "--csv"]);
    assert_eq!(none.lines().count(), 1, "titles alone: {none}");
    operator
        .run(&["operation", "list", "--csv", "--json"])
        .failed(2, &["cannot be used with"]);
}

#[tokio::test]
async fn payment_orders_are_rows_in_the_readers_spelling() {
    let operator = Operator::start().await;
    let day = due_date(10).to_string();
    let add = ["payment-order", "add", "--payer", COMPANY];
    let with_day = ["--supplier", SUPPLIER, "--amount", "11900.05"];
    let with_day = [&add[..], &with_day, &["--scheduled-for", &day]].concat();
    let without = [&add[..], &["--supplier", SUPPLIER, "--amount", "700"]].concat();
    let orders = [with_day, without].map(|it| operator.json(&it));
    let [payer, supplier] = ["payer", "supplier"].map(|it| orders[0][it]["name"].as_str().unwrap());
    let [first, second] = [0, 1].map(|at: usize| orders[at]["id"].to_string());

    let list = ["payment-order", "list", "--csv", "--lang"];
    let english = operator.stdout(&[&list[..], &["en"]].concat());
    assert_eq!(
        english,
        format!(
            "\u{feff}\"id\",\"status\",\"payer\",\"supplier\",\"amount\",\"scheduled for\"\r\n\
             \"{second}\",\"CREATED\",\"{payer}\",\"{supplier}\",\"700.00\",\"\"\r\n\
             \"{first}\",\"CREATED\",\"{payer}\",\"{supplier}\",\"11900.05\",\"{day}\"\r\n"
        )
    );
    let portuguese = operator.stdout(&[&list[..], &["pt"]].concat());
    assert_eq!(
        portuguese,
        format!(
            "\u{feff}\"id\";\"situação\";\"empresa pagadora\";\"fornecedor\";\"valor\";\"agendada para\"\r\n\
             \"{second}\";\"CREATED\";\"{payer}\";\"{supplier}\";\"700,00\";\"\"\r\n\
             \"{first}\";\"CREATED\";\"{payer}\";\"{supplier}\";\"11900,05\";\"{day}\"\r\n"
        )
    );
}

#[tokio::test]
async fn a_report_is_a_table_a_csv_file_or_json() {
    let operator = Operator::start().await;
    operator.offer("NF-1").await;
    let month = ["report", "--by", "month"];
    let found = operator.json(&month);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    let last = &rows[11]["activity"];
    assert_eq!(
        (&last["offers"], &last["offeredAmount"]),
        (&1.into(), &12_500.5.into())
    );
    let table = operator.stdout(&month);
    assert_eq!(table.lines().count(), 13, "{table}");
    assert!(table.contains("12500.50"), "{table}");

    let each = [&month[..], &["--per-company", "--csv", "--lang", "pt"]].concat();
    let file = operator.stdout(&each);
    let mut lines = file.split("\r\n");
    let titles = lines.next().unwrap();
    assert!(
        titles.starts_with("\u{feff}\"período\";\"empresa\";\"nome\";\"ofertas\";"),
        "{titles}"
    );
    let line = lines.next().unwrap();
    assert!(line.contains(";\"1\";\"12500,50\";"), "{line}");

    operator
        .run(&["report", "--since", "2026-02-01", "--until", "2026-01-01"])
        .failed(1, &["since"]);
    operator
        .run(&["report", "--csv", "--json"])
        .failed(2, &["cannot be used with"]);
}
