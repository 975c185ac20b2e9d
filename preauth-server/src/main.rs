//! The binary: everything else is in the library beside it.

use std::process::ExitCode;

use clap::Parser;
use preauth_server::cli::{Cli, run};

#[tokio::main]
async fn main() -> ExitCode {
    run(Cli::parse()).await
}
