//! No case is forgotten in the list that makes tests of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_case_stands_in_the_list() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
    let list = fs::read_to_string(suite.join("suite.rs")).unwrap();
    let listed: BTreeSet<String> = list
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .filter(|line| line.contains("::") && !line.contains('$'))
        .map(str::to_owned)
        .collect();
    let mut written = BTreeSet::new();
    for file in fs::read_dir(suite.join("cases")).unwrap() {
        let path = file.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let cases = text
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn "));
        let names = cases.map(|rest| rest.split('(').next().unwrap());
        written.extend(names.map(|name| format!("{module}::{name}")));
    }
    assert!(!written.is_empty());
    assert_eq!(listed, written);
}
