use std::process::Command;

use crate::printed;

#[test]
fn the_history_of_both_offers_is_shown() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_embedded_core"));
    let expected = "\
refused: operation 1 in progress holds the same invoice
refused: not possible while REPROVED
2026-11-21T12:00:00.000Z pre_authorization.created: operation 1 is IN_PRE_AUTH
2026-11-21T12:00:00.000Z anticipation.requested: operation 1 is TO_APPROVE
2026-11-21T12:00:00.000Z pre_authorization.created: operation 2 is IN_PRE_AUTH
2026-12-22T12:00:00.000Z pre_authorization.expired: operation 2 is REPROVED (Pré-autorização expirada)
";
    assert_eq!(printed(&mut program), expected);
}
