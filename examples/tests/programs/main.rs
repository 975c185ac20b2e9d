//! The programs, run as their users run them.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod embedded_core;
mod erp_job;
mod event_reader;
mod webhook_readme;
mod webhook_receiver;

use std::process::{Command, Output};

/// The standard output of a program that exited with 0.
fn printed(program: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = program.output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

/// The standard error of a program that exited with 1.
fn complained(program: &mut Command) -> String {
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}
