//! One operation in progress per invoice of a supplier, within the payer's group.

use crate::conformance::scene::{Scene, target_of};
use crate::conformance::{Host, draft};
use crate::operation::{
    Action, Actor, Change, Closing, Command, Offer, Rejection, ReprovedBy, Resumed,
};
use crate::port::{CommitError, Viewer};
use crate::service::ServiceError;
use crate::value::{OperationId, Status};

/// The second commit for one invoice conflicts, and nothing of it is written.
pub async fn a_second_operation_for_one_invoice_writes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.endpoint(scene.payer).await;
    let store = host.store();
    let offer = scene.offer();
    let mut target = target_of(&offer);
    let key = scene.new_key();
    target.idempotency_key = Some(key.clone());
    let first = store.load_offer(&target).await.unwrap().unwrap();
    let second = store.load_offer(&target).await.unwrap().unwrap();
    let mut second_offer = offer.clone();
    second_offer.supplier.email = scene.new_email();
    let first = draft::opening(&scene, &offer, &first, None, scene.now);
    let late = draft::opening(&scene, &second_offer, &second, Some(&key), scene.now);
    let (held_by, event) = (draft::id_of(&first), late.event.id);
    store.commit(first).await.unwrap();
    let late_id = draft::id_of(&late);
    let refused = store.commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let found = host.queries().find(Viewer::Platform, late_id).await;
    assert_eq!(found.unwrap(), None);
    assert!(scene.history(late_id).await.is_empty());
    assert!(host.deliveries(event).await.is_empty());
    assert!(host.mails_to(&second_offer.supplier.email).await.is_empty());
    let reloaded = store.load_offer(&target).await.unwrap().unwrap();
    assert_eq!(reloaded.reply, None);
    assert_eq!(reloaded.context.holder.unwrap().id, held_by);
}

/// The refusal names the operation that holds the invoice.
// Contract: duplicate/id
pub async fn a_duplicate_names_the_operation_in_the_way(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let first = scene.begin(&scene.offer_of("NF-1")).await;
    assert_eq!(
        duplicate_of(&scene, &scene.offer_of("NF-1")).await,
        first.id
    );
    scene.play(first.id, &[Command::Request]).await;
    assert_eq!(
        duplicate_of(&scene, &scene.offer_of("NF-1")).await,
        first.id
    );
}

/// Head office and branches are one group, through whichever channel the operation was created.
// Contract: duplicate/group
pub async fn a_branch_holds_an_invoice_for_its_whole_group(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let advance = scene.advance(scene.branch, Some("NF-1"));
    let direct = scene.begin_directly(&advance).await;
    assert_eq!(
        duplicate_of(&scene, &scene.offer_of("NF-1")).await,
        direct.id
    );
    let offered = scene.begin(&scene.offer_of("NF-2")).await;
    let held = [
        (scene.payer, "NF-1", direct.id),
        (scene.branch, "NF-1", direct.id),
        (scene.branch, "NF-2", offered.id),
    ];
    for (payer, number, holder) in held {
        let again = scene.advance(payer, Some(number));
        let refused = scene
            .service
            .advance_directly(&again, Actor::Supplier, None, scene.now)
            .await;
        let Err(ServiceError::Rejected(Rejection::DuplicateInvoice { existing })) = refused else {
            panic!("{number} is held: {refused:?}");
        };
        assert_eq!(existing, holder);
    }
}

/// A number is the same invoice with composed and with decomposed accents; each operation shows it as it
/// was sent.
pub async fn a_number_is_compared_in_one_form_and_kept_as_sent(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (composed, decomposed) = ("NF-\u{e9}", "NF-e\u{301}");
    for (first, again) in [(composed, decomposed), (decomposed, composed)] {
        let holder = scene.begin(&scene.offer_of(first)).await;
        let number = scene.stored(holder.id).await.invoice.number.unwrap();
        assert_eq!(number.as_str(), first);
        assert_eq!(
            duplicate_of(&scene, &scene.offer_of(again)).await,
            holder.id
        );
        // A commit that was decided before the first one conflicts as well.
        let offer = scene.offer_of(again);
        let mut free = target_of(&offer);
        free.invoice_number = None;
        let loaded = host.store().load_offer(&free).await.unwrap().unwrap();
        let late = draft::opening(&scene, &offer, &loaded, None, scene.now);
        let refused = host.store().commit(late).await;
        assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
        scene.play(holder.id, &[Command::Cancel]).await;
    }
    let closed = scene.begin(&scene.offer_of(decomposed)).await.id;
    let reprove = Command::Reprove {
        by: ReprovedBy::Platform,
        reason: None,
    };
    scene.play(closed, &[Command::Request, reprove]).await;
    let holder = scene.begin(&scene.offer_of(composed)).await;
    let loaded = host.store().load_operation(closed).await.unwrap().unwrap();
    assert_eq!(loaded.holder, Some(holder));
}

