//! Lists as files that a spreadsheet opens.

use crate::operator::Operator;

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
