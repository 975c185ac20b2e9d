//! Four eyes: the operator who released an operation, and the one who pays it.

use crate::Policy;
use crate::access::OperatorIdentity;
use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents};
use crate::operation::{Command, Rejection, ReprovedBy};
use crate::port::{ActingOperator, Viewer};
use crate::service::{Operations, ServiceError};
use crate::value::{OperationId, Status};

/// A store returns the operator of the latest release, for as long as the operation may be paid on it.
pub async fn the_latest_releaser_is_read_while_a_payment_may_follow(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (ana, root) = (scene.new_operator("Ana"), scene.operator("root", None));
    let named = Some(ana.identity());
    let id = approved(&scene).await;
    assert_eq!(releaser(&scene, id).await, None);
    act(&scene, id, Some(&ana), &[release()]).await;
    assert_eq!(releaser(&scene, id).await, named);
    // The payment and its return are another operator's, and release nothing.
    let returned = [Command::Pay, Command::ReturnPayout];
    act(&scene, id, Some(&root), &returned[..1]).await;
    assert_eq!(releaser(&scene, id).await, None);
    act(&scene, id, Some(&root), &returned[1..]).await;
    assert_eq!(releaser(&scene, id).await, named);
    let again = [reprove(), Command::Reopen, release()];
    act(&scene, id, Some(&root), &again).await;
    assert_eq!(releaser(&scene, id).await, Some(OperatorIdentity::Root));
    act(&scene, id, None, &again).await;
    assert_eq!(releaser(&scene, id).await, None);
    // What others release is not its release.
    let other = approved(&scene).await;
    act(&scene, other, Some(&ana), &[release()]).await;
    assert_eq!(releaser(&scene, id).await, None);
}

/// The operator who released is refused, and nothing changes; any other may pay. Operators are compared
/// by id, not by name.
pub async fn another_operator_than_the_releaser_must_pay(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let service = scene.service_under(Policy {
        four_eyes: true,
        ..Policy::default()
    });
    let (ana, root) = (scene.new_operator("Ana"), scene.operator("root", None));
    let namesake = scene.new_operator("Ana");
    let cases = [
        (Some(&ana), Some(&ana), false),
        (Some(&ana), Some(&namesake), true),
        (Some(&ana), Some(&root), true),
        (Some(&root), Some(&root), false),
        (Some(&root), Some(&ana), true),
        // Released before operators were recorded, or paid by a program that has none.
        (None, Some(&ana), true),
        (Some(&ana), None, true),
        (None, None, true),
    ];
    for (releases, pays, is_allowed) in cases {
        let id = approved(&scene).await;
        act(&scene, id, releases, &[release()]).await;
        let paid = pay(&service, &scene, id, pays).await;
        let stored = scene.stored(id).await;
        if is_allowed {
            assert_eq!(stored.status(), Status::ToBill, "{releases:?} {pays:?}");
        } else {
            let is_refused = matches!(paid, Err(ServiceError::Rejected(Rejection::OwnRelease)));
            assert!(is_refused, "{paid:?}");
            assert_eq!(stored.status(), Status::ToPay);
            let history = scene.history(id).await;
            assert_eq!(history.len(), 4, "a refusal records nothing");
        }
    }
}

/// Off by default: one operator may do both.
pub async fn without_the_rule_the_releaser_may_pay(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let ana = scene.new_operator("Ana");
    let id = approved(&scene).await;
    act(&scene, id, Some(&ana), &[release(), Command::Pay]).await;
    assert_eq!(scene.stored(id).await.status(), Status::ToBill);
}

/// Who pays binds the payment to the version that they saw: what was released for another amount since is
/// not paid, and nothing is recorded.
pub async fn a_payment_of_another_version_than_the_one_seen_is_refused(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let ana = scene.new_operator("Ana");
    let id = approved(&scene).await;
    act(&scene, id, Some(&ana), &[release()]).await;
    let seen = scene.stored(id).await.version;
    let again = [reprove(), Command::Reopen, release_of(2_000)];
    act(&scene, id, Some(&ana), &again).await;
    let stored = scene.stored(id).await;
    let bound = |version| scene.service.clone().if_version(Some(version));
    let paid = pay(&bound(seen), &scene, id, None).await;
    let Err(ServiceError::Changed { stored: version }) = paid else {
        panic!("{paid:?}");
    };
    assert_eq!(version, stored.version);
    assert_eq!(scene.stored(id).await, stored, "a refusal changes nothing");
    pay(&bound(stored.version), &scene, id, None).await.unwrap();
    assert_eq!(scene.stored(id).await.status(), Status::ToBill);
    // What is not possible at all says so first.
    let paid = pay(&bound(stored.version), &scene, id, None).await;
    let is_refused = matches!(
        paid,
        Err(ServiceError::Rejected(Rejection::InvalidTransition { .. }))
    );
    assert!(is_refused, "{paid:?}");
}

/// An operation in analysis.
async fn approved(scene: &Scene<'_>) -> OperationId {
    let id = scene.begin(&scene.offer()).await.id;
    scene.play(id, &[Command::Request, Command::Approve]).await;
    id
}

fn release() -> Command {
    release_of(1_000)
}

fn release_of(amount: i64) -> Command {
    Command::Release {
        net_amount: cents(amount),
    }
}

fn reprove() -> Command {
    Command::Reprove {
        by: ReprovedBy::Platform,
        reason: None,
    }
}

async fn act(
    scene: &Scene<'_>,
    id: OperationId,
    operator: Option<&ActingOperator>,
    commands: &[Command],
) {
    let service = at_hands_of(&scene.service, operator);
    for command in commands {
        let actor = command.platform_actor();
        let done = service.command(Viewer::Platform, id, command, actor, scene.now);
        done.await.unwrap();
    }
}

async fn pay(
    service: &Operations,
    scene: &Scene<'_>,
    id: OperationId,
    operator: Option<&ActingOperator>,
) -> Result<(), ServiceError> {
    let service = at_hands_of(service, operator);
    let actor = Command::Pay.platform_actor();
    let paid = service.command(Viewer::Platform, id, &Command::Pay, actor, scene.now);
    paid.await.map(drop)
}

fn at_hands_of(service: &Operations, operator: Option<&ActingOperator>) -> Operations {
    operator.map_or_else(
        || service.clone(),
        |operator| service.in_hands_of(operator.clone()),
    )
}

async fn releaser(scene: &Scene<'_>, id: OperationId) -> Option<OperatorIdentity> {
    let loaded = scene.host.store().load_operation(id).await;
    loaded.unwrap().unwrap().released_by
}
