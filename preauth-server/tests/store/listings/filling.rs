//! Large tables, copies of one row of each, in which something is rare.

use preauth_core::value::OperationId;

use crate::store::fixture::Fixture;

use super::{ROWS, Scene};

/// How the tables of a database are filled.
pub(crate) trait Filling {
    /// `numbers`, whose column `n` is 1 to [`ROWS`].
    fn numbers(&self) -> String;

    /// An id in the order of this number.
    fn id(&self, number: &str) -> String;

    fn uuid_of(&self, id: uuid::Uuid) -> String;

    async fn columns(&self, fixture: &Fixture, table: &str) -> Vec<String>;

    async fn execute(&self, fixture: &Fixture, sql: &str);
}

impl Scene {
    /// Fills the tables.
    pub(crate) async fn fill(&self, fixture: &Fixture, database: &impl Filling) {
        for (table, changed) in COPIES {
            self.copy(fixture, database, table, changed).await;
        }
        database
            .execute(fixture, &self.spelled(fixture, database, MORE))
            .await;
    }

    /// Copies of the row of a table that is about the operation, with these columns as expressions over `n`.
    async fn copy(
        &self,
        fixture: &Fixture,
        database: &impl Filling,
        table: &str,
        changed: &[(&str, &str)],
    ) {
        let columns = database.columns(fixture, table).await;
        let outage = OUTAGE.iter().filter(|_| self.is_outage);
        let outage = outage.filter(|(of, _)| *of == table);
        let changed: Vec<_> = outage
            .flat_map(|(_, changed)| *changed)
            .chain(changed)
            .collect();
        let values: Vec<_> = columns
            .iter()
            .map(|column| {
                let found = changed.iter().find(|(name, _)| name == column);
                found.map_or(column.as_str(), |(_, value)| *value)
            })
            .collect();
        let id = OperationId::get(self.operation.id);
        let of_it = match table {
            "operations" => format!("id = {id}"),
            "deliveries" => {
                format!("event_id = (SELECT id FROM events WHERE operation_id = {id})")
            }
            _ => format!("operation_id = {id}"),
        };
        let sql = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM (SELECT * FROM {table} WHERE {of_it}) AS one
             CROSS JOIN {{numbers}}",
            columns.join(", "),
            values.join(", ")
        );
        database
            .execute(fixture, &self.spelled(fixture, database, &sql))
            .await;
    }

    fn spelled(&self, fixture: &Fixture, database: &impl Filling, sql: &str) -> String {
        let now = fixture.now.unix_millis();
        [
            ("{numbers}", database.numbers()),
            ("{id}", database.id("n")),
            ("{event_id}", database.id("n + 1000000")),
            ("{at}", format!("{now} - ({ROWS} - n) * 1000")),
            ("{now}", now.to_string()),
            ("{payer}", database.uuid_of(*self.payer.as_uuid())),
            ("{paused}", database.uuid_of(*self.paused.as_uuid())),
            ("{rare_supplier}", self.rare_supplier.as_str().to_owned()),
            (
                "{rare_supplier_id}",
                database.uuid_of(*self.rare_supplier_id.as_uuid()),
            ),
        ]
        .into_iter()
        .fold(sql.to_owned(), |sql, (name, text)| sql.replace(name, &text))
    }
}

