//! `probe` against good receivers, against faulty ones, and against none.

mod count;
mod faulty;
mod good;
mod on_sockets;
mod refused;

use std::process::{Command, Output};

use serde_json::Value;

use super::listen::SECRET;

/// `probe` with these arguments and no inherited variables.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command
        .arg("probe")
        .args(arguments)
        .env("WEBHOOK_SECRET", SECRET)
        .env("LC_ALL", "C");
    command
}

/// What `probe` prints.
async fn probe(arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    let output = tokio::task::spawn_blocking(move || command.output());
    output.await.unwrap().unwrap()
}

/// The objects that `probe --json` has printed.
fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The codes of the findings of this kind, in their order.
fn codes(objects: &[Value], result: &str) -> Vec<String> {
    let found = objects.iter().filter(|it| it["result"] == result);
    found
        .map(|it| it["code"].as_str().unwrap_or_default().to_owned())
        .collect()
}
