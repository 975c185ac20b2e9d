//! Four eyes: who released may not pay, where the policy demands it.

use preauth_core::ErrorCode;
use preauth_core::access::OperatorIdentity;
use preauth_core::operation::{Command, CommandContext, Rejection, State, decide};
use preauth_core::value::OperatorId;
use uuid::Uuid;

use crate::given::{moment, operation, states};

const NOW: &str = "2026-11-22T12:00:00.000Z";

fn named(number: u128) -> OperatorIdentity {
    OperatorIdentity::Named(OperatorId::new(Uuid::from_u128(number)))
}

#[test]
fn the_operator_who_released_may_not_pay() {
    let (root, ana, beto) = (OperatorIdentity::Root, named(1), named(2));
    let cases = [
        (Some(ana), Some(ana), false),
        (Some(root), Some(root), false),
        (Some(ana), Some(beto), true),
        (Some(ana), Some(root), true),
        (Some(root), Some(ana), true),
        (Some(ana), None, true),
        (None, Some(ana), true),
        (None, None, true),
    ];
    for (released_by, under_four_eyes, is_allowed) in cases {
        let context = CommandContext {
            released_by,
            under_four_eyes,
            ..CommandContext::default()
        };
        let paid = decide(
            &operation(State::ToPay),
            &Command::Pay,
            &context,
            moment(NOW),
        );
        assert_eq!(paid.is_ok(), is_allowed, "{context:?}");
        if let Err(refusal) = paid {
            assert_eq!(refusal, Rejection::OwnRelease);
            assert_eq!(refusal.code(), ErrorCode::FourEyesRequired);
        }
    }
}

/// What the table does not permit is refused for that reason, whoever asks.
#[test]
fn the_status_is_checked_first() {
    let context = CommandContext {
        released_by: Some(named(1)),
        under_four_eyes: Some(named(1)),
        ..CommandContext::default()
    };
    for (name, state) in states() {
        let given = operation(state);
        let status = given.status();
        if given.state == State::ToPay {
            continue;
        }
        let refused = decide(&given, &Command::Pay, &context, moment(NOW));
        let expected = Err(Rejection::InvalidTransition { status });
        assert_eq!(refused, expected, "{name}");
    }
}
