//! Offers over a host that fails.

use chrono::TimeDelta;
use preauth_core::operation::Actor;
use preauth_core::service::{OfferOutcome, ServiceError};
use preauth_core::value::Status;

use crate::faulty::Fault;
use crate::given::{Given, created, given, key, payer, supplier};

const BOUND: u32 = 20;

#[tokio::test]
async fn an_offer_whose_answer_was_lost_is_found_and_not_made_again() {
    for key in [None, Some(key())] {
        let given = given();
        given.faulty.fail(&[Fault::UnknownApplied]);
        let operation = created(given.send(key.as_ref()).await);
        assert_eq!(given.stored().await, [operation]);
        assert_eq!(given.faulty.commits(), 1);
    }
}

#[tokio::test]
async fn an_offer_that_was_not_written_is_made_again() {
    for fault in [Fault::UnknownNotApplied, Fault::NotDone, Fault::Conflict] {
        for key in [None, Some(key())] {
            let given = given();
            given.faulty.fail(&[fault, fault]);
            let operation = created(given.send(key.as_ref()).await);
            assert_eq!(given.stored().await, [operation], "{fault:?}");
            assert_eq!(given.faulty.commits(), 3, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn an_offer_that_lands_after_it_was_looked_up_is_taken_for_its_own() {
    let without_key = given();
    without_key.faulty.fail(&[Fault::UnknownAppliedLate]);
    let operation = created(without_key.send(None).await);
    assert_eq!(without_key.stored().await, [operation]);

    let with_key = given();
    with_key.faulty.fail(&[Fault::UnknownAppliedLate]);
    let answer = with_key.send(Some(&key())).await.unwrap();
    let stored = with_key.stored().await;
    assert_eq!(stored.len(), 1);
    assert_eq!(answer.body(), format!("{} IN_PRE_AUTH", stored[0].id));
}

#[tokio::test]
async fn a_storm_ends_and_says_what_is_known() {
    for key in [None, Some(key())] {
        for fault in [Fault::Conflict, Fault::NotDone, Fault::UnknownNotApplied] {
            let given = given();
            given.faulty.storm(fault);
            let failed = given.send(key.as_ref()).await;
            match (fault, failed) {
                (Fault::UnknownNotApplied, Err(ServiceError::Unknown(_)))
                | (Fault::Conflict | Fault::NotDone, Err(ServiceError::NotDone(_))) => {}
                (_, other) => panic!("{fault:?}: {other:?}"),
            }
            assert!(given.faulty.commits() <= BOUND);
            assert!(given.stored().await.is_empty());
        }
    }
}

#[tokio::test]
async fn a_look_up_that_fails_for_a_moment_is_tried_again() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownApplied]);
    given.faulty.blind_after_unknown(2);
    let operation = created(given.send(None).await);
    assert_eq!(given.stored().await, [operation]);
}

#[tokio::test]
async fn an_offer_that_may_have_been_made_is_never_called_not_done() {
    for fault in [Fault::UnknownApplied, Fault::UnknownNotApplied] {
        let given = given();
        given.faulty.fail(&[fault]);
        given.faulty.blind_after_unknown(1_000);
        let failed = given.send(Some(&key())).await;
        let Err(ServiceError::Unknown(_)) = failed else {
            panic!("{fault:?}: {failed:?}");
        };
    }
}

#[tokio::test]
async fn an_advance_that_only_its_id_distinguishes_is_never_made_twice() {
    for blind_reads in [0, 2, 1_000] {
        let given = given();
        given.faulty.fail(&[Fault::UnknownApplied]);
        given.faulty.blind_after_unknown(blind_reads);
        let advance = Given::unnumbered_advance();
        let began = given
            .service
            .advance_directly(&advance, Actor::Supplier, None, given.now)
            .await;
        match began {
            Ok(OfferOutcome::Created { .. }) => assert!(blind_reads < 1_000),
            Err(ServiceError::Unknown(_)) => assert_eq!(blind_reads, 1_000),
            other => panic!("{other:?}"),
        }
        assert_eq!(given.stored().await.len(), 1);
    }
}

#[tokio::test]
async fn an_advance_whose_first_commit_is_applied_beside_a_later_one_is_made_once() {
    for fault in [
        Fault::UnknownAppliedLate,
        Fault::UnknownAppliedBeforeNext,
        Fault::UnknownAppliedAfterNext,
    ] {
        let given = given();
        given.faulty.fail(&[fault]);
        let advance = Given::unnumbered_advance();
        let began = given
            .service
            .advance_directly(&advance, Actor::Supplier, None, given.now)
            .await;
        assert_eq!(given.stored().await, [created(began)], "{fault:?}");
    }
}

#[tokio::test]
async fn an_offer_whose_first_commit_is_applied_beside_a_later_one_is_made_once() {
    for fault in [
        Fault::UnknownAppliedBeforeNext,
        Fault::UnknownAppliedAfterNext,
    ] {
        for key in [None, Some(key())] {
            let given = given();
            given.faulty.fail(&[fault]);
            let operation = created(given.send(key.as_ref()).await);
            assert_eq!(given.stored().await, [operation], "{fault:?}");
        }
    }
}

#[tokio::test]
async fn no_later_failure_ends_what_is_unsettled() {
    for key in [None, Some(key())] {
        for fault in [Fault::NotDone, Fault::Conflict, Fault::InProgress] {
            let given = given();
            given.faulty.fail(&[Fault::UnknownNotApplied]);
            given.faulty.storm(fault);
            let failed = given.send(key.as_ref()).await;
            let Err(ServiceError::Unknown(_)) = failed else {
                panic!("{fault:?}: {failed:?}");
            };
        }
    }
}

#[tokio::test]
async fn no_later_refusal_ends_what_is_unsettled() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    given.faulty.after_unknown(Box::new(|store| {
        Box::pin(async move { store.block_supplier(payer(), supplier()) })
    }));
    let failed = given.send(Some(&key())).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
    let refused = given.send(Some(&key())).await;
    assert!(
        matches!(refused, Err(ServiceError::Rejected(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_key_that_is_being_written_elsewhere_is_in_progress() {
    let given = given();
    given.faulty.fail(&[Fault::InProgress]);
    let failed = given.send(Some(&key())).await;
    assert!(
        matches!(failed, Err(ServiceError::IdempotencyInProgress)),
        "{failed:?}"
    );
    assert_eq!(given.faulty.commits(), 1);
    created(given.send(Some(&key())).await);
}

#[tokio::test]
async fn a_repeated_offer_after_an_unknown_outcome_gets_the_original_answer() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownApplied]);
    given.faulty.blind_after_unknown(3);
    let failed = given.send(Some(&key())).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
    let again = given.send(Some(&key())).await.unwrap();
    let stored = given.stored().await;
    assert_eq!(stored.len(), 1);
    let body = format!("{} IN_PRE_AUTH", stored[0].id);
    assert_eq!(again, OfferOutcome::Replayed { body });
}

#[tokio::test]
async fn an_offer_is_not_done_when_the_expiry_of_its_holder_cannot_be_settled() {
    for fault in [Fault::NotDone, Fault::UnknownNotApplied, Fault::Conflict] {
        let mut given = given();
        given.begin().await;
        given.now = given.now.saturating_add(TimeDelta::days(31));
        given.faulty.storm(fault);
        let failed = given.send(None).await;
        let Err(ServiceError::NotDone(_)) = failed else {
            panic!("{fault:?}: {failed:?}");
        };
        assert!(given.faulty.commits() <= BOUND);
    }
}

#[tokio::test]
async fn an_expiry_whose_answer_was_lost_makes_room_all_the_same() {
    let mut given = given();
    let first = given.begin().await;
    given.now = given.now.saturating_add(TimeDelta::days(31));
    given
        .faulty
        .fail(&[Fault::UnknownApplied, Fault::UnknownApplied]);
    let second = created(given.send(None).await);
    let stored = given.stored().await;
    assert_eq!(stored.len(), 2);
    assert_eq!((stored[0].id, stored[1].id), (second.id, first));
    assert_eq!(stored[1].status(), Status::Reproved);
    assert_eq!(given.events(first).await, 2);
}

#[tokio::test]
async fn a_host_without_room_is_asked_once() {
    for key in [None, Some(key())] {
        let given = given();
        given.faulty.storm(Fault::Busy);
        let failed = given.send(key.as_ref()).await;
        assert!(matches!(failed, Err(ServiceError::Busy(_))), "{failed:?}");
        assert_eq!(given.faulty.commits(), 1);
    }
}

#[tokio::test]
async fn a_host_without_room_does_not_hide_an_unknown_outcome() {
    let given = given();
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    given.faulty.fail(&[Fault::Busy]);
    let failed = given.send(None).await;
    assert!(
        matches!(failed, Err(ServiceError::Unknown(_))),
        "{failed:?}"
    );
    assert_eq!(given.faulty.commits(), 2);
}

#[tokio::test]
async fn an_offer_waits_for_no_expiry_that_the_host_has_no_room_for() {
    let mut given = given();
    given.begin().await;
    given.now = given.now.saturating_add(TimeDelta::days(31));
    given.faulty.storm(Fault::Busy);
    let before = given.faulty.commits();
    let failed = given.send(None).await;
    assert!(matches!(failed, Err(ServiceError::Busy(_))), "{failed:?}");
    assert_eq!(given.faulty.commits(), before + 1);
}
