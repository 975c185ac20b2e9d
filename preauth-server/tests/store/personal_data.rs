//! Erasures that are interrupted, and continued by anybody.

use preauth_core::operation::{Actor, Command};
use preauth_core::port::Viewer;
use preauth_core::value::OperatorName;
use preauth_server::directory::{Company, DirectoryError, Erasure};

use crate::store::fixture::Fixture;

async fn supplier_with(fixture: &Fixture, offers: usize) -> Company {
    let payer = fixture.payer().await;
    let first = fixture.new_offer(payer);
    for _ in 0..offers {
        let mut offer = fixture.new_offer(payer);
        offer.supplier = first.supplier.clone();
        let id = fixture.make(&offer).await.id;
        let cancel = fixture.service.command(
            Viewer::Platform,
            id,
            &Command::Cancel,
            Actor::Platform,
            fixture.now,
        );
        cancel.await.unwrap();
    }
    let found = fixture.directory().company_by_cnpj(&first.supplier.cnpj);
    found.await.unwrap().unwrap()
}

async fn begin(fixture: &Fixture, company: &Company) -> Result<Erasure, DirectoryError> {
    let operator = OperatorName::root();
    let begun = fixture
        .directory()
        .begin_erasure(company, &operator, fixture.now);
    begun.await
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
    let elsewhere = directory.continue_erasure(
        &company,
        fixture.later(chrono::TimeDelta::hours(1)),
        fixture.now,
    );
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
