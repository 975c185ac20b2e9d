//! Commands over a host that fails.

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command, Rejection};
use preauth_core::port::Viewer;
use preauth_core::service::ServiceError;
use preauth_core::value::{EventType, Status};

use crate::faulty::Fault;
use crate::given::{given, instance_over};

const BOUND: u32 = 20;

#[tokio::test]
async fn a_command_whose_answer_was_lost_is_found_and_not_refused() {
    for fault in [Fault::UnknownApplied, Fault::UnknownAppliedLate] {
        let given = given();
        let id = given.begin().await;
        given.faulty.fail(&[fault]);
        let done = given.command(id, &Command::Request).await.unwrap();
        assert_eq!(done.event, Some(EventType::AnticipationRequested));
        assert_eq!(given.stored().await, [done.operation]);
        assert_eq!(given.events(id).await, 2, "{fault:?}");
    }
}

#[tokio::test]
async fn a_command_that_was_not_written_is_done_again() {
    for fault in [Fault::UnknownNotApplied, Fault::NotDone] {
        let given = given();
        let id = given.begin().await;
        given.faulty.fail(&[fault, fault]);
        let done = given.command(id, &Command::Cancel).await.unwrap();
        assert_eq!(done.operation.status(), Status::Reproved);
        assert_eq!(given.events(id).await, 2);
    }
}

// Contract: transition/cancel-overtaken
#[tokio::test]
async fn the_loser_of_a_race_is_refused_at_once() {
    let given = given();
    let id = given.begin().await;
    let commits = given.faulty.commits();
    given.faulty.fail(&[Fault::Conflict]);
    let refused = given.command(id, &Command::Cancel).await;
    let Err(ServiceError::Rejected(Rejection::InvalidTransition { status })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(status, Status::InPreAuth);
    assert_eq!(given.faulty.commits(), commits + 1);
    assert!(given.command(id, &Command::Cancel).await.is_ok());
}

#[tokio::test]
async fn a_storm_ends_and_says_what_is_known() {
    for fault in [Fault::NotDone, Fault::UnknownNotApplied] {
        let given = given();
        let id = given.begin().await;
        given.faulty.storm(fault);
        let failed = given.command(id, &Command::Request).await;
        match (fault, failed) {
            (Fault::UnknownNotApplied, Err(ServiceError::Unknown(_)))
            | (Fault::NotDone, Err(ServiceError::NotDone(_))) => {}
            (_, other) => panic!("{fault:?}: {other:?}"),
        }
        assert!(given.faulty.commits() <= BOUND);
        assert_eq!(given.events(id).await, 1);
    }
}

#[tokio::test]
async fn a_command_that_may_have_been_done_is_neither_refused_nor_called_not_done() {
    for fault in [Fault::UnknownApplied, Fault::UnknownNotApplied] {
        for (blind_reads, settles) in [(2, true), (3, false), (1_000, false)] {
            let given = given();
            let id = given.begin().await;
            given.faulty.fail(&[fault]);
            given.faulty.blind_after_unknown(blind_reads);
            match given.command(id, &Command::Request).await {
                Ok(_) => assert!(settles),
                Err(ServiceError::Unknown(_)) => assert!(!settles),
                other => panic!("{fault:?}, {blind_reads}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_command_whose_first_commit_is_applied_beside_a_later_one_is_done_once() {
    for fault in [
        Fault::UnknownAppliedBeforeNext,
        Fault::UnknownAppliedAfterNext,
    ] {
        let given = given();
        let id = given.begin().await;
        given.faulty.fail(&[fault]);
        let done = given.command(id, &Command::Request).await.unwrap();
        assert_eq!(given.stored().await, [done.operation], "{fault:?}");
        assert_eq!(given.events(id).await, 2, "{fault:?}");
    }
}

#[tokio::test]
async fn no_later_failure_ends_what_is_unsettled() {
    for fault in [Fault::NotDone, Fault::Conflict] {
        let given = given();
        let id = given.begin().await;
        given.faulty.fail(&[Fault::UnknownNotApplied]);
        given.faulty.storm(fault);
        let failed = given.command(id, &Command::Request).await;
        let Err(ServiceError::Unknown(_)) = failed else {
            panic!("{fault:?}: {failed:?}");
        };
    }
}

#[tokio::test]
async fn a_command_that_can_no_longer_be_applied_has_lost_its_race() {
    let given = given();
    let id = given.begin().await;
    given.faulty.fail(&[Fault::UnknownNotApplied]);
    let now = given.now;
    given.faulty.after_unknown(Box::new(move |store| {
        Box::pin(async move {
            let other = instance_over(store, 8);
            let (viewer, cancel) = (Viewer::Platform, Command::Cancel);
            let cancelled = other.command(viewer, id, &cancel, Actor::Company, now);
            cancelled.await.unwrap();
        })
    }));
    let refused = given.command(id, &Command::Request).await;
    let Err(ServiceError::Rejected(Rejection::InvalidTransition { status })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(status, Status::Reproved);
    assert_eq!(given.events(id).await, 2);
}

#[tokio::test]
async fn a_command_on_an_overdue_offer_survives_faults_of_the_expiry() {
    let faults = [
        Fault::NotDone,
        Fault::Conflict,
        Fault::UnknownApplied,
        Fault::UnknownNotApplied,
        Fault::UnknownAppliedLate,
    ];
    for fault in faults {
        let mut given = given();
        let id = given.begin().await;
        given.now = given.now.saturating_add(TimeDelta::days(31));
        given.faulty.fail(&[fault]);
        let refused = given.command(id, &Command::Cancel).await;
        let Err(ServiceError::Rejected(Rejection::AlreadyClosed)) = refused else {
            panic!("{fault:?}: {refused:?}");
        };
        assert_eq!(given.events(id).await, 2, "{fault:?}");
    }
}

#[tokio::test]
async fn a_command_is_not_done_when_the_expiry_before_it_cannot_be_settled() {
    for fault in [Fault::NotDone, Fault::Conflict, Fault::UnknownNotApplied] {
        let mut given = given();
        let id = given.begin().await;
        given.now = given.now.saturating_add(TimeDelta::days(31));
        given.faulty.storm(fault);
        let failed = given.command(id, &Command::Cancel).await;
        let Err(ServiceError::NotDone(_)) = failed else {
            panic!("{fault:?}: {failed:?}");
        };
        assert!(given.faulty.commits() <= BOUND);
    }
}
