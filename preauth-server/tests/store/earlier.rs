//! Data written by earlier builds is read, compared and replayed unchanged.

use preauth_core::operation::{Actor, Rejection};
use preauth_core::port::{Filter, Viewer};
use preauth_core::service::{OfferOutcome, ServiceError};
use preauth_core::value::{CompanyKind, ExternalReference, IdempotencyKey, InvoiceNumber};

use sqlx::AssertSqlSafe;

use crate::store::fixture::{FIRST_PAGE, Fixture};

const COMPOSED: &str = "NF-\u{e9}";
const DECOMPOSED: &str = "NF-e\u{301}";
/// A number with four forms, because its accents are of both kinds and its space is not a plain one.
const MIXED: &str = "NF-\u{e9}\u{a0}e\u{301}";
const MIXED_COMPOSED: &str = "NF-\u{e9}\u{a0}\u{e9}";
const MIXED_DECOMPOSED: &str = "NF-e\u{301}\u{a0}e\u{301}";

/// Writes directly to the database, as another build would.
async fn write(fixture: &Fixture, sql: String) {
    let done = sqlx::query(AssertSqlSafe(sql)).execute(&fixture.sql).await;
    assert!(done.unwrap().rows_affected() > 0);
}

#[tokio::test]
async fn stored_texts_with_hidden_characters_are_read_unchanged() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let operation = fixture.offer(payer).await;
    let hidden = "A\u{ad}\u{3164}B";
    for change in [
        "operations SET invoice_number",
        "operations SET external_reference",
        "companies SET name",
        "supplier_invitations SET name",
        "supplier_invitations SET contact_name",
    ] {
        write(&fixture, format!("UPDATE {change} = '{hidden}'")).await;
    }
    let found = fixture
        .stores
        .queries
        .find(Viewer::Platform, operation.id)
        .await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.invoice.number.unwrap().as_str(), hidden);
    assert_eq!(found.external_reference.unwrap().as_str(), hidden);
    assert_eq!(found.supplier.name.as_str(), hidden);
    let filter = Filter {
        external_reference: Some(ExternalReference::from_stored(hidden).unwrap()),
        statuses: Vec::new(),
    };
    let listed = fixture
        .stores
        .queries
        .list(Viewer::HeadOffice(payer), &filter, FIRST_PAGE)
        .await;
    assert_eq!(listed.unwrap().total, 1);
    assert_eq!(fixture.stores.watch.set_aside(), []);
}

#[tokio::test]
async fn a_number_that_was_stored_as_it_was_sent_holds_its_invoice_in_every_form() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for (stored, sent) in [
        (DECOMPOSED, DECOMPOSED),
        (DECOMPOSED, COMPOSED),
        (COMPOSED, DECOMPOSED),
        (MIXED, MIXED),
        (MIXED_COMPOSED, MIXED),
        (MIXED_DECOMPOSED, MIXED),
    ] {
        let held = fixture.offer(payer).await;
        let sql = format!(
            "UPDATE operations SET invoice_number = '{stored}', invoice_number_nfc = NULL WHERE id = {}",
            held.id
        );
        write(&fixture, sql).await;
        let mut offer = fixture.new_offer(payer);
        offer.supplier.cnpj = held.supplier.cnpj;
        offer.invoice.number = Some(InvoiceNumber::parse(sent).unwrap());
        let refused = fixture
            .service
            .offer(&offer, Actor::Company, None, fixture.now)
            .await;
        let Err(ServiceError::Rejected(Rejection::DuplicateInvoice { existing })) = refused else {
            panic!("{stored:?} {sent:?}: {refused:?}");
        };
        assert_eq!(existing, held.id);
    }
}

#[tokio::test]
async fn an_answer_that_was_remembered_before_is_repeated_to_the_same_bytes() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let key = IdempotencyKey::parse("key-of-an-earlier-build").unwrap();
    let mut offer = fixture.new_offer(payer);
    offer.invoice.number = Some(InvoiceNumber::parse(DECOMPOSED).unwrap());
    let offered = fixture
        .service
        .offer(&offer, Actor::Company, Some(&key), fixture.now);
    let first = offered.await.unwrap().body().to_owned();
    // Earlier builds hashed the text as sent, and accepted invisible characters.
    let earlier = InvoiceNumber::from_stored("NF-e\u{301}\u{ad}").unwrap();
    for number in [InvoiceNumber::parse(DECOMPOSED).unwrap(), earlier] {
        offer.invoice.number = Some(number);
        let remembered = sqlx::query("UPDATE idempotency_replies SET fingerprint = $1")
            .bind(offer.fingerprints().as_sent().as_bytes().to_vec())
            .execute(&fixture.sql);
        remembered.await.unwrap();
        let again = fixture
            .service
            .offer(&offer, Actor::Company, Some(&key), fixture.now)
            .await;
        assert_eq!(
            again.unwrap(),
            OfferOutcome::Replayed {
                body: first.clone()
            }
        );
        let before = fixture
            .service
            .answered_before(&offer, &key, fixture.now)
            .await;
        assert_eq!(
            before.unwrap(),
            Some(OfferOutcome::Replayed {
                body: first.clone()
            })
        );
    }
    let other_key = IdempotencyKey::parse("a-key-without-answer").unwrap();
    let none = fixture
        .service
        .answered_before(&offer, &other_key, fixture.now)
        .await;
    assert_eq!(none.unwrap(), None);
    offer.invoice.number = Some(InvoiceNumber::parse("NF-other").unwrap());
    let none = fixture
        .service
        .answered_before(&offer, &key, fixture.now)
        .await;
    assert_eq!(none.unwrap(), None, "another request");
}

#[tokio::test]
async fn an_entry_of_the_block_list_covers_the_entity_and_goes_with_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let supplier = fixture.company(CompanyKind::Supplier);
    let branch = fixture.unregistered_branch_of(supplier.cnpj);
    let directory = fixture.directory();
    for blocked in [&supplier.cnpj, &branch] {
        directory
            .block_supplier(payer, blocked, fixture.now)
            .await
            .unwrap();
    }
    let third = fixture.unregistered_branch_of(branch);
    let mut offer = fixture.new_offer(payer);
    offer.supplier.cnpj = third;
    let refused = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now)
        .await;
    let Err(ServiceError::Rejected(Rejection::SupplierBlocked)) = refused else {
        panic!("{refused:?}");
    };
    directory.unblock_supplier(payer, &third).await.unwrap();
    assert_eq!(directory.blocked_suppliers(payer).await.unwrap(), []);
    let taken = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now)
        .await;
    assert!(
        matches!(taken, Ok(OfferOutcome::Created { .. })),
        "{taken:?}"
    );
}
