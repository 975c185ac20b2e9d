//! Lists of operations from both ends, and the numbers of extensions.

use std::sync::Arc;

use futures_util::future::join_all;
use preauth_core::operation::{Actor, Command, ExtensionStatus, Operation};
use preauth_core::port::{Filter, PageRequest, Viewer};
use preauth_core::value::{Cnpj, CompanyId, DueDate, ExtensionId, OperationId, Status};
use preauth_server::directory::{AuditFilter, MailFilter, NEWEST, OperationFilter};

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

/// Those that wait together are read by one statement.
#[tokio::test]
async fn each_of_many_who_get_at_once_has_the_operation_that_was_asked_for() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut asked = Vec::new();
    for n in 0..60 {
        let id = fixture.offer(payer).await.id;
        asked.extend([Some(id), (n % 3 == 0).then_some(id), None]);
    }
    let unknown = OperationId::new(i64::MAX).unwrap();
    let queries = &fixture.stores.queries;
    let found = join_all(asked.iter().map(async |id| {
        let found = queries.find(Viewer::HeadOffice(payer), id.unwrap_or(unknown));
        found.await.unwrap().map(|operation| operation.id)
    }));
    assert_eq!(found.await, asked);
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

#[tokio::test]
async fn a_list_is_cut_only_if_an_older_entry_matches() {
    let fixture = Fixture::new().await;
    let is_sqlite = fixture.database.url().starts_with("sqlite");
    let id = if is_sqlite {
        "randomblob(16)"
    } else {
        "gen_random_uuid()"
    };
    for (rows, is_cut) in [(NEWEST, false), (1, true)] {
        let sql = format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
             INSERT INTO audit_log (request_id, at, operator_name, role, address, action, outcome, record)
             SELECT {id}, n, 'root', 'ADMIN', '127.0.0.1', 'payOperation', 'DONE', 'operations/1'
             FROM numbers"
        );
        let filled = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&fixture.sql);
        filled.await.unwrap();
        for action in [None, Some("payOperation".to_owned())] {
            let filter = AuditFilter {
                action,
                ..AuditFilter::default()
            };
            let listed = fixture.directory().audit_log(filter, FIRST_PAGE).await;
            let listed = listed.unwrap();
            assert_eq!((listed.total, listed.is_cut), (u64::from(NEWEST), is_cut));
        }
    }
    // One head office's own list is whole.
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let mails = fixture.directory();
    let mails = mails.mails(Some(payer), MailFilter::default(), FIRST_PAGE);
    let mails = mails.await.unwrap();
    assert_eq!((mails.total, mails.is_cut), (1, false));
}

#[tokio::test]
async fn a_search_by_tax_id_is_cut_only_if_an_older_operation_of_either_side_matches() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let paid = fixture.offer(payer).await;
    let other = fixture.payer().await;
    let supplied = fixture.offer(other).await;
    let (cnpj, its_supplier) = (paid.payer.cnpj, paid.supplier.cnpj);
    let half = NEWEST / 2;
    // One that it pays is there already.
    copy(&fixture, paid.id, its_supplier, 5_000_000, half - 1).await;
    for (after, rows, is_cut) in [(6_000_000, half, false), (7_000_000, 1, true)] {
        copy(&fixture, supplied.id, cnpj, after, rows).await;
        for page in [1, 100] {
            let filter = OperationFilter {
                cnpj: Some(cnpj),
                ..OperationFilter::default()
            };
            let page = PageRequest { page, limit: 100 };
            let listed = fixture.directory().search_operations(&filter, page).await;
            let listed = listed.unwrap();
            assert_eq!((listed.total, listed.is_cut), (u64::from(NEWEST), is_cut));
            assert_eq!(listed.items.len(), 100);
        }
    }
}

/// So many copies of an operation, of this supplier and with the ids after this one.
async fn copy(fixture: &Fixture, of: OperationId, supplier: Cnpj, after: u32, rows: u32) {
    let (of, supplier) = (of.get(), supplier.as_str());
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
         INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
             status, amount_cents, withheld_tax_cents, due_date, expires_at, created_at)
         SELECT {after} + n, head_office_id, payer_id,
             (SELECT c.id FROM companies c WHERE c.cnpj = '{supplier}'), '{supplier}', version, origin,
             status, amount_cents, withheld_tax_cents, due_date, expires_at, created_at
         FROM operations CROSS JOIN numbers WHERE id = {of}"
    );
    let copied = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&fixture.sql);
    copied.await.unwrap();
}
