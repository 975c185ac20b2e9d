//! What an erasure removed is no finding; what is missing without one is.

use preauth_core::audit::Rule;
use test_support::{Backend, Scratch};

use crate::corruption::audited;
use crate::world::live_in;

#[tokio::test]
async fn an_erasure_proves_the_gaps_that_it_left_on_sqlite() {
    an_erasure_proves_the_gaps_that_it_left(Backend::Sqlite).await;
}

#[tokio::test]
async fn an_erasure_proves_the_gaps_that_it_left_on_postgres() {
    an_erasure_proves_the_gaps_that_it_left(Backend::Postgres).await;
}

const MISSING: &str = "DELETE FROM notices WHERE operation_id = 4";

async fn an_erasure_proves_the_gaps_that_it_left(backend: Backend) {
    let whole = Scratch::empty(backend).await;
    live_in(&whole).await;
    let cases = [
        // Its supplier's, afterwards.
        (
            "INSERT INTO erasures (company_id, began_at, operator)
             SELECT supplier_id, created_at + 1, 'root' FROM operations WHERE id = 4",
            true,
        ),
        // Before the offer.
        (
            "INSERT INTO erasures (company_id, began_at, operator)
             SELECT supplier_id, created_at - 1, 'root' FROM operations WHERE id = 4",
            false,
        ),
        // Of its payer, to whom the mail was not sent.
        (
            "INSERT INTO erasures (company_id, began_at, operator)
             SELECT payer_id, created_at + 1, 'root' FROM operations WHERE id = 4",
            false,
        ),
    ];
    for (erasure, is_proved) in cases {
        let copy = whole.copy().await;
        copy.execute(&[MISSING, erasure]).await;
        let (_, found) = audited(&copy, true).await;
        let rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
        let expected: &[Rule] = if is_proved { &[] } else { &[Rule::OfferMail] };
        assert_eq!(rules, expected, "{erasure}");
    }
}

/// Files are removed with their rows, and the sums of their bytes follow.
#[tokio::test]
async fn the_invitation_of_an_erased_supplier_is_not_missed() {
    let whole = Scratch::empty(Backend::Sqlite).await;
    live_in(&whole).await;
    whole
        .execute(&[
            "UPDATE companies SET is_invited = 1 WHERE cnpj = '12ABC34501DE35'",
            "INSERT INTO erased_invitations (supplier_id, head_office_id, name, erased_at)
             SELECT DISTINCT supplier_id, head_office_id, 'Fornecedor', 1 FROM operations",
            "DELETE FROM invoice_files WHERE operation_id = 1",
        ])
        .await;
    let (_, found) = audited(&whole, true).await;
    assert_eq!(found, []);
}
