//! The input of a decision: payer, supplier, credit, block list and endpoints.

use crate::conformance::scene::{Scene, cents, target_of};
use crate::conformance::{Host, draft};

use crate::operation::{Actor, Credit, KnownSupplier, Offer, Rejection};
use crate::port::{CommitError, LoadedOffer, Subscription, Viewer};
use crate::service::ServiceError;
use crate::value::{CompanyKind, EventType, EventTypeSet};

/// A payer that is not registered has no operations.
pub async fn a_payer_must_be_registered(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut offer = scene.offer();
    offer.payer = scene.new_company_id();
    let loaded = host.store().load_offer(&target_of(&offer)).await;
    assert_eq!(loaded.unwrap(), None);
}

/// Decisions on a branch use its head office's credit, block list and group.
pub async fn a_branch_is_read_with_its_head_office(host: &dyn Host) {
    let scene = Scene::new(host).await;
    host.block_supplier(scene.payer, scene.supplier.cnpj).await;
    let mut offer = scene.offer();
    offer.payer = scene.branch;
    let context = load(&scene, &offer).await.context;
    assert_eq!(context.payer.company, scene.branch);
    assert_eq!(context.payer.head_office, scene.payer);
    assert!(context.credit.is_some());
    assert!(context.supplier_is_blocked);
}

/// A supplier's branch is read with its own id and its head office.
pub async fn a_suppliers_branch_is_read_with_its_head_office(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.new_company_id();
    let branch = scene.company(id, Some(scene.supplier.id), CompanyKind::Supplier);
    host.add_company(branch.clone()).await;
    let endpoint = scene.endpoint(scene.supplier.id).await;
    let mut offer = scene.offer();
    offer.supplier.cnpj = branch.cnpj;
    let loaded = load(&scene, &offer).await;
    let KnownSupplier::Registered(supplier) = loaded.context.supplier else {
        panic!("it is not registered");
    };
    assert_eq!(supplier.company, branch.id);
    assert_eq!(supplier.head_office, scene.supplier.id);
    assert_eq!(supplier.name, branch.name);
    assert_eq!(endpoints(&loaded.subscriptions), [endpoint]);
}

/// If the supplier was invited in the meantime, the later commit writes nothing, and the next load finds
/// the supplier.
pub async fn a_supplier_is_never_invited_twice(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let first = scene.offer_to_a_new_supplier(scene.new_cnpj());
    let mut second = scene.offer();
    second.supplier = first.supplier.clone();
    second.supplier.email = scene.new_email();
    let loaded = load(&scene, &second).await;
    let late = draft::opening(&scene, &second, &loaded, None, scene.now);
    let invited = scene.begin(&first).await.supplier;
    let late_id = draft::id_of(&late);
    let refused = host.store().commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let found = host.queries().find(Viewer::Platform, late_id).await;
    assert_eq!(found.unwrap(), None);
    assert!(host.mails_to(&second.supplier.email).await.is_empty());
    let context = load(&scene, &second).await.context;
    assert_eq!(
        (context.supplier, context.holder),
        (KnownSupplier::Invited(invited), None)
    );
    scene.begin(&second).await;
}

/// A company may block a supplier that is not registered; other companies are not affected.
pub async fn a_block_list_counts_for_its_company_alone(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let unregistered = scene.offer_to_a_new_supplier(scene.new_cnpj());
    let other_payer = scene.another_payer().await;
    for offer in [scene.offer(), unregistered] {
        host.block_supplier(scene.payer, offer.supplier.cnpj).await;
        assert!(load(&scene, &offer).await.context.supplier_is_blocked);
        let refused = scene
            .service
            .offer(&offer, Actor::Company, None, scene.now)
            .await;
        let Err(ServiceError::Rejected(Rejection::SupplierBlocked)) = refused else {
            panic!("{refused:?}");
        };
        let mut elsewhere = offer.clone();
        elsewhere.payer = other_payer;
        assert!(!load(&scene, &elsewhere).await.context.supplier_is_blocked);
        scene.begin(&elsewhere).await;
    }
}

/// An entry of the block list with any tax id of a legal entity covers the whole legal entity.
pub async fn a_blocked_supplier_is_blocked_with_all_its_branches(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (supplier, payer) = (scene.supplier.cnpj, scene.payer);
    let branch = scene.unregistered_branch_of(supplier);
    let (by_branch, elsewhere) = (scene.new_cnpj(), scene.offer());
    host.block_supplier(payer, supplier).await;
    host.block_supplier(payer, scene.unregistered_branch_of(by_branch))
        .await;
    for cnpj in [supplier, branch, by_branch] {
        let offer = scene.offer_to_a_new_supplier(cnpj);
        assert!(load(&scene, &offer).await.context.supplier_is_blocked);
        let refused = scene
            .service
            .offer(&offer, Actor::Company, None, scene.now)
            .await;
        let Err(ServiceError::Rejected(Rejection::SupplierBlocked)) = refused else {
            panic!("{refused:?}");
        };
    }
    let neighbour = scene.offer_to_a_new_supplier(scene.new_cnpj());
    assert!(!load(&scene, &neighbour).await.context.supplier_is_blocked);
    let mut elsewhere = elsewhere;
    elsewhere.payer = scene.another_payer().await;
    assert!(!load(&scene, &elsewhere).await.context.supplier_is_blocked);
}