/// Whatever is rare is among the oldest rows: a walk from the newest would read all others first.
const COPIES: [(&str, &[(&str, &str)]); 4] = [
    (
        "operations",
        &[
            ("id", "4000000 + n"),
            (
                "status",
                "CASE WHEN n <= 5 THEN 'TO_APPROVE' ELSE status END",
            ),
            (
                "supplier_id",
                "CASE WHEN n BETWEEN 11 AND 15 THEN {rare_supplier_id} ELSE supplier_id END",
            ),
            (
                "supplier_cnpj",
                "CASE WHEN n BETWEEN 11 AND 15 THEN '{rare_supplier}' ELSE supplier_cnpj END",
            ),
            ("invoice_number", "'LOTE-' || n"),
            ("invoice_number_nfc", "'LOTE-' || n"),
            ("external_reference", "'REF-' || n"),
            ("created_at", "{at}"),
        ],
    ),
    (
        "events",
        &[
            ("id", "{event_id}"),
            ("operation_id", "4000000 + n"),
            ("at", "{at}"),
        ],
    ),
    (
        "deliveries",
        &[
            ("id", "{id}"),
            (
                "endpoint_id",
                "CASE WHEN n BETWEEN 19 AND 20 THEN {paused} ELSE endpoint_id END",
            ),
            ("event_id", "{event_id}"),
            (
                "event_type",
                "CASE WHEN n % 4 = 1 AND n < 20 THEN 'webhook.test'
                      WHEN n % 5 = 0 THEN 'anticipation.paid' ELSE event_type END",
            ),
            (
                "status",
                "CASE WHEN n <= 4 THEN 'FAILED' WHEN n <= 20 THEN 'PENDING' ELSE 'DELIVERED' END",
            ),
            (
                "attempts_made",
                "CASE WHEN n BETWEEN 13 AND 20 THEN 0 ELSE 1 END",
            ),
            // After a failure, overdue, and due in a moment.
            (
                "next_attempt_at",
                "CASE WHEN n BETWEEN 5 AND 12 THEN {now} + 3600000
                      WHEN n BETWEEN 13 AND 16 THEN {now} - 3600000
                      WHEN n BETWEEN 17 AND 20 THEN {now} + 1000 END",
            ),
            ("leased_until", "NULL"),
            ("created_at", "{at}"),
            ("ended_at", "CASE WHEN n <= 4 OR n > 20 THEN {at} + 100 END"),
        ],
    ),
    (
        "notices",
        &[
            ("id", "{id}"),
            (
                "operation_id",
                "CASE WHEN n BETWEEN 21 AND 26 THEN NULL ELSE 4000000 + n END",
            ),
            (
                "kind",
                "CASE WHEN n BETWEEN 21 AND 26 THEN 'ENDPOINT_PAUSED'
                      WHEN n % 5 = 0 THEN 'INVITATION' ELSE 'OFFER' END",
            ),
            (
                "variant",
                "CASE WHEN n BETWEEN 23 AND 24 THEN 'ENDPOINT_FAILING'
                      WHEN n BETWEEN 25 AND 26 THEN 'ENDPOINT_RECOVERED' END",
            ),
            (
                "status",
                "CASE WHEN n <= 4 THEN 'FAILED' WHEN n <= 12 THEN 'CANCELED'
                      WHEN n <= 20 THEN 'PENDING' ELSE 'SENT' END",
            ),
            ("is_suppressed", "n BETWEEN 9 AND 12"),
            ("is_held", "n BETWEEN 17 AND 20"),
            ("staged_at", "{at}"),
            (
                "next_attempt_at",
                "CASE WHEN n BETWEEN 13 AND 20 THEN {now} + 3600000 END",
            ),
            ("leased_until", "NULL"),
            (
                "ended_at",
                "CASE WHEN n <= 12 OR n > 20 THEN {at} + 100 END",
            ),
        ],
    ),
];

/// What differs in an outage.
const OUTAGE: [(&str, &[(&str, &str)]); 2] = [
    (
        "deliveries",
        &[
            (
                "endpoint_id",
                "CASE WHEN n % 2 = 0 THEN {paused} ELSE endpoint_id END",
            ),
            ("status", "'PENDING'"),
            ("attempts_made", "1"),
            ("next_attempt_at", "{now} - 3600000"),
            ("ended_at", "NULL"),
        ],
    ),
    (
        "notices",
        &[
            ("status", "'PENDING'"),
            ("is_suppressed", "FALSE"),
            ("is_held", "n % 2 = 0"),
            ("next_attempt_at", "{now} + 3600000"),
            ("ended_at", "NULL"),
        ],
    ),
];

const MORE: &str = "INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, operation_id,
         version, status, amount_cents, created_at)
     SELECT id, head_office_id, payer_id, supplier_id, id, 1,
         CASE WHEN n <= 3 THEN 'CREATED' WHEN n <= 6 THEN 'UNDER_REVIEW' WHEN n <= 9 THEN 'SCHEDULED'
              WHEN n <= 12 THEN 'CANCELED' WHEN n <= 15 THEN 'REPROVED' ELSE 'PAID' END, 1, {at}
     FROM {numbers} JOIN operations ON id = 4000000 + n;
     INSERT INTO invoices (id, head_office_id, payer_id, supplier_id, amount_cents, due_date, number,
         received_at)
     SELECT id, head_office_id, payer_id, supplier_id, 1, '2027-01-20', 'NF', {at}
     FROM {numbers} JOIN operations ON id = 4000000 + n;
     INSERT INTO audit_log (request_id, at, operator_name, role, address, action, outcome, record,
         company_id)
     SELECT {id}, {at}, CASE WHEN n <= 5 THEN 'ana' ELSE 'root' END, 'ADMIN', '127.0.0.1',
         CASE WHEN n BETWEEN 3 AND 8 THEN 'payOperation' ELSE 'cancelOperation' END, 'DONE',
         'operations/' || (4000000 + n), CASE WHEN n BETWEEN 5 AND 10 THEN {payer} END
     FROM {numbers};
     INSERT INTO suppressed_addresses (id, mailbox, operation_id, suppressed_at)
     SELECT {id}, 'a' || n || '@example.com', 4000000 + n, {at} FROM {numbers};
     UPDATE endpoints SET paused_at = {now} WHERE id = {paused}";
