//! Words with one spelling each.

use preauth_core::ErrorCode;
use preauth_core::value::{
    EventType, Family, Origin, PaymentOrderStatus, Permission, Scope, Stage, Status, UnknownText,
};

macro_rules! reads_back {
    ($($name:ident: $count:literal,)+) => {
        $({
            assert_eq!($name::ALL.len(), $count);
            for member in $name::ALL {
                assert_eq!($name::parse(member.as_str()), Ok(*member));
                assert_eq!(member.to_string().parse(), Ok(*member));
                assert!($name::parse(&format!("{member} ")).is_err());
                assert!($name::parse(&swap_case(member.as_str())).is_err());
            }
            assert!($name::parse("").is_err());
        })+
    };
}

fn swap_case(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower == text {
        text.to_uppercase()
    } else {
        lower
    }
}

#[test]
fn every_member_reads_back_from_its_exact_text_and_no_other() {
    reads_back! {
        ErrorCode: 46,
        EventType: 25,
        Family: 5,
        Origin: 2,
        PaymentOrderStatus: 6,
        Permission: 2,
        Scope: 3,
        Stage: 3,
        Status: 9,
    }
}

#[test]
fn an_unknown_text_is_named_by_its_set() {
    let error: UnknownText = Status::parse("DONE").unwrap_err();
    assert_eq!(error.set, "status");
    assert_eq!(
        error.to_string(),
        "unknown status; expected one of IN_PRE_AUTH, IN_VERIFICATION, TO_APPROVE, IN_ANALYSIS, TO_PAY, \
         TO_BILL, TO_RECEIVE, CONCLUDED, REPROVED"
    );
}

// Contract: status/in-progress
#[test]
fn an_operation_is_in_progress_until_reproved_or_concluded() {
    let over: Vec<_> = Status::ALL
        .iter()
        .filter(|status| !status.is_in_progress())
        .collect();
    assert_eq!(over, [&Status::Concluded, &Status::Reproved]);
}

// Contract: authentication/notes:read version/history-first-step
#[test]
fn the_retired_scope_is_offered_to_no_new_key() {
    assert_eq!(Scope::OFFERED, [Scope::PreauthRead, Scope::PreauthWrite]);
}
