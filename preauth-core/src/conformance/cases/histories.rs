//! The events of an operation: one per change, in order, with the actor.

use std::net::IpAddr;

use chrono::TimeDelta;

use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents, target_of};
use crate::operation::{Actor, Command, ReprovedBy};
use crate::port::{ActingOperator, Viewer};
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

/// The operator is stored with each event that it causes, and with no other: not with an expiry that is
/// recorded on the way.
pub async fn the_operator_is_kept_with_its_own_events(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let ana = scene.new_operator("Ana");
    let root = ActingOperator {
        address: IpAddr::from([192, 0, 2, 7]),
        ..scene.operator("root", None)
    };
    let id = scene.begin(&scene.offer()).await.id;
    let acts = [
        (Some(ana.clone()), Command::Request, Actor::Supplier),
        (Some(root), Command::Approve, Actor::Company),
        (
            None,
            Command::Reprove {
                by: ReprovedBy::Platform,
                reason: None,
            },
            Actor::Platform,
        ),
    ];
    let mut expected = vec![None];
    for (operator, command, actor) in acts {
        let service = match &operator {
            Some(operator) => &scene.service.in_hands_of(operator.clone()),
            None => &scene.service,
        };
        let done = service.command(Viewer::Platform, id, &command, actor, scene.now);
        done.await.unwrap();
        expected.push(operator);
    }
    let kept = async |id| {
        let history = scene.history(id).await.into_iter();
        history.map(|entry| entry.operator).collect::<Vec<_>>()
    };
    assert_eq!(kept(id).await, expected);

    let overdue = scene.begin(&scene.offer()).await;
    let late = overdue
        .expires_at
        .unwrap()
        .saturating_add(TimeDelta::days(1));
    let service = scene.service.in_hands_of(ana);
    let refused = service.command(
        Viewer::Platform,
        overdue.id,
        &Command::Request,
        Actor::Supplier,
        late,
    );
    assert!(refused.await.is_err());
    assert_eq!(kept(overdue.id).await, [None, None]);
}

/// An operation that does not exist has no history.
pub async fn an_unknown_operation_has_no_history(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let loaded = host.store().load_offer(&target_of(&scene.offer())).await;
    let reserved = loaded.unwrap().unwrap().context.id;
    assert!(scene.history(reserved).await.is_empty());
}
