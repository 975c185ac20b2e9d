//! The program under test.

use std::path::PathBuf;

/// The server's program, as cargo built it with the test.
pub fn server_program() -> PathBuf {
    let built = std::env::var_os("CARGO_BIN_EXE_preauth-server");
    built
        .expect("cargo and cargo-nextest name it to tests and benchmarks")
        .into()
}
