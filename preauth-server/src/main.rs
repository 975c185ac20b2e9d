//! The binary; everything else is in the library.

use std::process::ExitCode;

use preauth_server::cli::{read, run};

#[tokio::main]
async fn main() -> ExitCode {
    run(read()).await
}
