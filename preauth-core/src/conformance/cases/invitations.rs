//! The names of suppliers: head offices invite them under a name, the platform registers them.

use crate::conformance::scene::{Scene, target_of};
use crate::conformance::{Host, draft};
use crate::memory::Company;
use crate::operation::{Actor, KnownSupplier, Offer, Operation, Rejection};
use crate::port::{CommitError, Filter, OrderTarget, PageRequest, Viewer};
use crate::service::ServiceError;
use crate::value::{CompanyId, CompanyKind, CompanyName, SupplierName};

/// Several head offices invite one supplier; each sees the name that it gave, and no other name.
pub async fn a_supplier_is_called_what_its_head_office_calls_it(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let other = scene.another_payer().await;
    let first = named(&scene, scene.payer, "Primeira Ltda");
    let ours = scene.begin(&first).await;
    let mut theirs = named(&scene, other, "Segunda S.A.");
    theirs.supplier.cnpj = first.supplier.cnpj;
    let known = known(&scene, &theirs).await;
    assert_eq!(known, KnownSupplier::InvitedByOthers(ours.supplier.company));
    let mut nameless = theirs.clone();
    nameless.supplier.contact_name = None;
    let refused = scene
        .service
        .offer(&nameless, Actor::Company, None, scene.now)
        .await;
    let Err(ServiceError::Rejected(Rejection::SupplierNameRequired)) = refused else {
        panic!("{refused:?}");
    };
    let theirs = scene.begin(&theirs).await;
    assert_eq!(theirs.supplier.company, ours.supplier.company);
    assert_shown(&scene, &ours, "Primeira Ltda").await;
    assert_shown(&scene, &theirs, "Segunda S.A.").await;
}

/// The head office that invited a supplier need not name it again, and cannot rename it.
pub async fn an_invited_supplier_keeps_its_name(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let first = named(&scene, scene.payer, "Primeira Ltda");
    let ours = scene.begin(&first).await;
    let mut again = named(&scene, scene.payer, "Outro Nome");
    again.supplier.cnpj = first.supplier.cnpj;
    let renamed = scene.begin(&again).await;
    assert_eq!(renamed.supplier, ours.supplier);
    let mut nameless = scene.offer();
    nameless.supplier.cnpj = first.supplier.cnpj;
    let nameless = scene.begin(&nameless).await;
    assert_eq!(nameless.supplier, ours.supplier);
}

/// Two invitations of one supplier by one head office: the second one writes nothing.
pub async fn a_head_office_invites_a_supplier_once(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let first = named(&scene, scene.payer, "Primeira Ltda");
    scene.begin(&first).await;
    let other = scene.another_payer().await;
    let mut offer = named(&scene, other, "Segunda S.A.");
    offer.supplier.cnpj = first.supplier.cnpj;
    let mut late = named(&scene, other, "Terceira S.A.");
    late.supplier.cnpj = first.supplier.cnpj;
    let loaded = host.store().load_offer(&target_of(&late)).await;
    let late = draft::opening(&scene, &late, &loaded.unwrap().unwrap(), None, scene.now);
    let theirs = scene.begin(&offer).await;
    let late_id = draft::id_of(&late);
    let refused = host.store().commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let found = host.queries().find(Viewer::Platform, late_id).await;
    assert_eq!(found.unwrap(), None);
    assert_shown(&scene, &theirs, "Segunda S.A.").await;
}

/// An invited supplier can neither advance an invoice directly nor be paid by an order.
pub async fn an_invited_supplier_is_not_registered(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let offer = named(&scene, scene.payer, "Primeira Ltda");
    scene.begin(&offer).await;
    let mut advance = scene.advance(scene.payer, Some("NF-D"));
    advance.supplier = offer.supplier.cnpj;
    let refused = scene
        .service
        .advance_directly(&advance, Actor::Supplier, None, scene.now)
        .await;
    let Err(ServiceError::Rejected(Rejection::SupplierNameRequired)) = refused else {
        panic!("{refused:?}");
    };
    let target = OrderTarget {
        payer: scene.payer,
        supplier: offer.supplier.cnpj,
        operation: None,
    };
    let loaded = host.store().load_new_order(&target).await;
    assert_eq!(loaded.unwrap(), None);
}