/// The newest credit analysis counts; a company may have none.
pub async fn the_newest_credit_analysis_counts(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let credit = Credit {
        max_term_days: 60,
        max_invoice_amount: cents(1_250_001),
    };
    host.set_credit(scene.payer, credit).await;
    let mut offer = scene.offer();
    assert_eq!(load(&scene, &offer).await.context.credit, Some(credit));
    scene.begin(&offer).await;
    offer.payer = scene.supplier.id;
    assert_eq!(load(&scene, &offer).await.context.credit, None);
}

/// Neither the company itself nor one of its branches can be its supplier.
pub async fn a_company_cannot_be_its_own_supplier(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.new_company_id();
    let branch = scene.company(id, Some(scene.payer), CompanyKind::Construction);
    host.add_company(branch.clone()).await;
    let mut offer = scene.offer();
    offer.supplier.cnpj = branch.cnpj;
    let refused = scene
        .service
        .offer(&offer, Actor::Company, None, scene.now)
        .await;
    let Err(ServiceError::Rejected(Rejection::SupplierIsSelf)) = refused else {
        panic!("{refused:?}");
    };
}

/// Nor can a branch of any legal entity of the company's group, registered or not.
pub async fn a_branch_that_nobody_registered_is_the_company_itself(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.new_company_id();
    // A branch in the group with a legal entity of its own.
    let subsidiary = scene.company(id, Some(scene.payer), CompanyKind::Construction);
    host.add_company(subsidiary.clone()).await;
    let mut offer = scene.offer();
    let head_office = load(&scene, &offer).await.context.payer.cnpj;
    for of in [head_office, subsidiary.cnpj] {
        let branch = scene.unregistered_branch_of(of);
        for payer in [scene.payer, scene.branch, subsidiary.id] {
            offer = scene.offer_to_a_new_supplier(branch);
            offer.payer = payer;
            let mut advance = scene.advance(payer, None);
            advance.supplier = branch;
            let service = &scene.service;
            let offered = service.offer(&offer, Actor::Company, None, scene.now);
            let advanced = service.advance_directly(&advance, Actor::Supplier, None, scene.now);
            for refused in [offered.await, advanced.await] {
                let Err(ServiceError::Rejected(Rejection::SupplierIsSelf)) = refused else {
                    panic!("{refused:?}");
                };
            }
        }
        offer.payer = scene.another_payer().await;
        scene.begin(&offer).await;
    }
}

/// The endpoints of both head offices are read with their chosen events, including paused ones;
/// deleted endpoints and those of other companies are not.
// Contract: delivery/both-parties
pub async fn the_endpoints_of_both_head_offices_are_read(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let chosen: EventTypeSet = [
        EventType::PreAuthorizationCreated,
        EventType::AnticipationConcluded,
    ]
    .into_iter()
    .collect();
    let mut offer = scene.offer();
    assert!(load(&scene, &offer).await.subscriptions.is_empty());
    let other_payer = scene.another_payer().await;
    scene.endpoint(other_payer).await;
    let payers = scene.endpoint_for(scene.payer, chosen).await;
    let suppliers = scene.endpoint(scene.supplier.id).await;
    host.pause_endpoint(suppliers).await;
    offer.payer = scene.branch;
    let mut found = load(&scene, &offer).await.subscriptions;
    found.sort_by_key(|subscription| subscription.endpoint);
    let expected = |endpoint, head_office, events| Subscription {
        endpoint,
        head_office,
        events,
    };
    let mut all = vec![
        expected(payers, scene.payer, chosen),
        expected(suppliers, scene.supplier.id, EventTypeSet::all()),
    ];
    all.sort_by_key(|subscription| subscription.endpoint);
    assert_eq!(found, all);
    let operation = scene.begin(&scene.offer()).await;
    let loaded = host.store().load_operation(operation.id).await;
    assert_eq!(loaded.unwrap().unwrap().subscriptions.len(), 2);
    host.delete_endpoint(suppliers).await;
    assert_eq!(
        endpoints(&load(&scene, &offer).await.subscriptions),
        [payers]
    );
}

async fn load(scene: &Scene<'_>, offer: &Offer) -> LoadedOffer {
    let loaded = scene.host.store().load_offer(&target_of(offer)).await;
    loaded.unwrap().unwrap()
}

fn endpoints(subscriptions: &[Subscription]) -> Vec<crate::value::EndpointId> {
    subscriptions.iter().map(|it| it.endpoint).collect()
}
