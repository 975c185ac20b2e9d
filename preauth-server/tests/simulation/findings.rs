//! The test of the test: each planted defect is found, by its own rule, within a bounded number of
//! seeds.

use crate::defect::Defect;
use crate::mix::Rates;
use crate::world::Plan;

/// Tries seeds until one finds the defect by `invariant`; fails when none below `bound` does.
fn found(defect: Defect, invariant: &str, bound: u64) {
    let finds = |seed: &u64| {
        let plan = Plan {
            defect: Some(defect),
            ..Plan::of_seed(*seed)
        };
        let mut violations = plan.run().violations.into_iter();
        violations.any(|violation| violation.invariant == invariant)
    };
    let first = (0..bound).find(finds);
    assert!(first.is_some(), "{defect:?} is not found by {invariant}");
}

/// Tries seeds in which many writes land late until one finds that a create was done twice under a key that
/// begins like this.
fn found_twice(defect: Defect, key: &str, bound: u64) {
    let finds = |seed: &u64| {
        let plan = Plan {
            defect: Some(defect),
            rates: Rates::ManyLate,
            ..Plan::of_seed(*seed)
        };
        let mut violations = plan.run().violations.into_iter();
        violations.any(|it| it.what.contains(&format!("both created under {key}")))
    };
    let first = (0..bound).find(finds);
    assert!(first.is_some(), "{defect:?} is not found under {key}");
}

#[test]
fn a_delivery_that_is_left_out_is_found() {
    found(Defect::DeliveryLeftOut, "I4", 20);
}

#[test]
fn a_lock_that_delays_everybody_is_found() {
    found(Defect::LockStopsAll, "I14", 50);
}

#[test]
fn a_locked_delivery_that_delays_all_others_is_found() {
    found(Defect::HeldDeliveryStopsAll, "I14", 50);
    found(Defect::HeldOutcomeStopsAll, "I14", 50);
}

#[test]
fn a_held_row_that_delays_all_writes_of_the_platform_is_found() {
    found(Defect::HeldRecordStopsAll, "I14", 100);
}

#[test]
fn a_reply_that_is_not_stored_is_found() {
    found(Defect::ReplyNotStored, "I5", 20);
}

#[test]
fn a_lease_that_never_ends_is_found() {
    found(Defect::EndlessLease, "I4", 50);
}

#[test]
fn an_offer_without_its_mail_is_found() {
    found(Defect::MailForgotten, "I16", 20);
}

#[test]
fn an_amount_that_changes_on_its_way_is_found() {
    found(Defect::AmountChanged, "I15", 20);
}

#[test]
fn a_cancel_that_is_not_stored_is_found() {
    found(Defect::CancelForgotten, "I7", 50);
}

#[test]
fn a_cancel_that_overwrites_is_found() {
    found(Defect::CancelOverwrites, "I8", 1_000);
}

#[test]
fn an_expiry_that_overwrites_is_found() {
    found(Defect::ExpiryOverwrites, "I8", 1_000);
}

#[test]
fn a_duplicate_rule_without_a_constraint_is_found() {
    found(Defect::DuplicateUnconstrained, "I3", 1_000);
}

#[test]
fn an_event_that_is_sent_before_its_commit_is_found() {
    found(Defect::SentBeforeCommit, "I4", 20);
}

#[test]
fn a_replay_that_is_rendered_anew_is_found() {
    found(Defect::ReplayRenderedAnew, "I5", 20);
}

#[test]
fn an_outcome_under_a_lost_lease_is_found() {
    found(Defect::FencingIgnored, "I14", 200);
}

#[test]
fn a_delivery_that_is_handed_over_without_a_lease_is_found() {
    found(Defect::HandedOverWithoutLease, "I14", 50);
}

#[test]
fn a_delivery_that_is_handed_over_without_room_is_found() {
    found(Defect::HandedOverBeyondRoom, "I18", 500);
}

#[test]
fn a_delivery_that_is_handed_over_past_one_that_waits_is_found() {
    found(Defect::WaitingPassed, "I18", 50);
}

#[test]
fn a_delivery_that_is_handed_over_while_its_endpoint_is_paused_is_found() {
    found(Defect::HandedOverWhilePaused, "I10", 100);
}

#[test]
fn a_delivery_that_is_handed_over_and_lost_for_good_is_found() {
    found(Defect::HandoverLostForGood, "I4", 50);
}

#[test]
fn a_pause_that_is_ignored_is_found() {
    found(Defect::PauseIgnored, "I10", 50);
}

#[test]
fn an_order_that_is_overwritten_is_found() {
    found(Defect::OrderOverwrites, "I8", 200);
}

#[test]
fn a_rotation_that_is_forgotten_is_found() {
    found(Defect::RotationForgotten, "I9", 50);
}

#[test]
fn a_body_of_another_state_is_found() {
    found(Defect::StaleBody, "I9", 20);
}

#[test]
fn an_id_that_is_taken_anew_is_found() {
    found(Defect::IdTakenAnew, "I12", 500);
}

#[test]
fn an_unknown_outcome_that_is_called_not_done_is_found() {
    found(Defect::UnknownCalledNotDone, "I12", 50);
}

#[test]
fn a_reply_of_another_state_is_found() {
    found(Defect::ReplyOfAnotherState, "I5", 20);
}

#[test]
fn a_platform_reply_that_is_not_stored_is_found() {
    found(Defect::PlatformReplyNotStored, "I1", 50);
}

#[test]
fn a_retry_that_forgets_its_key_is_found() {
    found_twice(Defect::RetryForgetsKey, "test-", 100);
    found_twice(Defect::RetryForgetsKey, "api-key-", 100);
}

#[test]
fn two_payment_orders_of_one_operation_are_found() {
    found(Defect::OrderUnconstrained, "I3", 200);
}

#[test]
fn an_old_primary_that_is_written_to_is_found() {
    found(Defect::OldPrimaryWritten, "I2", 20);
}

#[test]
fn ids_that_are_given_twice_after_a_promotion_are_found() {
    found(Defect::IdsGivenTwice, "I1", 50);
}

#[test]
fn an_unknown_type_that_stops_all_deliveries_is_found() {
    found(Defect::UnknownTypeStopsAll, "I4", 50);
}

#[test]
fn a_page_of_two_moments_is_found() {
    found(Defect::PageOfTwoMoments, "I2", 20);
}

#[test]
fn an_instance_that_goes_by_its_machines_clock_is_found() {
    found(Defect::OwnClock, "I6", 50);
    found(Defect::OwnClock, "I5", 200);
}

#[test]
fn times_that_a_clock_left_ahead_are_found() {
    found(Defect::TimesLeftAhead, "I4", 50);
}

#[test]
fn a_delivery_that_is_marked_before_it_is_sent_is_found() {
    found(Defect::MarkedBeforeSent, "I4", 50);
}

#[test]
fn a_cursor_that_passes_an_uncommitted_event_is_found() {
    found(Defect::CursorPassesUncommitted, "I17", 300);
}