/// Once the platform registers an invited supplier, every head office sees the registered name, also in
/// earlier operations.
pub async fn a_registered_supplier_takes_over_its_offers(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let other = scene.another_payer().await;
    let first = named(&scene, scene.payer, "Primeira Ltda");
    let mut second = named(&scene, other, "Segunda S.A.");
    second.supplier.cnpj = first.supplier.cnpj;
    let ours = scene.begin(&first).await;
    let theirs = scene.begin(&second).await;
    let company = Company {
        id: ours.supplier.company,
        head_office: None,
        cnpj: first.supplier.cnpj,
        name: CompanyName::parse("Registrada Ltda").unwrap(),
        kind: CompanyKind::Supplier,
    };
    host.add_company(company).await;
    assert_shown(&scene, &ours, "Registrada Ltda").await;
    assert_shown(&scene, &theirs, "Registrada Ltda").await;
    second.payer = scene.another_payer().await;
    second.supplier.name = None;
    let KnownSupplier::Registered(known) = known(&scene, &second).await else {
        panic!("it is not registered");
    };
    assert_eq!(known.name.as_str(), "Registrada Ltda");
    let third = scene.begin(&second).await;
    assert_eq!(third.supplier, known);
    let mut advance = scene.advance(scene.payer, None);
    advance.supplier = first.supplier.cnpj;
    let direct = scene.begin_directly(&advance).await;
    assert_eq!(direct.supplier, known);
}

/// A corrected name is shown in every later read, also of earlier operations.
pub async fn a_corrected_name_is_shown_from_then_on(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let operation = scene.begin(&scene.offer()).await;
    let name = |name| CompanyName::parse(name).unwrap();
    let (payer, supplier) = (name("Construtora Corrigida"), name("Fornecedora Corrigida"));
    host.rename_company(scene.payer, payer.clone()).await;
    host.rename_company(scene.supplier.id, supplier.clone())
        .await;
    assert_shown(&scene, &operation, supplier.as_str()).await;
    assert_eq!(scene.stored(operation.id).await.payer.name, payer);
    let again = scene.begin(&scene.offer()).await;
    assert_eq!((again.payer.name, again.supplier.name), (payer, supplier));
}

/// An offer to a supplier with this name and an unused tax id.
fn named(scene: &Scene<'_>, payer: CompanyId, name: &str) -> Offer {
    let mut offer = scene.offer_to_a_new_supplier(scene.new_cnpj());
    offer.payer = payer;
    offer.supplier.name = Some(SupplierName::parse(name).unwrap());
    offer
}

async fn known(scene: &Scene<'_>, offer: &Offer) -> KnownSupplier {
    let loaded = scene.host.store().load_offer(&target_of(offer)).await;
    loaded.unwrap().unwrap().context.supplier
}

/// Asserts that every read of the operation shows this name of its supplier.
async fn assert_shown(scene: &Scene<'_>, operation: &Operation, name: &str) {
    let (host, head_office) = (scene.host, operation.payer.head_office);
    let mut shown = vec![scene.stored(operation.id).await];
    for viewer in [Viewer::HeadOffice(head_office), Viewer::Branch(head_office)] {
        let (filter, page) = (
            Filter::default(),
            PageRequest {
                page: 1,
                limit: 100,
            },
        );
        let listed = host.queries().list(viewer, &filter, page).await.unwrap();
        let listed = listed.operations.into_iter();
        shown.extend(listed.filter(|it| it.id == operation.id));
    }
    let loaded = host.store().load_operation(operation.id).await;
    shown.push(loaded.unwrap().unwrap().operation);
    let target = crate::port::OfferTarget {
        payer: head_office,
        supplier: operation.supplier.cnpj,
        invoice_number: operation.invoice.number.clone(),
        idempotency_key: None,
    };
    let held = host.store().load_offer(&target).await.unwrap().unwrap();
    shown.extend(held.context.holder);
    let names: Vec<_> = shown.iter().map(|it| it.supplier.name.as_str()).collect();
    assert_eq!(names, vec![name; 5]);
}
