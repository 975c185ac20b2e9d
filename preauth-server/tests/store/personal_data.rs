//! Erasures that are interrupted, and continued by anybody.

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::Viewer;
use preauth_core::value::{OperationId, OperatorName, Timestamp};
use preauth_server::directory::{Company, DirectoryError, Erasure};

use crate::store::fixture::Fixture;

async fn supplier_with(fixture: &Fixture, offers: usize) -> Company {
    let payer = fixture.payer().await;
    let first = fixture.new_offer(payer);
    for _ in 0..offers {
        let mut offer = fixture.new_offer(payer);
        offer.supplier = first.supplier.clone();
        let id = fixture.make(&offer).await.id;
        cancel(fixture, id).await;
    }
    let found = fixture.directory().company_by_cnpj(&first.supplier.cnpj);
    found.await.unwrap().unwrap()
}

async fn cancel(fixture: &Fixture, id: OperationId) {
    let cancel = fixture.service.command(
        Viewer::Platform,
        id,
        &Command::Cancel,
        Actor::Platform,
        fixture.now,
    );
    cancel.await.unwrap();
}

/// Copies of an operation that have ended, under greater ids: more than one look goes over.
async fn copies_that_ended(fixture: &Fixture, of: OperationId) {
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2100)
         INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
             status, amount_cents, withheld_tax_cents, due_date, expires_at, created_at)
         SELECT 5000000 + n, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
             'CONCLUDED', amount_cents, withheld_tax_cents, due_date, expires_at, created_at
         FROM operations CROSS JOIN numbers WHERE id = {}",
        of.get()
    );
    let copied = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&fixture.sql);
    copied.await.unwrap();
}

async fn begin(fixture: &Fixture, company: &Company) -> Result<Erasure, DirectoryError> {
    let operator = OperatorName::root();
    let begun = fixture
        .directory()
        .begin_erasure(company, &operator, fixture.now);
    begun.await
}

/// The erasure, completed.
async fn erased(fixture: &Fixture, company: &Company, at: Timestamp) -> Erasure {
    let (directory, operator) = (fixture.directory(), OperatorName::root());
    let begun = directory.begin_erasure(company, &operator, at).await;
    let mut erasure = begun.unwrap();
    while erasure.completed_at.is_none() {
        let step = directory.continue_erasure(company, erasure.began_at, at);
        erasure = step.await.unwrap();
    }
    erasure
}

#[tokio::test]
async fn an_interrupted_erasure_is_continued_where_it_stands() {
    let fixture = Fixture::new().await;
    // More than one step walks over.
    let company = supplier_with(&fixture, 230).await;
    let begun = begin(&fixture, &company).await.unwrap();
    assert_eq!(
        (begun.contacts, begun.mails, begun.completed_at),
        (1, 0, None)
    );
    let directory = fixture.directory();
    let step = async || {
        let step = directory.continue_erasure(&company, begun.began_at, fixture.now);
        step.await.unwrap()
    };
    let first = step().await;
    assert_eq!((first.mails, first.completed_at), (200, None));
    // Somebody else begins: it is the same erasure.
    assert_eq!(begin(&fixture, &company).await.unwrap(), first);
    assert_eq!(step().await.mails, 230);
    let last = step().await;
    assert_eq!(last.completed_at, Some(fixture.now));
    assert_eq!(step().await, last);
    assert_eq!(begin(&fixture, &company).await.unwrap(), last);
    let found = directory.personal_data(&company).await.unwrap();
    assert_eq!(
        (found.contacts, found.mails, found.erasures),
        (0, 0, vec![last])
    );
    let elsewhere =
        directory.continue_erasure(&company, fixture.later(TimeDelta::hours(1)), fixture.now);
    assert!(matches!(elsewhere.await, Err(DirectoryError::NotFound)));
}

#[tokio::test]
async fn an_offer_that_is_made_meanwhile_keeps_its_mail() {
    let fixture = Fixture::new().await;
    let company = supplier_with(&fixture, 1).await;
    let begun = begin(&fixture, &company).await.unwrap();
    let mut offer = fixture.new_offer(fixture.payer().await);
    offer.supplier.cnpj = company.cnpj;
    let id = fixture.make(&offer).await.id;
    let directory = fixture.directory();
    let mut erasure = begun.clone();
    while erasure.completed_at.is_none() {
        let step = directory.continue_erasure(&company, begun.began_at, fixture.now);
        erasure = step.await.unwrap();
    }
    assert_eq!(erasure.mails, 1);
    let left = directory.personal_records(&company).await.unwrap();
    let operations: Vec<_> = left.mails.iter().map(|mail| mail.operation).collect();
    assert_eq!(operations, [Some(id)]);
    assert!(matches!(
        begin(&fixture, &company).await,
        Err(DirectoryError::Conflict)
    ));
}

#[tokio::test]
async fn what_stands_behind_thousands_of_newer_operations_is_found() {
    let fixture = Fixture::new().await;
    let offer = fixture.new_offer(fixture.payer().await);
    let operation = fixture.make(&offer).await;
    copies_that_ended(&fixture, operation.id).await;
    let directory = fixture.directory();
    let company = async |id| directory.company(id).await.unwrap().unwrap();
    let supplier = company(operation.supplier.company).await;
    let payer = company(operation.payer.company).await;
    for company in [&supplier, &payer] {
        let refused = begin(&fixture, company).await;
        assert!(matches!(refused, Err(DirectoryError::Conflict)));
    }
    cancel(&fixture, operation.id).await;
    let last = erased(&fixture, &supplier, fixture.now).await;
    assert_eq!((last.contacts, last.mails), (1, 1));
    let later = fixture.later(TimeDelta::hours(1));
    assert_eq!(erased(&fixture, &supplier, later).await, last);
    let mut next = fixture.new_offer(operation.payer.company);
    next.supplier = offer.supplier;
    let next = fixture.make(&next).await;
    cancel(&fixture, next.id).await;
    // The contact would be found at once.
    let contacts = sqlx::query("DELETE FROM supplier_invitations").execute(&fixture.sql);
    contacts.await.unwrap();
    let again = erased(&fixture, &supplier, later).await;
    assert_eq!((again.began_at, again.mails), (later, 1));
}
