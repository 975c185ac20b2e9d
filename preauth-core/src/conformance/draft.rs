//! Commits built by hand, for cases that the service never produces.

use crate::Policy;
use crate::operation::{Actor, Change, KnownSupplier, Offer, Operation, decide_offer, evolve};
use crate::port::{
    Commit, EventRecord, ExtensionRecord, LoadedOffer, LoadedOperation, MailKind, NewDelivery,
    NewMail, NewReply, NewSupplier, ReplyScope, Subscription, Write,
};
use crate::value::{
    CompanyName, DeliveryId, EventId, EventType, IdempotencyKey, MailId, OperationId, Timestamp,
};

use super::scene::Scene;

/// The commit that the service would build for `offer`, with a delivery for every subscription.
pub(super) fn opening(
    scene: &Scene<'_>,
    offer: &Offer,
    loaded: &LoadedOffer,
    key: Option<&IdempotencyKey>,
    at: Timestamp,
) -> Commit {
    let new_supplier = scene.new_company_id();
    let policy = Policy::default();
    let operation = decide_offer(offer, &loaded.context, new_supplier, &policy, at).unwrap();
    let id = operation.id;
    let write = Write::NewOperation(Box::new(operation));
    let mut commit = bare(scene, write, EventType::PreAuthorizationCreated, at);
    commit.deliveries = deliveries(scene, &loaded.subscriptions);
    commit.file.clone_from(&offer.file);
    commit.mail = Some(NewMail {
        id: MailId::new(scene.uuid()),
        kind: MailKind::Offer,
        recipient: offer.supplier.email.clone(),
        content: format!("mail of {id}"),
        held_until: None,
    });
    let invited = match loaded.context.supplier {
        KnownSupplier::Unknown => Some((new_supplier, true)),
        KnownSupplier::InvitedByOthers(company) => Some((company, false)),
        KnownSupplier::Invited(_) | KnownSupplier::Registered(_) => None,
    };
    if let Some((id, is_first)) = invited {
        commit.supplier = Some(NewSupplier {
            id,
            is_first,
            cnpj: offer.supplier.cnpj,
            name: CompanyName::from(offer.supplier.name.as_ref().unwrap()),
            contact_name: offer.supplier.contact_name.clone().unwrap(),
            email: offer.supplier.email.clone(),
            phone: offer.supplier.phone.clone(),
        });
    }
    commit.reply = key.map(|key| NewReply {
        scope: ReplyScope::HeadOffice(loaded.context.payer.head_office),
        key: key.clone(),
        fingerprint: offer.fingerprints().compared(),
        body: format!("reply of {id}"),
        retention: policy.idempotency_retention,
    });
    commit
}

/// The commit of `change` on the operation as loaded, with a delivery for every subscription.
pub(super) fn change(
    scene: &Scene<'_>,
    loaded: &LoadedOperation,
    change: &Change,
    at: Timestamp,
) -> Commit {
    let write = Write::Operation {
        operation: Box::new(evolve(&loaded.operation, change)),
        extension: change
            .extension()
            .map(|(extension, status)| ExtensionRecord {
                extension: *extension,
                status,
            }),
    };
    let mut commit = bare(scene, write, change.event_type(), at);
    commit.deliveries = deliveries(scene, &loaded.subscriptions);
    commit
}

/// A commit with its event and nothing else.
pub(super) fn bare(
    scene: &Scene<'_>,
    write: Write,
    event_type: EventType,
    at: Timestamp,
) -> Commit {
    let id = EventId::new(scene.uuid());
    let event = EventRecord {
        id,
        event_type,
        at,
        actor: Actor::Platform,
        body: format!("body of {id}"),
    };
    Commit::new(write, event, Vec::new())
}

pub(super) fn deliveries(scene: &Scene<'_>, to: &[Subscription]) -> Vec<NewDelivery> {
    to.iter()
        .map(|subscription| NewDelivery {
            id: DeliveryId::new(scene.uuid()),
            endpoint: subscription.endpoint,
        })
        .collect()
}

/// The operation that a commit writes.
pub(super) fn operation_of(commit: &Commit) -> Operation {
    match &commit.write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => *operation.clone(),
        Write::NewOrder { .. }
        | Write::Order(_)
        | Write::NewInvoice(_)
        | Write::EventOnly { .. } => {
            panic!("the commit is of no operation")
        }
    }
}

/// The id of the operation that a commit writes.
pub(super) fn id_of(commit: &Commit) -> OperationId {
    operation_of(commit).id
}
