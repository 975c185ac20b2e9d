//! Every rule, violated on purpose in the tables of a database that is otherwise sound.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use preauth_core::audit::{Moment, Rule, Totals, Violation, Watch, audit};
use preauth_server::clock::{Clock, SystemClock};
use preauth_server::http::WireDecoder;
use preauth_server::store;
use test_support::{Backend, Scratch};

use crate::world::live_in;

/// A state that no server would write.
struct Corruption {
    /// The rule that finds it.
    rule: Rule,
    /// The statements, the same on both databases. Where a constraint prevents the state, the first
    /// drops the constraint.
    statements: &'static [&'static str],
}

const fn breaks(rule: Rule, statements: &'static [&'static str]) -> Corruption {
    Corruption { rule, statements }
}

/// Mails per address and day.
const SHARE: u32 = 5;

const CORRUPTIONS: [Corruption; 71] = [
    breaks(
        Rule::Readable,
        &["UPDATE operations SET closing_action = 'NOBODY' WHERE id = 2"],
    ),
    breaks(
        Rule::Readable,
        &["UPDATE operations SET due_date = '2027-02-31' WHERE id = 2"],
    ),
    breaks(
        Rule::Readable,
        &["UPDATE events SET type = 'anticipation.forgotten' WHERE operation_id = 4"],
    ),
    breaks(
        Rule::Readable,
        &["UPDATE deliveries SET event_type = 'anticipation.forgotten'"],
    ),
    breaks(
        Rule::OneEventPerVersion,
        &["UPDATE operations SET version = version + 1 WHERE id = 4"],
    ),
    breaks(
        Rule::OneEventPerVersion,
        &["UPDATE payment_orders SET version = version - 1"],
    ),
    breaks(
        Rule::OneEventPerVersion,
        &[
            "DROP INDEX events_of_operation",
            "UPDATE events SET version = 2 WHERE operation_id = 1 AND version = 3",
        ],
    ),
    breaks(
        Rule::PathOfTheTable,
        &["UPDATE events SET type = 'anticipation.paid',
               body = replace(body, 'anticipation.approved', 'anticipation.paid')
           WHERE operation_id = 1 AND type = 'anticipation.approved'"],
    ),
    breaks(
        Rule::PathOfTheTable,
        &["UPDATE events SET type = 'payment_order.reproved',
               body = replace(body, 'payment_order.paid', 'payment_order.reproved')
           WHERE type = 'payment_order.paid'"],
    ),
    breaks(
        Rule::PathOfTheTable,
        &["UPDATE operations SET created_at = created_at - 1 WHERE id = 5"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE operations SET status = 'REPROVED', closing_action = 'CANCEL' WHERE id = 4"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE operations SET closing_reason = 'Outra' WHERE id = 2"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE operations SET closing_action = 'WITHDRAW' WHERE id = 2"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE operations SET boleto_due_date = '2027-12-31' WHERE id = 6"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE extensions SET status = 'CANCELED' WHERE operation_id = 1"],
    ),
    breaks(
        Rule::StateOfItsEvents,
        &["UPDATE payment_orders SET status = 'REPROVED'"],
    ),
    breaks(
        Rule::References,
        &["UPDATE events SET operation_id = 99 WHERE operation_id = 4"],
    ),
    breaks(
        Rule::References,
        &["UPDATE events SET payment_order_id = 99 WHERE payment_order_id IS NOT NULL"],
    ),
    breaks(Rule::References, &["UPDATE deliveries SET event_id = id"]),
    breaks(
        Rule::References,
        &["UPDATE deliveries SET endpoint_id = id"],
    ),
    breaks(
        Rule::References,
        &["UPDATE idempotency_replies SET operation_id = 99 WHERE operation_id = 4"],
    ),
    breaks(
        Rule::MailOfItsOwn,
        &["UPDATE notices SET operation_id = 99 WHERE operation_id = 4"],
    ),
    breaks(
        Rule::OwnParties,
        &["UPDATE operations SET head_office_id = supplier_id WHERE id = 4"],
    ),
    breaks(
        Rule::OwnParties,
        &["UPDATE operations SET supplier_cnpj = '11444777000161' WHERE id = 4"],
    ),
    breaks(
        Rule::OwnParties,
        &["UPDATE events SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')
           WHERE operation_id = 4"],
    ),
    breaks(
        Rule::KnownSupplier,
        &["UPDATE companies SET is_invited = TRUE WHERE cnpj = '12ABC34501DE35'"],
    ),
    breaks(
        Rule::FrozenBody,
        &["UPDATE events SET body = '{}' WHERE operation_id = 4"],
    ),
    breaks(
        Rule::FrozenBody,
        &["UPDATE events SET body = replace(body, '\"NF-4\"', '\"NF-5\"') WHERE operation_id = 4"],
    ),
    breaks(
        Rule::FrozenBody,
        &["UPDATE events SET at = at + 1 WHERE type = 'pre_authorization.revoked'"],
    ),
    breaks(
        Rule::Amounts,
        &["UPDATE operations SET amount_cents = amount_cents + 1 WHERE id = 4"],
    ),
    breaks(
        Rule::Amounts,
        &[
            "UPDATE events SET body = replace(body, '\"netAmount\":12000', '\"netAmount\":12001')
           WHERE type = 'anticipation.billed'",
        ],
    ),
    breaks(
        Rule::ExpiryInTime,
        &["UPDATE operations SET expires_at = expires_at + 8640000000 WHERE id = 3"],
    ),
    breaks(
        Rule::ExpiryRecorded,
        &["UPDATE operations SET expires_at = created_at - 3600000 WHERE id = 4"],
    ),
    breaks(
        Rule::OneHolder,
        &[
            "DROP INDEX operations_number_in_progress",
            "UPDATE operations SET invoice_number = 'NF-4' WHERE id = 6",
        ],
    ),
    breaks(
        Rule::Readable,
        &["UPDATE operations SET invoice_number_nfc = 'NF-44' WHERE id = 4"],
    ),
    breaks(
        Rule::OnePaymentOrder,
        &[
            "UPDATE payment_orders SET operation_id = 4",
            "INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, operation_id,
                 version, status, amount_cents, scheduled_for, reason, created_at)
             SELECT id + 1, head_office_id, payer_id, supplier_id, operation_id, version, status,
                 amount_cents, scheduled_for, reason, created_at
             FROM payment_orders",
        ],
    ),
    breaks(
        Rule::Recipients,
        &["UPDATE endpoints SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')
           WHERE head_office_id = (SELECT supplier_id FROM operations WHERE id = 1)"],
    ),
    breaks(
        Rule::Recipients,
        &["UPDATE deliveries SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')"],
    ),
    breaks(
        Rule::DeliveryOutcome,
        &["DELETE FROM attempts WHERE number = 1"],
    ),
    breaks(
        Rule::LeasesEnd,
        &["UPDATE deliveries SET leased_until = 1 WHERE status = 'PENDING'"],
    ),
    breaks(
        Rule::LeasesEnd,
        &["UPDATE notices SET leased_until = 1 WHERE status = 'PENDING'"],
    ),
    breaks(
        Rule::MailOfItsOwn,
        &["UPDATE notices SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')
           WHERE operation_id = 4"],
    ),
    breaks(
        Rule::MailOfItsOwn,
        &["UPDATE notices SET operation_id = 5 WHERE operation_id = 4"],
    ),
    breaks(
        Rule::MailOfItsOwn,
        &["UPDATE notices SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')
           WHERE kind = 'ENDPOINT_PAUSED'"],
    ),
    breaks(
        Rule::MailOutcome,
        &["UPDATE notices SET attempts_made = 0 WHERE status = 'SENT'"],
    ),
    breaks(
        Rule::MailOutcome,
        &["UPDATE notices SET last_error = NULL WHERE status = 'FAILED'"],
    ),
    breaks(
        Rule::MailOutcome,
        &["UPDATE notices SET ended_at = staged_at - 1 WHERE status = 'SENT'"],
    ),
    breaks(
        Rule::MailOutcome,
        &[
            "UPDATE notices SET status = 'CANCELED', next_attempt_at = NULL, ended_at = staged_at
           WHERE operation_id = 4",
        ],
    ),
    breaks(
        Rule::DailyShare,
        &[
            "UPDATE notices SET ended_at = 1800000000000, next_attempt_at = NULL, status = 'SENT',
               attempts_made = 1, last_error = NULL
           WHERE operation_id IS NOT NULL",
        ],
    ),
    breaks(
        Rule::OfferMail,
        &["DELETE FROM notices WHERE operation_id = 4"],
    ),
    breaks(
        Rule::ReplyOfCreation,
        &["UPDATE idempotency_replies SET operation_id = 2 WHERE operation_id = 4"],
    ),
    breaks(
        Rule::ReplyOfCreation,
        &["UPDATE idempotency_replies SET head_office_id =
               (SELECT id FROM companies WHERE cnpj = '11444777000161')
           WHERE operation_id = 4"],
    ),
    breaks(
        Rule::CountsOfLists,
        &["UPDATE operation_counts SET count = count + 1 WHERE status = 'REPROVED'"],
    ),
    breaks(Rule::CountsOfLists, &["DELETE FROM operation_counts"]),
    breaks(
        Rule::FileBytes,
        &["UPDATE invoice_file_bytes SET bytes = bytes + 1"],
    ),
    breaks(Rule::FileBytes, &["DELETE FROM invoice_file_bytes"]),
    breaks(
        Rule::SealedLog,
        &["UPDATE audit_log SET operator_name = 'ana' WHERE id = 1"],
    ),
    breaks(Rule::SealedLog, &["DELETE FROM audit_log WHERE id = 2"]),
    breaks(
        Rule::SealedLog,
        &["UPDATE audit_log SET seal = 2 WHERE id = 2"],
    ),
    breaks(
        Rule::SealedLog,
        &[
            "DELETE FROM audit_log WHERE seal = 1",
            "DELETE FROM audit_seals WHERE number = 1",
        ],
    ),
    breaks(
        Rule::SealedLog,
        &["UPDATE audit_seals SET hash =
               (SELECT hash FROM audit_seals WHERE number = 1) WHERE number = 2"],
    ),
    breaks(
        Rule::SealedLog,
        &["UPDATE audit_seals SET row_count = 2 WHERE number = 2"],
    ),
    breaks(
        Rule::SealedLog,
        &[
            "DELETE FROM audit_seals WHERE number = 2",
            "UPDATE audit_log SET seal = NULL, at = 1 WHERE seal = 2",
        ],
    ),
    breaks(
        Rule::References,
        &["DELETE FROM audit_seals WHERE number = 2"],
    ),
    // Head offices that do not exist: no foreign key holds these.
    breaks(
        Rule::OwnParties,
        &["UPDATE operations SET head_office_id =
               (SELECT id FROM events WHERE operation_id = 4 AND version = 1)
           WHERE id = 4"],
    ),
    breaks(
        Rule::OwnParties,
        &["UPDATE events SET head_office_id = id WHERE operation_id = 4"],
    ),
    breaks(
        Rule::References,
        &[
            "INSERT INTO events (id, head_office_id, type, at, actor, body)
             SELECT head_office_id, id, 'webhook.test', at, actor, body FROM events
             WHERE operation_id = 4 AND version = 1",
        ],
    ),
    breaks(
        Rule::Recipients,
        &["UPDATE deliveries SET head_office_id = id"],
    ),
    breaks(
        Rule::MailOfItsOwn,
        &["UPDATE notices SET head_office_id = id WHERE operation_id = 4"],
    ),
    breaks(
        Rule::ReplyOfCreation,
        &["UPDATE idempotency_replies SET head_office_id =
               (SELECT id FROM events WHERE operation_id = 4 AND version = 1)
           WHERE operation_id = 4"],
    ),
    // More of them in `lists.rs`.
    breaks(
        Rule::EventLists,
        &["DELETE FROM event_feed WHERE event_id = (SELECT id FROM events WHERE operation_id = 4)"],
    ),
];

#[tokio::test]
async fn every_broken_rule_is_found_on_sqlite() {
    every_broken_rule_is_found(Backend::Sqlite).await;
}

#[tokio::test]
async fn every_broken_rule_is_found_on_postgres() {
    every_broken_rule_is_found(Backend::Postgres).await;
}

async fn every_broken_rule_is_found(backend: Backend) {
    let whole = Scratch::empty(backend).await;
    live_in(&whole).await;
    let (totals, found) = audited(&whole, true).await;
    assert_eq!(found, []);
    assert_eq!(
        (totals.operations, totals.orders, totals.replies),
        (7, 1, 3)
    );
    assert_eq!(totals.seals, 2);
    assert_eq!(totals.mails, 7, "six offers, and a paused endpoint");
    let mut broken = BTreeSet::new();
    for Corruption { rule, statements } in CORRUPTIONS {
        let copy = whole.copy().await;
        copy.execute(statements).await;
        let (_, found) = audited(&copy, true).await;
        let is_found = found.iter().any(|violation| violation.rule == rule);
        assert!(is_found, "{rule:?} does not find {statements:?}: {found:?}");
        for name in ["None", "Some(", "InPreAuth", " { "] {
            let is_named = found.iter().any(|it| it.to_string().contains(name));
            assert!(
                !is_named,
                "{name} is of the program, not of the contract: {found:?}"
            );
        }
        broken.insert(rule);
    }
    let all: BTreeSet<_> = Rule::ALL.iter().copied().collect();
    assert_eq!(broken, all, "no rule goes unproved");
}

/// Earlier builds reopened every operation to `IN_ANALYSIS`.
#[tokio::test]
async fn a_reopening_that_was_recorded_under_the_earlier_rule_is_sound() {
    let whole = Scratch::empty(Backend::Sqlite).await;
    live_in(&whole).await;
    whole
        .execute(&[
            "UPDATE operations SET status = 'IN_ANALYSIS' WHERE id = 5",
            "UPDATE events SET body = replace(body, 'IN_VERIFICATION', 'IN_ANALYSIS')
             WHERE operation_id = 5 AND type = 'anticipation.reopened'",
        ])
        .await;
    let (_, found) = audited(&whole, true).await;
    assert_eq!(found, []);
}

#[tokio::test]
async fn overdue_work_of_a_database_at_rest_is_no_violation() {
    let whole = Scratch::empty(Backend::Sqlite).await;
    live_in(&whole).await;
    for rule in [Rule::ExpiryRecorded, Rule::LeasesEnd] {
        let copy = whole.copy().await;
        let mut all = CORRUPTIONS.iter();
        let corruption = all.find(|it| it.rule == rule).unwrap();
        copy.execute(corruption.statements).await;
        let (_, found) = audited(&copy, false).await;
        let still: Vec<_> = found.iter().filter(|it| it.rule == rule).collect();
        assert!(still.is_empty(), "{still:?}");
    }
}

#[derive(Default)]
struct Found(Vec<Violation>);

impl Watch for Found {
    fn found(&mut self, violation: Violation) {
        self.0.push(violation);
    }

    fn progressed(&mut self, _totals: &Totals) {}
}

pub(crate) async fn audited(database: &Scratch, is_live: bool) -> (Totals, Vec<Violation>) {
    let archive = store::archive(&database.url()).await.unwrap();
    let now = SystemClock.now();
    let mut found = Found::default();
    let totals = audit(
        &*archive,
        &WireDecoder,
        Moment {
            now,
            is_live,
            daily_share: NonZeroU32::new(SHARE).unwrap(),
            mails_kept: None,
        },
        &mut found,
    )
    .await;
    (totals.unwrap(), found.0)
}
