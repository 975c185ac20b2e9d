//! The table's place in `docs/benchmarks.md`.

use std::fs;

use crate::run::Run;
use crate::table::Table;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks.md");
const BEGIN: &str = "<!-- generated: load -->";
const END: &str = "<!-- end of generated -->";

/// Prints the table, and writes it into the page unless the run only checks that everything runs.
pub(crate) fn write(run: &Run, table: &Table) {
    println!("\n{table}");
    if run.is_short {
        return;
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let conditions = run.conditions();
    let table = table.to_string();
    let table = table.trim_end();
    let page = format!("{before}{BEGIN}\n\n{conditions}\n\n{table}\n\n{END}{after}");
    fs::write(PAGE, page).unwrap();
}
