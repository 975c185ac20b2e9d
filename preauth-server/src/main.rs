//! The binary; everything else is in the library.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use preauth_server::cli::{read, run};

/// A quarter of the processor time of creates was that of the C library's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    run(read()).await
}
