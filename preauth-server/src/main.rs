//! The preauth server binary.
fn main() {}
