//! The effects of an operation's history: the status after a reopening, the due date of a new boleto.

use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents, created};
use crate::operation::{Actor, Command, Operation, ReprovedBy, State};
use crate::value::{DueDate, EventType, ExtensionId, OperationId, Status};

/// A reopened operation continues in the status in which it was refused, and never skips a decision of
/// the company.
pub async fn a_reopened_operation_goes_on_where_it_was_refused(host: &dyn Host) {
    use Command as C;
    let scene = Scene::new(host).await;
    let release = C::Release {
        net_amount: cents(1_000),
    };
    let (by_company, by_platform) = (ReprovedBy::Company, ReprovedBy::Platform);
    let cases = [
        (true, vec![], by_company, Status::InVerification),
        (true, vec![], by_platform, Status::InVerification),
        (true, vec![C::Verify], by_company, Status::ToApprove),
        (false, vec![C::Request], by_company, Status::ToApprove),
        (false, vec![C::Request], by_platform, Status::ToApprove),
        (
            false,
            vec![C::Request, C::Approve],
            by_platform,
            Status::InAnalysis,
        ),
        (
            false,
            vec![C::Request, C::Approve, release.clone()],
            by_platform,
            Status::InAnalysis,
        ),
        (
            true,
            vec![C::Verify, C::Approve, release, C::Pay, C::ReturnPayout],
            by_platform,
            Status::InAnalysis,
        ),
    ];
    for (is_direct, commands, by, resumed) in cases {
        let id = begin(&scene, is_direct).await;
        scene.play(id, &commands).await;
        // An operation that is refused again is reopened again, in the same status.
        for _ in 0..2 {
            let reprove = C::Reprove { by, reason: None };
            let can_reprove = scene.play(id, &[reprove, C::Reopen]).await;
            assert_eq!(can_reprove.status(), resumed, "{commands:?}");
            assert_eq!(can_reprove.net_amount, None, "{commands:?}");
        }
    }
}

/// A store returns the latest event of the operation that is neither a reproval nor a reopening.
pub async fn the_progress_of_a_reproved_operation_is_read_from_its_history(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = begin(&scene, false).await;
    let reached = async || {
        let loaded = host.store().load_operation(id).await;
        loaded.unwrap().unwrap().reached
    };
    let reprove = || Command::Reprove {
        by: ReprovedBy::Company,
        reason: None,
    };
    scene.play(id, &[Command::Request, reprove()]).await;
    assert_eq!(reached().await, Some(EventType::AnticipationRequested));
    let other = begin(&scene, true).await;
    scene
        .play(other, &[Command::Verify, Command::Approve])
        .await;
    scene.play(id, &[Command::Reopen, reprove()]).await;
    assert_eq!(reached().await, Some(EventType::AnticipationRequested));
}

/// The due date of the last concluded extension survives a returned payout.
pub async fn a_new_boleto_keeps_the_due_date_of_the_last_concluded_extension(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let billed = billed(&scene).await;
    assert_eq!(boleto_of(&billed), billed.invoice.due_date);
    for (days, is_concluded) in [(70, true), (80, true), (90, false)] {
        let id = scene.new_extension_id();
        let end = if is_concluded {
            Command::ConcludeExtension { id }
        } else {
            Command::CancelExtension { id }
        };
        let create = extension(&scene, id, days);
        scene.play(billed.id, &[create, end]).await;
    }
    let billed = billed_again(&scene, billed.id).await;
    assert_eq!(boleto_of(&billed), scene.due_in(80));
}

/// An extension's id is reserved before the decision, so that the last one may have the lowest id.
pub async fn a_new_boleto_keeps_the_latest_due_date_whatever_the_extensions_ids(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let operation = billed(&scene).await.id;
    let (lower, higher) = (scene.new_extension_id(), scene.new_extension_id());
    for (id, days) in [(higher, 70), (lower, 80)] {
        let create = extension(&scene, id, days);
        let conclude = Command::ConcludeExtension { id };
        scene.play(operation, &[create, conclude]).await;
    }
    let billed = billed_again(&scene, operation).await;
    assert_eq!(boleto_of(&billed), scene.due_in(80));
}

/// An operation whose boleto was issued.
async fn billed(scene: &Scene<'_>) -> Operation {
    let id = begin(scene, false).await;
    let release = Command::Release {
        net_amount: cents(1_000),
    };
    let paid = [Command::Request, Command::Approve, release, Command::Pay];
    scene.play(id, &paid).await;
    scene.play(id, &[Command::Bill]).await
}

/// Its payout is returned, and a new boleto issued.
async fn billed_again(scene: &Scene<'_>, id: OperationId) -> Operation {
    let again = [Command::ReturnPayout, Command::Pay, Command::Bill];
    scene.play(id, &again).await
}

fn extension(scene: &Scene<'_>, id: ExtensionId, days: u64) -> Command {
    Command::CreateExtension {
        id,
        new_due_date: scene.due_in(days),
        total_amount: cents(1),
    }
}

fn boleto_of(operation: &Operation) -> DueDate {
    match &operation.state {
        State::ToReceive {
            boleto_due_date, ..
        } => *boleto_due_date,
        other => panic!("{other:?}"),
    }
}

async fn begin(scene: &Scene<'_>, is_direct: bool) -> OperationId {
    if !is_direct {
        return scene.begin(&scene.offer()).await.id;
    }
    let advance = scene.advance(scene.payer, None);
    let began = scene
        .service
        .advance_directly(&advance, Actor::Supplier, None, scene.now);
    created(began.await.unwrap()).id
}
