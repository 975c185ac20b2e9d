//! Suppliers registered by offers before invitations existed, and those that an older build, which
//! does not know invitations, still registers in parallel.

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

/// Copies an operation as an older build would insert it, without an invitation.
async fn copy(fixture: &Fixture, operation: i64) {
    let sql = format!(
        "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number, expires_at,
             created_at)
         SELECT id + 1000, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin,
             status, amount_cents, withheld_tax_cents, due_date, 'NF-COPY', expires_at, created_at
         FROM operations WHERE id = {operation}"
    );
    run(fixture, &sql).await;
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

#[tokio::test]
async fn what_an_older_build_offers_is_recorded_as_an_invitation() {
    let fixture = Fixture::new().await;
    let (first, second) = (fixture.payer().await, fixture.payer().await);
    let offer = fixture.new_offer(first);
    let (cnpj, ours) = (offer.supplier.cnpj, fixture.make(&offer).await);
    run(&fixture, AS_BEFORE).await;
    run(
        &fixture,
        "UPDATE companies SET is_invited = TRUE WHERE contact_name IS NOT NULL",
    )
    .await;
    run(&fixture, "DELETE FROM supplier_invitations").await;
    assert_eq!(name(&known(&fixture, first, cnpj).await), None);
    copy(&fixture, ours.id.get()).await;
    assert_eq!(
        name(&known(&fixture, first, cnpj).await),
        Some("Nome Antigo")
    );
    assert_eq!(name(&known(&fixture, second, cnpj).await), None);
}

#[tokio::test]
async fn an_older_builds_offer_does_not_name_a_supplier_for_others() {
    let fixture = Fixture::new().await;
    let (first, second) = (fixture.payer().await, fixture.payer().await);
    let offer = fixture.new_offer(first);
    let mut theirs = fixture.new_offer(second);
    theirs.supplier = offer.supplier.clone();
    let cnpj = offer.supplier.cnpj;
    fixture.make(&offer).await;
    let theirs = fixture.make(&theirs).await;
    run(
        &fixture,
        "DELETE FROM supplier_invitations WHERE head_office_id =
             (SELECT head_office_id FROM operations WHERE invoice_number IS NOT NULL
              ORDER BY id DESC LIMIT 1)",
    )
    .await;
    copy(&fixture, theirs.id.get()).await;
    // Its name belongs to the other head office, not to the company's row.
    assert_eq!(name(&known(&fixture, second, cnpj).await), None);
    let found = fixture
        .stores
        .queries
        .find(Viewer::Platform, theirs.id)
        .await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.supplier.name.as_str(), cnpj.as_str());
}

#[tokio::test]
async fn a_supplier_that_an_older_build_registers_by_an_offer_is_invited() {
    let fixture = Fixture::new().await;
    let company = fixture.company(CompanyKind::Supplier);
    fixture.add(company.clone()).await;
    let is_invited = || async {
        let found = fixture.directory().company(company.id).await;
        found.unwrap().unwrap().is_invited
    };
    assert!(!is_invited().await);
    let kept = format!(
        "CREATE TABLE kept AS SELECT * FROM companies WHERE cnpj = '{}'",
        company.cnpj
    );
    run(&fixture, &kept).await;
    for (contact, expected) in [("'Ana'", true), ("NULL", false)] {
        run(
            &fixture,
            "DELETE FROM companies WHERE cnpj = (SELECT cnpj FROM kept)",
        )
        .await;
        let insert = format!(
            "INSERT INTO companies (id, cnpj, name, kind, head_office_id, contact_name,
                 contact_email, created_at)
             SELECT id, cnpj, name, kind, head_office_id, {contact}, {contact}, created_at
             FROM kept"
        );
        run(&fixture, &insert).await;
        assert_eq!(is_invited().await, expected);
    }
}
