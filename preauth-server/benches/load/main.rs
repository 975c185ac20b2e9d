//! The server under load beside the bare database: both sides of each ratio come from one run, in
//! pairs whose order alternates (see docs/benchmarks.md).
//!
//! ```text
//! cargo bench -p preauth-server --bench load -- table           # all cases, into docs/benchmarks.md
//! cargo bench -p preauth-server --bench load -- plot            # the pictures in docs/plots
//! cargo bench -p preauth-server --bench load -- plot 5 1000000  # 5 s each, up to so many operations
//! cargo bench -p preauth-server --bench load -- CASE [SECONDS]  # one case
//! ```
//!
//! `--short` checks in two and a half minutes that everything runs, and writes nothing. `PREAUTH_SERVER` is
//! another binary to measure.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a benchmark prints its figures, and a panic is the report of a failure"
)]

mod baseline;
mod bigger;
mod bloat;
mod clients;
mod cluster;
mod company;
mod connection;
mod cpu;
mod create;
mod expire;
mod fairness;
mod far;
mod fill;
mod get;
mod hang;
mod http;
mod indexes;
mod instances;
mod latency;
mod list;
mod lone;
mod many;
mod memory;
mod one_by_one;
mod overload;
mod paced;
mod page;
mod picture;
mod plot;
mod processors;
mod quiet;
mod rate;
mod receiver;
mod run;
mod scene;
mod server;
mod sqlite;
mod stage;
mod states;
mod statistics;
mod table;
mod tenants;
mod uploads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use run::Run;
use table::Table;

/// Measures its figures in pairs, and adds them to the table.
type Case = fn(&Run, &mut Table);

/// In the order of the table.
const CASES: [(&str, Case); 20] = [
    ("create", create::run),
    ("instances", instances::run),
    ("bigger", bigger::run),
    ("lone", lone::run),
    ("many", many::run),
    ("states", states::run),
    ("get", get::run),
    ("sqlite", sqlite::run),
    ("rate", rate::run),
    ("latency", latency::run),
    ("fairness", fairness::run),
    ("hang", hang::run),
    ("far", far::run),
    ("tenants", tenants::run),
    ("overload", overload::run),
    ("bloat", bloat::run),
    ("list", list::run),
    ("expire", expire::run),
    ("uploads", uploads::run),
    ("indexes", indexes::run),
];

fn main() -> ExitCode {
    // `cargo bench` passes `--bench`. `cargo test --all-targets` starts benchmarks without an
    // argument: do nothing.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    if let [name, file, seconds] = arguments.as_slice()
        && name == one_by_one::NAME
    {
        one_by_one::write(file, seconds.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let is_short = arguments.iter().any(|it| it == "--short");
    let numbers = arguments.iter().filter_map(|it| it.parse().ok());
    let run = Run::new(is_short, &numbers.collect::<Vec<u64>>());
    let mut failed = Vec::new();
    match arguments.first().map_or("", String::as_str) {
        "table" => page::write(&run, &measured(&run, &CASES, &mut failed)),
        "plot" => plot::run(&run),
        name => match CASES.iter().find(|(known, _)| *known == name) {
            Some(case) => println!("{}", measured(&run, &[*case], &mut failed)),
            None => println!("name what to measure: table, plot, or {}", names()),
        },
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("ended early: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// The table; the cases that ended early are added to `failed`.
fn measured(run: &Run, cases: &[(&'static str, Case)], failed: &mut Vec<&'static str>) -> Table {
    let mut table = Table::default();
    for (name, case) in cases {
        let begun = connection::now();
        println!("-- {name}");
        let done = catch_unwind(AssertUnwindSafe(|| case(run, &mut table)));
        let seconds = begun.elapsed().as_secs();
        println!("-- {name}: {seconds} s");
        if done.is_err() {
            // An hour of other cases is worth keeping.
            table.note(format!("`{name}` ended early, after {seconds} s"));
            failed.push(*name);
        }
    }
    table
}

fn names() -> String {
    CASES.map(|(name, _)| name).join(", ")
}
