//! Overdue offers.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::scene::{Scene, created};
use crate::operation::{Action, Actor, Closing, Command, Operation, Rejection, State};
use crate::port::{LoadedOperation, Viewer};
use crate::service::ServiceError;
use crate::value::{EventType, OperationId, Status, Timestamp};

/// An offer is overdue after its last moment, not at it, until its expiry or another change is recorded.
pub async fn an_offer_is_overdue_after_its_last_moment(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = scene.begin(&scene.offer()).await;
    let direct = scene
        .begin_directly(&scene.advance(scene.payer, None))
        .await;
    let requested = scene.begin(&scene.offer()).await;
    scene.play(requested.id, &[Command::Request]).await;
    let end = end_of(&offer);
    assert!(!overdue(host, end).await.contains(&offer.id));
    let found = overdue(host, after(end)).await;
    assert!(found.contains(&offer.id));
    assert!(!found.contains(&direct.id));
    assert!(!found.contains(&requested.id));
    assert!(!scene.service.expire(offer.id, end).await.unwrap());
    assert!(scene.service.expire(offer.id, after(end)).await.unwrap());
    assert!(!scene.service.expire(offer.id, after(end)).await.unwrap());
    assert!(!overdue(host, after(end)).await.contains(&offer.id));
    let expired = scene.stored(offer.id).await;
    assert_eq!(expired.state, State::Reproved(by_time()));
    assert_eq!(expired.expires_at, offer.expires_at);
}

/// All overdue offers are loaded, and no others, each as if it were loaded alone.
pub async fn overdue_offers_are_loaded_with_what_a_decision_looks_at(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let mut expected = Vec::new();
    let mut last = scene.now;
    for _ in 0..3 {
        let offer = scene.begin(&scene.offer()).await;
        last = end_of(&offer);
        expected.push(
            host.store()
                .load_operation(offer.id)
                .await
                .unwrap()
                .unwrap(),
        );
    }
    let requested = scene.begin(&scene.offer()).await;
    scene.play(requested.id, &[Command::Request]).await;
    let at = after(last);
    let loaded = host.store().load_overdue(at, 1_000_000).await.unwrap();
    let own = |it: &LoadedOperation| it.operation.payer.head_office == scene.payer;
    let mut loaded: Vec<_> = loaded.into_iter().filter(own).collect();
    loaded.sort_by_key(|it| it.operation.id);
    assert_eq!(loaded, expected);
    let bounded = host.store().load_overdue(at, 2).await.unwrap();
    assert_eq!(bounded.len(), 2);
}

/// A command on an overdue offer records its expiry first, and is then decided for the status REPROVED.
pub async fn a_command_on_an_overdue_offer_records_its_expiry_first(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let cases = [
        Command::Cancel,
        Command::Request,
        Command::Decline { reason: None },
    ];
    for command in cases {
        let offer = scene.begin(&scene.offer()).await;
        let late = after(end_of(&offer));
        let refused = scene
            .service
            .command(Viewer::Platform, offer.id, &command, Actor::Company, late)
            .await;
        let Err(ServiceError::Rejected(rejection)) = refused else {
            panic!("{command:?}: {refused:?}");
        };
        let expected = match command {
            Command::Cancel => Rejection::AlreadyClosed,
            _ => Rejection::InvalidTransition {
                status: Status::Reproved,
            },
        };
        assert_eq!(rejection, expected, "{command:?}");
        assert_eq!(
            scene.stored(offer.id).await.state,
            State::Reproved(by_time())
        );
        let history = scene.history(offer.id).await;
        let entry = history.last().unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!(entry.event_type, EventType::PreAuthorizationExpired);
        assert_eq!(entry.actor, Actor::System);
        assert_eq!(entry.at, late);
    }
}

/// At its last moment an offer may still be requested.
pub async fn an_offer_may_be_requested_at_its_last_moment(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = scene.begin(&scene.offer()).await;
    let end = end_of(&offer);
    let requested = scene
        .service
        .command(
            Viewer::Platform,
            offer.id,
            &Command::Request,
            Actor::Supplier,
            end,
        )
        .await;
    assert_eq!(requested.unwrap().operation.state, State::ToApprove);
}

/// An overdue operation that holds the invoice is expired first, and the new offer succeeds.
// Contract: transition/free-again
pub async fn an_overdue_holder_makes_room_for_a_new_offer(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer_of("NF-1");
    offer.invoice.due_date = scene.due_in(120);
    let first = scene.begin(&offer).await;
    let late = after(end_of(&first));
    let second = scene
        .service
        .offer(&offer, Actor::Company, None, late)
        .await;
    let second = created(second.unwrap());
    assert_ne!(first.id, second.id);
    assert_eq!(
        scene.stored(first.id).await.state,
        State::Reproved(by_time())
    );
    assert_eq!(scene.history(first.id).await.len(), 2);
    assert_eq!(scene.stored(second.id).await, second);
}

/// An overdue operation that holds the invoice is expired first, and the reopening succeeds.
pub async fn an_overdue_holder_makes_room_for_a_reopening(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let reproved = scene.begin(&scene.offer_of("NF-1")).await.id;
    let reprove = Command::Reprove {
        by: crate::operation::ReprovedBy::Company,
        reason: None,
    };
    scene.play(reproved, &[Command::Request, reprove]).await;
    let holder = scene.begin(&scene.offer_of("NF-1")).await;
    let late = after(end_of(&holder));
    let reopened = scene
        .service
        .command(
            Viewer::Platform,
            reproved,
            &Command::Reopen,
            Actor::Platform,
            late,
        )
        .await;
    assert_eq!(reopened.unwrap().operation.state, State::ToApprove);
    assert_eq!(
        scene.stored(holder.id).await.state,
        State::Reproved(by_time())
    );
}

async fn overdue(host: &dyn Host, now: Timestamp) -> Vec<OperationId> {
    // Other cases' offers may be overdue as well.
    let loaded = host.store().load_overdue(now, 1_000_000).await.unwrap();
    loaded.iter().map(|it| it.operation.id).collect()
}

fn end_of(offer: &Operation) -> Timestamp {
    offer.expires_at.unwrap()
}

fn after(end: Timestamp) -> Timestamp {
    end.saturating_add(TimeDelta::milliseconds(1))
}

fn by_time() -> Closing {
    Closing {
        action: Action::Expire,
        given_reason: None,
    }
}
