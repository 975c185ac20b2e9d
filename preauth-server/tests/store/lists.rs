//! Lists of operations from both ends, and the numbers of extensions.

use std::sync::Arc;

use preauth_core::operation::{Actor, Command, ExtensionStatus, Operation};
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{CompanyId, DueDate, ExtensionId, Status};

use crate::store::fixture::{FIRST_PAGE, Fixture, cents};

#[tokio::test]
async fn every_page_of_a_long_list_shows_its_own_operations() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut ids = Vec::new();
    for _ in 0..23 {
        ids.push(fixture.offer(payer).await.id);
    }
    ids.reverse();
    // Repeated statuses count once.
    let filter = Filter {
        external_reference: None,
        statuses: vec![Status::InPreAuth; 200],
    };
    for viewer in [
        Viewer::HeadOffice(payer),
        Viewer::Branch(payer),
        Viewer::Platform,
    ] {
        let mut seen = Vec::new();
        for page in 1..=6 {
            let request = PageRequest { page, limit: 5 };
            let listed = fixture.stores.queries.list(viewer, &filter, request).await;
            let listed = listed.unwrap();
            assert_eq!(listed.total, 23);
            seen.extend(listed.operations.iter().map(|operation| operation.id));
        }
        assert_eq!(seen, ids);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn totals_are_exact_under_concurrent_changes() {
    let fixture = Arc::new(Fixture::new().await);
    let head_office = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(head_office)).await;
    let lives: Vec<_> = (0..60)
        .map(|n| {
            let payer = if n % 4 == 0 { branch } else { head_office };
            tokio::spawn(life(Arc::clone(&fixture), payer, n % 3 > 0))
        })
        .collect();
    let mut there = Vec::new();
    for life in lives {
        there.push(life.await.unwrap());
    }
    for viewer in [
        Viewer::HeadOffice(head_office),
        Viewer::Branch(branch),
        Viewer::Platform,
    ] {
        for statuses in [
            vec![],
            vec![Status::InPreAuth],
            vec![Status::ToApprove, Status::Reproved],
            vec![Status::Concluded],
        ] {
            let passes = |operation: &&Operation| {
                viewer.sees(operation)
                    && (statuses.is_empty() || statuses.contains(&operation.status()))
            };
            let expected = u64::try_from(there.iter().filter(passes).count()).unwrap();
            let filter = Filter {
                external_reference: None,
                statuses: statuses.clone(),
            };
            let listed = fixture.stores.queries.list(viewer, &filter, FIRST_PAGE);
            let total = listed.await.unwrap().total;
            assert_eq!(total, expected, "{viewer:?} {statuses:?}");
        }
    }
}

/// An operation in its final state: offered and, if it `goes_on`, requested or withdrawn, whichever
/// is first.
async fn life(fixture: Arc<Fixture>, payer: CompanyId, goes_on: bool) -> Operation {
    let id = fixture.offer(payer).await.id;
    if goes_on {
        let step = |command: Command| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                let (now, service) = (fixture.now, &fixture.service);
                service
                    .command(Viewer::Platform, id, &command, Actor::Platform, now)
                    .await
                    .is_ok()
            })
        };
        let steps = [
            step(Command::Request),
            step(Command::Withdraw { reason: None }),
        ];
        let mut done = 0;
        for step in steps {
            done += usize::from(step.await.unwrap());
        }
        assert_eq!(done, 1, "one of two wins");
    }
    let found = fixture.stores.queries.find(Viewer::Platform, id).await;
    found.unwrap().unwrap()
}

#[tokio::test]
async fn an_extension_leads_to_its_operation() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let operation = fixture.offer(payer).await.id;
    let first = directory.reserve_extension().await.unwrap();
    let second = directory.reserve_extension().await.unwrap();
    assert!(second > first);
    let mut commands = vec![
        Command::Request,
        Command::Approve,
        Command::Release {
            net_amount: cents(1_000_000),
        },
        Command::Pay,
        Command::Bill,
    ];
    commands.push(Command::CreateExtension {
        id: second,
        new_due_date: DueDate::parse("2027-03-01").unwrap(),
        total_amount: cents(1_300_000),
    });
    for command in &commands {
        let done = fixture.service.command(
            Viewer::Platform,
            operation,
            command,
            Actor::Platform,
            fixture.now,
        );
        done.await.unwrap();
    }
    let found = directory.extension(second).await.unwrap().unwrap();
    assert_eq!(found.operation, operation);
    assert_eq!(found.record.extension.id, second);
    assert_eq!(found.record.status, ExtensionStatus::Open);
    let listed = directory.extensions(operation, FIRST_PAGE).await.unwrap();
    assert_eq!((listed.items, listed.total), (vec![found], 1));
    assert_eq!(directory.extension(first).await.unwrap(), None);
    fixture.stores.lifecycle.close().await;
    let again = Fixture::on(&fixture.database, 2).await;
    let next = again.directory().reserve_extension().await.unwrap();
    assert_eq!(Some(next), ExtensionId::new(second.get() + 1));
}
