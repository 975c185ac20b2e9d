//! `docs/personal-data.md` says of every table whether it holds something of persons.

use crate::records;
use crate::store::fixture::Fixture;

const PAGES: [(&str, &str); 2] = [
    (
        include_str!("../../../docs/personal-data.md"),
        "Tables without personal data:",
    ),
    (
        include_str!("../../../docs/personal-data.pt.md"),
        "Tabelas sem dados pessoais:",
    ),
];

/// The words in code of a text.
fn words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[tokio::test]
async fn the_page_has_every_table() {
    let fixture = Fixture::new().await;
    let tables = records::tables(&fixture.sql).await;
    assert!(tables.len() > 30, "{tables:?}");
    for (page, title) in PAGES {
        let rows = page.lines().filter(|line| line.starts_with("| "));
        // Of the second column: where it is.
        let with: Vec<&str> = rows
            .flat_map(|row| words(row.split('|').nth(2).unwrap()))
            .collect();
        let (_, without) = page.split_once(title).unwrap();
        let without = words(without.split("\n\n").next().unwrap());
        for table in &tables {
            let is_in = [&with, &without].map(|list| list.contains(&table.as_str()));
            assert!(
                is_in[0] != is_in[1],
                "{table}: a row of its personal data, or in \"{title}\"?"
            );
        }
    }
}
