//! The rows of one create written by pgbench, without any of our code.

use std::process::Command;

use crate::scene::Scene;

const ONE_STATEMENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/load/one_statement.sql"
);
const FIVE_STATEMENTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/load/five_statements.sql"
);

/// Each script with the name it is reported under.
pub(crate) const ALL: [(&str, &str); 2] = [
    ("five statements", FIVE_STATEMENTS),
    ("one statement", ONE_STATEMENT),
];

pub(crate) struct Done {
    pub(crate) rate: u64,
    pub(crate) transactions: u64,
}

pub(crate) fn run(scene: &Scene, script: &str, clients: usize, seconds: u64) -> Done {
    let mut pgbench = Command::new("pgbench");
    pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2"]);
    pgbench.arg(format!("--client={clients}"));
    pgbench.arg(format!("--time={seconds}"));
    pgbench.arg(format!("--file={script}"));
    for (name, value) in scene.ids() {
        pgbench.arg(format!("--define={name}={value}"));
    }
    let output = pgbench.arg(&scene.cluster.url).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Done {
        rate: number_behind(&printed, "tps = "),
        transactions: number_behind(&printed, "transactions actually processed: "),
    }
}

fn number_behind(text: &str, label: &str) -> u64 {
    let (_, rest) = text.split_once(label).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
