//! Suppliers registered by offers before invitations existed.

use preauth_core::operation::KnownSupplier;
use preauth_core::port::{OfferTarget, Viewer};
use preauth_core::value::{Cnpj, CompanyId, CompanyKind};

use sqlx::AssertSqlSafe;

use crate::migration::BACKFILL;
use crate::store::fixture::{FIRST_PAGE, Fixture};

/// Turns every invited supplier into a row of an older build: a company with the name and contact
/// of the first offer.
const AS_BEFORE: &str = "UPDATE companies
    SET name = 'Nome Antigo', contact_name = 'Ana', contact_email = 'ana@example.com',
        is_invited = FALSE
    WHERE is_invited";

async fn run(fixture: &Fixture, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&fixture.sql)
        .await;
    done.unwrap();
}

async fn known(fixture: &Fixture, payer: CompanyId, supplier: Cnpj) -> KnownSupplier {
    let target = OfferTarget {
        payer,
        supplier,
        invoice_number: None,
        idempotency_key: None,
    };
    let loaded = fixture.stores.store.load_offer(&target).await;
    loaded.unwrap().unwrap().context.supplier
}

fn name(known: &KnownSupplier) -> Option<&str> {
    known.party().map(|party| party.name.as_str())
}

#[tokio::test]
async fn a_supplier_that_offers_registered_is_invited_by_each_head_office_that_offered() {
    let fixture = Fixture::new().await;
    let (first, second, third) = (
        fixture.payer().await,
        fixture.payer().await,
        fixture.payer().await,
    );
    let offer = fixture.new_offer(first);
    let mut theirs = fixture.new_offer(second);
    theirs.supplier = offer.supplier.clone();
    let cnpj = offer.supplier.cnpj;
    let ours = fixture.make(&offer).await;
    fixture.make(&theirs).await;
    let with_user = fixture.offer(first).await.supplier;
    let with_endpoint = fixture.offer(first).await.supplier;
    let by_platform = fixture.company(CompanyKind::Supplier);
    fixture.add(by_platform.clone()).await;
    run(&fixture, AS_BEFORE).await;
    run(&fixture, "DELETE FROM supplier_invitations").await;
    let user = fixture.user(with_user.company);
    fixture.directory().add_user(&user, None).await.unwrap();
    fixture.add_endpoint(with_endpoint.company).await;

    // On a single connection: SQLite's others notice the dropped trigger only when they read.
    let mut connection = fixture.sql.acquire().await.unwrap();
    for _ in 0..2 {
        let taken = sqlx::raw_sql(BACKFILL).execute(&mut *connection).await;
        taken.unwrap();
    }
    for payer in [first, second] {
        let known = known(&fixture, payer, cnpj).await;
        assert!(matches!(known, KnownSupplier::Invited(_)), "{known:?}");
        assert_eq!(name(&known), Some("Nome Antigo"));
    }
    let strangers = known(&fixture, third, cnpj).await;
    assert_eq!(
        strangers,
        KnownSupplier::InvitedByOthers(ours.supplier.company)
    );
    for registered in [with_user.cnpj, with_endpoint.cnpj, by_platform.cnpj] {
        let known = known(&fixture, first, registered).await;
        assert!(matches!(known, KnownSupplier::Registered(_)), "{known:?}");
    }
    let found = fixture.stores.queries.find(Viewer::Platform, ours.id).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.supplier.name.as_str(), "Nome Antigo");
    let company = ours.supplier.company;
    let invitations = fixture.directory().invitations(company, FIRST_PAGE).await;
    assert_eq!(invitations.unwrap().total, 2);
}
