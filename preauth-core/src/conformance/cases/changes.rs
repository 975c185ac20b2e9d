//! Commands on an existing operation: their writes, and races whose loser must write nothing.

use crate::conformance::scene::{Scene, cents, target_of};
use crate::conformance::{Host, draft};
use crate::operation::{
    Action, Actor, Change, Closing, Command, Extension, Operation, Rejection, ReprovedBy, Resumed,
    State,
};
use crate::port::{CommitError, Viewer};
use crate::service::ServiceError;
use crate::value::{OperationId, Reason, Version};

/// Every status, with the data that belongs to it, is read as it was written.
pub async fn every_state_is_kept_with_its_data(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let mut expected = scene.stored(id).await;
    for change in a_whole_life(&scene) {
        let loaded = host.store().load_operation(id).await.unwrap().unwrap();
        let commit = draft::change(&scene, &loaded, &change, scene.now);
        expected = draft::operation_of(&commit);
        host.store().commit(commit).await.unwrap();
        assert_eq!(scene.stored(id).await, expected, "{change:?}");
        let reloaded = host.store().load_operation(id).await.unwrap().unwrap();
        assert_eq!(reloaded.operation, expected, "{change:?}");
    }
    assert_eq!(expected.state, State::Concluded);
}

/// The stage and the reason of a closing are stored, with and without a given reason.
pub async fn every_closing_is_kept_with_its_reason(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let reason = Some(Reason::parse("não \"serve\" 🙂").unwrap());
    let reprove = |by| Command::Reprove {
        by,
        reason: reason.clone(),
    };
    let endings = [
        (vec![Command::Cancel], Action::Cancel, None),
        (
            vec![Command::Decline { reason: None }],
            Action::Decline,
            None,
        ),
        (
            vec![Command::Withdraw {
                reason: reason.clone(),
            }],
            Action::Withdraw,
            reason.clone(),
        ),
        (
            vec![Command::Request, reprove(ReprovedBy::Company)],
            Action::ReproveByCompany,
            reason.clone(),
        ),
        (
            vec![Command::Request, reprove(ReprovedBy::Platform)],
            Action::ReproveByPlatform,
            reason.clone(),
        ),
    ];
    for (commands, action, given_reason) in endings {
        let id = scene.begin(&scene.offer()).await.id;
        let closed = scene.play(id, &commands).await;
        let closing = Closing {
            action,
            given_reason,
        };
        assert_eq!(closed.state, State::Reproved(closing));
    }
}

/// A commit decided on an older version conflicts and writes nothing: no event, no delivery.
pub async fn a_commit_on_an_old_version_writes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let id = scene.begin(&scene.offer()).await.id;
    let loaded = host.store().load_operation(id).await.unwrap().unwrap();
    let winner = draft::change(&scene, &loaded, &Change::Requested, scene.now);
    let closing = Closing {
        action: Action::Cancel,
        given_reason: None,
    };
    let loser = draft::change(&scene, &loaded, &Change::Closed(closing), scene.now);
    let (won, lost) = (winner.event.id, loser.event.id);
    host.store().commit(winner.clone()).await.unwrap();
    for late in [loser, winner.clone()] {
        let refused = host.store().commit(late).await;
        assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    }
    assert_eq!(scene.stored(id).await, draft::operation_of(&winner));
    let history = scene.history(id).await;
    let events: Vec<_> = history.iter().skip(1).map(|entry| entry.id).collect();
    assert_eq!(events, [won]);
    assert_eq!(host.deliveries(won).await.len(), 1);
    assert!(host.deliveries(lost).await.is_empty());
}

/// Of many commits each is written as if it were alone; those on an old version are not written, also
/// if the newer version is of the same call.
pub async fn of_many_commits_only_those_that_are_too_late_are_left_out(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let store = host.store();
    let mut commits = Vec::new();
    for at_once in [1, 2] {
        let id = scene.begin(&scene.offer()).await.id;
        let loaded = store.load_operation(id).await.unwrap().unwrap();
        for _ in 0..at_once {
            let change = draft::change(&scene, &loaded, &Change::Requested, scene.now);
            commits.push((change, commits.len() != 2));
        }
    }
    let late = scene.begin(&scene.offer()).await.id;
    let loaded = store.load_operation(late).await.unwrap().unwrap();
    scene.play(late, &[Command::Request]).await;
    let change = draft::change(&scene, &loaded, &Change::Requested, scene.now);
    commits.push((change, false));
    let held = scene.offer();
    let twice = scene.offer();
    let key = scene.new_key();
    for (offer, is_free) in [
        (&held, false),
        (&scene.offer(), true),
        (&twice, true),
        (&twice, false),
    ] {
        let loaded = store.load_offer(&target_of(offer)).await.unwrap().unwrap();
        let key = Some(&key).filter(|_| *offer == twice);
        let opening = draft::opening(&scene, offer, &loaded, key, scene.now);
        commits.push((opening, is_free));
    }
    scene.begin(&held).await;
    let outcomes = store
        .commit_all(commits.iter().map(|it| it.0.clone()).collect())
        .await;
    assert_eq!(outcomes.len(), commits.len());
    for ((commit, is_written), outcome) in commits.iter().zip(outcomes) {
        match outcome {
            Ok(()) => assert!(is_written, "{commit:?}"),
            Err(CommitError::Conflict) => assert!(!is_written, "{commit:?}"),
            Err(other) => panic!("{other:?}"),
        }
        let history = scene.history(draft::id_of(commit)).await;
        let recorded = history.iter().any(|entry| entry.id == commit.event.id);
        assert_eq!(recorded, *is_written, "{commit:?}");
        let deliveries = host.deliveries(commit.event.id).await;
        assert_eq!(deliveries.len(), usize::from(*is_written));
    }
}

