//! The binary: everything else is in the library beside it.

use std::process::ExitCode;

use preauth_server::cli::{read, run};

#[tokio::main]
async fn main() -> ExitCode {
    run(read()).await
}