/// Another group, another supplier, another spelling: other invoices.
pub async fn other_invoices_are_not_in_the_way(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = scene.offer_of("nf-a");
    scene.begin(&offer).await;
    scene.begin(&scene.offer_of("NF-A")).await;
    scene.begin(&scene.offer_of("nf-á")).await;
    let mut elsewhere = offer.clone();
    elsewhere.payer = scene.another_payer().await;
    scene.begin(&elsewhere).await;
    let mut to_another = scene.offer_to_a_new_supplier(scene.new_cnpj());
    to_another.invoice = offer.invoice;
    scene.begin(&to_another).await;
}

/// Direct advances without an invoice number are never duplicates of each other.
pub async fn invoices_without_a_number_never_collide(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let advance = scene.advance(scene.payer, None);
    let first = scene.begin_directly(&advance).await;
    let second = scene.begin_directly(&advance).await;
    assert_ne!(first.id, second.id);
    let loaded = host.store().load_operation(first.id).await;
    assert_eq!(loaded.unwrap().unwrap().holder, None);
}

/// Declined, cancelled, withdrawn, reproved or concluded: the invoice may be offered again.
// Contract: transition/free-again
pub async fn a_closed_operation_frees_its_invoice(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let reprove = Command::Reprove {
        by: ReprovedBy::Company,
        reason: None,
    };
    let endings: [Vec<Command>; 5] = [
        vec![Command::Decline { reason: None }],
        vec![Command::Cancel],
        vec![Command::Withdraw { reason: None }],
        vec![Command::Request, reprove],
        to_the_end(),
    ];
    for ending in endings {
        let operation = scene.begin(&scene.offer_of("NF-1")).await;
        scene.play(operation.id, &ending).await;
    }
    scene.begin(&scene.offer_of("NF-1")).await;
}

/// Reopening takes the invoice back, and is refused while another operation holds it.
pub async fn reopening_needs_the_invoice_to_be_free(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let reproved = scene.begin(&scene.offer_of("NF-1")).await.id;
    let reprove = Command::Reprove {
        by: ReprovedBy::Platform,
        reason: None,
    };
    scene.play(reproved, &[Command::Request, reprove]).await;
    let before = host
        .store()
        .load_operation(reproved)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(before.holder, None);
    let holder = scene.begin(&scene.offer_of("NF-1")).await;
    let loaded = host
        .store()
        .load_operation(reproved)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(loaded.holder.as_ref(), Some(&holder));
    let reopen = draft::change(
        &scene,
        &loaded,
        &Change::Reopened(Resumed::Approval),
        scene.now,
    );
    let refused = host.store().commit(reopen).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(scene.stored(reproved).await, loaded.operation);
    scene.play(holder.id, &[Command::Cancel]).await;
    let reopened = scene.play(reproved, &[Command::Reopen]).await;
    assert_eq!(reopened.status(), Status::ToApprove);
    assert_eq!(
        duplicate_of(&scene, &scene.offer_of("NF-1")).await,
        reproved
    );
}

/// Closing an operation that does not hold its invoice does not release the invoice.
pub async fn a_closed_operation_does_not_free_what_another_holds(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let first = scene.begin(&scene.offer_of("NF-1")).await;
    let loaded = host
        .store()
        .load_operation(first.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(loaded.holder, None, "an operation is not in its own way");
    let closing = Closing {
        action: Action::Cancel,
        given_reason: None,
    };
    let cancel = draft::change(&scene, &loaded, &Change::Closed(closing), scene.now);
    host.store().commit(cancel.clone()).await.unwrap();
    let second = scene.begin(&scene.offer_of("NF-1")).await;
    let refused = host.store().commit(cancel).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(
        duplicate_of(&scene, &scene.offer_of("NF-1")).await,
        second.id
    );
}

async fn duplicate_of(scene: &Scene<'_>, offer: &Offer) -> OperationId {
    let refused = scene
        .service
        .offer(offer, Actor::Company, None, scene.now)
        .await;
    match refused {
        Err(ServiceError::Rejected(Rejection::DuplicateInvoice { existing })) => existing,
        other => panic!("not refused as a duplicate: {other:?}"),
    }
}

fn to_the_end() -> Vec<Command> {
    let net_amount = crate::conformance::scene::cents(1_000_000);
    vec![
        Command::Request,
        Command::Approve,
        Command::Release { net_amount },
        Command::Pay,
        Command::Bill,
        Command::Conclude,
    ]
}
