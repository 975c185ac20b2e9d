//! New operations: the records of an offer or a direct advance.

use crate::conformance::scene::{Scene, cents, created, target_of};
use crate::conformance::{Host, draft};
use crate::operation::{Actor, InvoiceAmounts, InvoiceFile, KnownSupplier, Rejection};
use crate::port::{CommitError, MailKind, Viewer};
use crate::service::ServiceError;
use crate::value::{
    CompanyName, ContactName, EventType, ExternalReference, InvoiceNumber, Origin, Phone, Status,
    SupplierName, Version,
};

/// Every field of an offer is stored, including unusual texts.
pub async fn an_offer_is_kept_as_it_was_made(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer_of("nº 'Ç'; -- \\ 漢🙂");
    offer.external_reference = Some(ExternalReference::parse("  PO \"7\" %_ ção  ").unwrap());
    let (gross, withheld) = (cents(InvoiceAmounts::MAX_CENTS), cents(999_950_000));
    offer.invoice.amounts = InvoiceAmounts::from_cents(gross, withheld).unwrap();
    offer.invoice.due_date = scene.due_in(180);
    let operation = scene.begin(&offer).await;
    assert_eq!(scene.stored(operation.id).await, operation);
    assert_eq!(operation.version, Version::INITIAL);
    assert_eq!(operation.status(), Status::InPreAuth);
    assert_eq!(operation.origin, Origin::PreAuth);
    assert_eq!(operation.payer.company, scene.payer);
    assert_eq!(operation.supplier.name, scene.supplier.name);
    assert_eq!(operation.invoice, offer.invoice);
    assert_eq!(operation.external_reference, offer.external_reference);
    let history = scene.history(operation.id).await;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].event_type, EventType::PreAuthorizationCreated);
    assert_eq!(history[0].version, Version::INITIAL);
    assert_eq!(history[0].at, scene.now);
    assert!(history[0].body.contains(&history[0].id.to_string()));
}

/// The offer, the supplier and its mail are one commit.
// Contract: service/parties
pub async fn an_offer_to_a_new_supplier_invites_it(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer_to_a_new_supplier(scene.new_cnpj());
    offer.supplier.name = Some(SupplierName::parse("Ação & Irmãos 'Ltda'").unwrap());
    offer.supplier.contact_name = Some(ContactName::parse("Zé").unwrap());
    offer.supplier.phone = Some(Phone::parse("+55 11 5555-0100").unwrap());
    let before = host.store().load_offer(&target_of(&offer)).await;
    assert_eq!(
        before.unwrap().unwrap().context.supplier,
        KnownSupplier::Unknown
    );
    let operation = scene.begin(&offer).await;
    let after = host.store().load_offer(&target_of(&offer)).await;
    let KnownSupplier::Invited(invited) = after.unwrap().unwrap().context.supplier else {
        panic!("it is not invited");
    };
    assert_eq!(invited, operation.supplier);
    assert_eq!(invited.head_office, invited.company);
    let name = CompanyName::from(offer.supplier.name.as_ref().unwrap());
    assert_eq!(invited.name, name);
    let mails = host.mails_to(&offer.supplier.email).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].0, MailKind::Invitation);
    assert!(mails[0].1.starts_with(&operation.id.to_string()));
}

/// Data that an offer contains about a registered supplier do not change it; it is notified by mail.
// Contract: service/parties
pub async fn a_registered_supplier_keeps_its_name_and_is_notified(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer();
    offer.supplier.name = Some(SupplierName::parse("Outro Nome").unwrap());
    offer.supplier.contact_name = Some(ContactName::parse("Outro Contato").unwrap());
    let operation = scene.begin(&offer).await;
    assert_eq!(operation.supplier.company, scene.supplier.id);
    assert_eq!(operation.supplier.name, scene.supplier.name);
    let mails = host.mails_to(&offer.supplier.email).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].0, MailKind::Offer);
}

/// The description of the invoice file is part of the commit.
pub async fn the_file_of_an_offer_is_described(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer();
    offer.file = Some(InvoiceFile {
        name: "nota fiscal (cópia) 🙂.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        size: 10_485_760,
        sha256: [0xA5; 32],
    });
    let operation = scene.begin(&offer).await;
    assert_eq!(host.invoice_file(operation.id).await, offer.file);
    let without = scene.begin(&scene.offer()).await;
    assert_eq!(host.invoice_file(without.id).await, None);
}

/// A direct advance begins in verification, never expires, and mails nobody.
pub async fn a_direct_advance_is_kept_as_it_was_made(host: &dyn Host) {
    let scene = Scene::new(host).await;
    for number in [Some("NF-D"), None] {
        let advance = scene.advance(scene.branch, number);
        let operation = scene.begin_directly(&advance).await;
        assert_eq!(scene.stored(operation.id).await, operation);
        assert_eq!(operation.status(), Status::InVerification);
        assert_eq!(operation.origin, Origin::Direct);
        assert_eq!(operation.expires_at, None);
        assert_eq!(operation.payer.company, scene.branch);
        assert_eq!(operation.payer.head_office, scene.payer);
        assert_eq!(
            operation.invoice.number,
            number.map(|number| InvoiceNumber::parse(number).unwrap())
        );
        let history = scene.history(operation.id).await;
        assert_eq!(history[0].event_type, EventType::AnticipationCreated);
    }
}

/// Two operations with the same id: the second conflicts, although no other rule refuses it.
pub async fn an_operation_begins_once_under_its_id(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (store, mut offer) = (host.store(), scene.offer());
    offer.invoice.number = None;
    let loaded = store.load_offer(&target_of(&offer)).await.unwrap().unwrap();
    let first = draft::opening(&scene, &offer, &loaded, None, scene.now);
    let second = draft::opening(&scene, &offer, &loaded, None, scene.now);
    let (began, lost) = (first.event.id, second.event.id);
    store.commit(first).await.unwrap();
    let refused = store.commit(second).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert!(store.has_event(began).await.unwrap());
    assert!(!store.has_event(lost).await.unwrap());
}

/// An id that was reserved for a decision is never assigned again, used or not.
pub async fn reserved_ids_are_never_given_twice(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = scene.offer();
    let mut ids = Vec::new();
    for _ in 0..20 {
        let loaded = host.store().load_offer(&target_of(&offer)).await;
        ids.push(loaded.unwrap().unwrap().context.id);
    }
    ids.push(scene.begin(&offer).await.id);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 21);
}

/// A refused offer writes nothing: no operation, no invitation, no mail.
pub async fn a_refused_offer_writes_nothing(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer_to_a_new_supplier(scene.new_cnpj());
    offer.invoice.due_date = scene.due_in(4);
    let refused = scene
        .service
        .offer(&offer, Actor::Company, Some(&scene.new_key()), scene.now)
        .await;
    let Err(ServiceError::Rejected(Rejection::DueDateTooNear)) = refused else {
        panic!("{refused:?}");
    };
    let loaded = host.store().load_offer(&target_of(&offer)).await;
    let context = loaded.unwrap().unwrap().context;
    assert_eq!(
        (context.supplier, context.holder),
        (KnownSupplier::Unknown, None)
    );
    assert!(host.mails_to(&offer.supplier.email).await.is_empty());
    let found = host.queries().find(Viewer::Platform, context.id).await;
    assert_eq!(found.unwrap(), None);
    offer.invoice.due_date = scene.due_in(5);
    let offered = scene
        .service
        .offer(&offer, Actor::Company, Some(&scene.new_key()), scene.now)
        .await;
    created(offered.unwrap());
}
