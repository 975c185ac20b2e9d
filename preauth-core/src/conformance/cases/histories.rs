//! The events of an operation: one per change, in order, with the actor.

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents, target_of};
use crate::operation::{Actor, Command};
use crate::port::Viewer;
use crate::value::{ApiKeyId, EventType, UserId};

/// The history has one entry per change, oldest first, each with its time and its frozen body.
// Contract: delivery/recorded-with-the-change
pub async fn every_change_leaves_one_event_in_its_order(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let net_amount = cents(100);
    let commands = [
        (Command::Request, EventType::AnticipationRequested),
        (Command::Approve, EventType::AnticipationApproved),
        (
            Command::Release { net_amount },
            EventType::AnticipationAnalysisApproved,
        ),
        (Command::Pay, EventType::AnticipationPaid),
        (Command::ReturnPayout, EventType::AnticipationPayoutReturned),
    ];
    for (number, (command, event_type)) in (1..).zip(commands) {
        let at = scene.later(TimeDelta::milliseconds(number));
        let done = scene
            .service
            .command(Viewer::Platform, id, &command, Actor::Platform, at)
            .await
            .unwrap();
        let history = scene.history(id).await;
        let last = history.last().unwrap();
        assert_eq!(last.event_type, event_type);
        assert_eq!(done.event, Some(event_type));
        assert_eq!(last.at, at);
        assert_eq!(last.version, done.operation.version);
        let starts = format!("{} {event_type} {at} {}", last.id, done.operation.status());
        assert!(last.body.starts_with(&starts), "{}", last.body);
    }
    let versions = scene
        .history(id)
        .await
        .into_iter()
        .map(|entry| entry.version.get());
    assert_eq!(versions.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
}

/// Events of one millisecond keep their order.
pub async fn events_of_one_moment_keep_their_order(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    scene.play(id, &[Command::Request, Command::Approve]).await;
    let types = scene
        .history(id)
        .await
        .into_iter()
        .map(|entry| entry.event_type);
    let expected = [
        EventType::PreAuthorizationCreated,
        EventType::AnticipationRequested,
        EventType::AnticipationApproved,
    ];
    assert_eq!(types.collect::<Vec<_>>(), expected);
}

/// The actor is stored with the event, including key and user.
pub async fn every_kind_of_actor_is_kept(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let by_key = Actor::ApiKey {
        key: ApiKeyId::new(scene.uuid()),
        user: UserId::new(scene.uuid()),
    };
    let actors = [
        by_key,
        Actor::Company,
        Actor::Supplier,
        Actor::Platform,
        Actor::System,
    ];
    for actor in actors {
        let id = scene.begin(&scene.offer()).await.id;
        scene
            .service
            .command(Viewer::Platform, id, &Command::Cancel, actor, scene.now)
            .await
            .unwrap();
        let history = scene.history(id).await;
        assert_eq!(history.last().unwrap().actor, actor);
    }
}

/// An operation that does not exist has no history.
pub async fn an_unknown_operation_has_no_history(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let loaded = host.store().load_offer(&target_of(&scene.offer())).await;
    let reserved = loaded.unwrap().unwrap().context.id;
    assert!(scene.history(reserved).await.is_empty());
}