/// A commit that skips a version, or names an operation that does not exist, conflicts.
pub async fn a_commit_on_a_version_that_is_not_there_conflicts(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let loaded = host.store().load_operation(id).await.unwrap().unwrap();
    let mut ahead = loaded.clone();
    ahead.operation.version = Version::new(2).unwrap();
    let target = target_of(&scene.offer());
    let reserved = host.store().load_offer(&target).await.unwrap().unwrap();
    let mut missing = loaded.clone();
    missing.operation.id = reserved.context.id;
    for base in [ahead, missing] {
        let commit = draft::change(&scene, &base, &Change::Requested, scene.now);
        let refused = host.store().commit(commit).await;
        assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    }
    assert_eq!(scene.stored(id).await, loaded.operation);
    let unknown = host.store().load_operation(reserved.context.id).await;
    assert_eq!(unknown.unwrap(), None);
}

/// Cancelling twice is one change and one event; the second answer is the current state.
// Contract: transition/cancel-again
pub async fn a_second_cancel_changes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let first = cancel(&scene, id).await.unwrap();
    let second = cancel(&scene, id).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(first.version, Version::INITIAL.next());
    assert_eq!(scene.history(id).await.len(), 2);
}

/// The answer to a cancel depends on the current state of the operation
/// ([contract, "Cancel refusals"](https://example.com/preauth/blob/main/docs/reference.md#cancel-refusals)).
// Contract: transition/cancel-closed-otherwise
pub async fn cancel_is_refused_after_a_request_or_another_closing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let net_amount = cents(100);
    let mut commands = vec![Command::Request, Command::Approve];
    commands.extend([Command::Release { net_amount }, Command::Pay]);
    commands.extend([Command::Bill, Command::Conclude]);
    let id = scene.begin(&scene.offer()).await.id;
    for command in commands {
        let before = scene.play(id, &[command]).await;
        let refused = cancel(&scene, id).await.unwrap_err();
        assert_eq!(refused, Rejection::AlreadyRequested);
        assert_eq!(scene.stored(id).await, before);
    }
    let direct = scene
        .begin_directly(&scene.advance(scene.payer, None))
        .await;
    let refused = cancel(&scene, direct.id).await.unwrap_err();
    assert_eq!(refused, Rejection::AlreadyRequested);
    let declined = scene.begin(&scene.offer()).await.id;
    scene
        .play(declined, &[Command::Decline { reason: None }])
        .await;
    let refused = cancel(&scene, declined).await.unwrap_err();
    assert_eq!(refused, Rejection::AlreadyClosed);
}

/// An operation that a viewer may not see does not exist for its commands either.
pub async fn a_strangers_operation_cannot_be_commanded(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let operation = scene.begin(&scene.offer()).await;
    let stranger = scene.another_payer().await;
    for viewer in [Viewer::HeadOffice(stranger), Viewer::Branch(scene.branch)] {
        let refused = scene
            .service
            .command(
                viewer,
                operation.id,
                &Command::Cancel,
                Actor::Company,
                scene.now,
            )
            .await;
        let Err(ServiceError::Rejected(Rejection::NotFound)) = refused else {
            panic!("{refused:?}");
        };
    }
    assert_eq!(scene.stored(operation.id).await, operation);
}

async fn cancel(scene: &Scene<'_>, id: OperationId) -> Result<Operation, Rejection> {
    let viewer = Viewer::HeadOffice(scene.payer);
    let done = scene
        .service
        .command(viewer, id, &Command::Cancel, Actor::Company, scene.now);
    match done.await {
        Ok(commanded) => Ok(commanded.operation),
        Err(ServiceError::Rejected(rejection)) => Err(rejection),
        Err(other) => panic!("{other:?}"),
    }
}

/// From the request to the end, by way of a reproval, a returned payout and three extensions.
fn a_whole_life(scene: &Scene<'_>) -> Vec<Change> {
    let extension = |days| Extension {
        id: scene.new_extension_id(),
        new_due_date: scene.due_in(days),
        total_amount: cents(1_300_001),
    };
    let reproved = Closing {
        action: Action::ReproveByPlatform,
        given_reason: Some(Reason::parse("falta um documento").unwrap()),
    };
    let released = Change::Released {
        net_amount: cents(1_237_656),
    };
    let (canceled, first, second) = (extension(70), extension(80), extension(90));
    vec![
        Change::Requested,
        Change::Approved,
        released.clone(),
        Change::Closed(reproved),
        Change::Reopened(Resumed::Analysis),
        released,
        Change::Paid,
        Change::PayoutReturned,
        Change::Paid,
        Change::Billed {
            due_date: scene.due_in(60),
        },
        Change::ExtensionCreated(canceled),
        Change::ExtensionCanceled(canceled),
        Change::ExtensionCreated(first),
        Change::ExtensionConcluded(first),
        Change::ExtensionCreated(second),
        Change::ExtensionConcluded(second),
        Change::Concluded,
    ]
}
