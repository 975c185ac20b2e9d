//! The read side: visibility, filters, pages.

use crate::conformance::Host;
use crate::conformance::scene::Scene;
use crate::operation::{Command, Operation};
use crate::port::{Filter, OperationPage, PageRequest, Viewer};
use crate::value::{ExternalReference, OperationId, Status};

/// A head office sees its group, a branch itself, the platform everything.
pub async fn everyone_sees_their_own_operations_only(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let other_payer = scene.another_payer().await;
    let of_head = scene.begin(&scene.offer()).await;
    let of_branch = scene
        .begin_directly(&scene.advance(scene.branch, None))
        .await;
    let mut foreign = scene.offer();
    foreign.payer = other_payer;
    let foreign = scene.begin(&foreign).await;
    let head = Viewer::HeadOffice(scene.payer);
    let branch = Viewer::Branch(scene.branch);
    let stranger = Viewer::HeadOffice(other_payer);
    // The supplier of an operation is not its payer.
    let supplier = Viewer::HeadOffice(scene.supplier.id);
    let seen = [
        (head, vec![&of_branch, &of_head]),
        (branch, vec![&of_branch]),
        (Viewer::Branch(scene.payer), vec![&of_head]),
        (stranger, vec![&foreign]),
        (supplier, vec![]),
    ];
    for (viewer, expected) in seen {
        let page = list(host, viewer, &Filter::default(), 1, 100).await;
        assert_eq!(
            page.operations.iter().collect::<Vec<_>>(),
            expected,
            "{viewer:?}"
        );
        for operation in [&of_head, &of_branch, &foreign] {
            let found = host.queries().find(viewer, operation.id).await.unwrap();
            assert_eq!(found.is_some(), expected.contains(&operation), "{viewer:?}");
        }
    }
    for operation in [of_head, of_branch, foreign] {
        let found = host.queries().find(Viewer::Platform, operation.id).await;
        assert_eq!(found.unwrap(), Some(operation));
    }
}

/// A reference is found by exact equality: case, spaces and wildcards have no special meaning.
// Contract: list-call/externalReference
pub async fn a_reference_is_found_by_exact_equality(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut ids = Vec::new();
    let references = ["po-7", "PO-7", " po-7", "po-7 ", "po_7", "po%", "pó-7"];
    for reference in references {
        let mut offer = scene.offer();
        offer.external_reference = Some(ExternalReference::parse(reference).unwrap());
        ids.push(scene.begin(&offer).await.id);
    }
    scene.begin(&scene.offer()).await;
    let viewer = Viewer::HeadOffice(scene.payer);
    for (reference, id) in references.into_iter().zip(ids) {
        let filter = Filter {
            external_reference: Some(ExternalReference::parse(reference).unwrap()),
            statuses: Vec::new(),
        };
        let page = list(host, viewer, &filter, 1, 100).await;
        assert_eq!((ids_of(&page), page.total), (vec![id], 1), "{reference:?}");
    }
}

/// Statuses are alternatives; together with a reference both must hold.
// Contract: list-call/status
pub async fn statuses_and_reference_filter_together(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let reference = Some(ExternalReference::parse("lote 1").unwrap());
    let mut offer = scene.offer();
    offer.external_reference.clone_from(&reference);
    let offered = scene.begin(&offer).await.id;
    let mut offer = scene.offer();
    offer.external_reference.clone_from(&reference);
    let requested = scene.begin(&offer).await.id;
    scene.play(requested, &[Command::Request]).await;
    let cancelled = scene.begin(&scene.offer()).await.id;
    scene.play(cancelled, &[Command::Cancel]).await;
    let direct = scene
        .begin_directly(&scene.advance(scene.payer, None))
        .await
        .id;
    let cases: [(Option<_>, &[Status], Vec<OperationId>); 6] = [
        (None, &[], vec![direct, cancelled, requested, offered]),
        (None, &[Status::Reproved], vec![cancelled]),
        (
            None,
            &[Status::ToApprove, Status::InVerification, Status::ToApprove],
            vec![direct, requested],
        ),
        (None, &[Status::Concluded], vec![]),
        (reference.clone(), &[], vec![requested, offered]),
        (
            reference,
            &[Status::InPreAuth, Status::Reproved],
            vec![offered],
        ),
    ];
    for (external_reference, statuses, expected) in cases {
        let filter = Filter {
            external_reference,
            statuses: statuses.to_vec(),
        };
        let page = list(host, Viewer::HeadOffice(scene.payer), &filter, 1, 100).await;
        assert_eq!(ids_of(&page), expected, "{filter:?}");
        assert_eq!(page.total, u64::try_from(expected.len()).unwrap());
    }
}

/// Pages follow each other without gap or overlap, newest first, each with the same total.
pub async fn pages_follow_each_other_newest_first(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut expected: Vec<Operation> = Vec::new();
    for _ in 0..7 {
        expected.push(scene.begin(&scene.offer()).await);
    }
    expected.sort_by_key(|operation| std::cmp::Reverse(operation.id));
    let viewer = Viewer::HeadOffice(scene.payer);
    for limit in [1, 3, 7, 100] {
        let mut found = Vec::new();
        for page in 1..=7 {
            let page = list(host, viewer, &Filter::default(), page, limit).await;
            assert_eq!(page.total, 7);
            found.extend(page.operations);
        }
        assert_eq!(found, expected, "limit {limit}");
    }
}

/// Any page beyond the last is empty and has the correct total.
pub async fn a_page_beyond_the_last_is_empty(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.begin(&scene.offer()).await;
    let viewer = Viewer::HeadOffice(scene.payer);
    let far = u64::try_from(i64::MAX).unwrap();
    for number in [2, far / 100, far, u64::MAX] {
        let page = list(host, viewer, &Filter::default(), number, 100).await;
        assert_eq!((page.operations.len(), page.total), (0, 1), "page {number}");
    }
    let stranger = Viewer::HeadOffice(scene.new_company_id());
    let page = list(host, stranger, &Filter::default(), 1, 20).await;
    assert_eq!((page.operations.len(), page.total), (0, 0));
}

async fn list(
    host: &dyn Host,
    viewer: Viewer,
    filter: &Filter,
    page: u64,
    limit: u32,
) -> OperationPage {
    let page = PageRequest { page, limit };
    host.queries().list(viewer, filter, page).await.unwrap()
}

fn ids_of(page: &OperationPage) -> Vec<OperationId> {
    page.operations
        .iter()
        .map(|operation| operation.id)
        .collect()
}
