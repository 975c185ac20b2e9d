//! A company's history, loaded in bulk.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::runtime::Builder;

use crate::company;
use crate::scene::Scene;

/// One operation in 500 has the rare status: a page of a company with 10,000.
const RARE: u64 = 500;
/// Two days ago, in milliseconds since 1970: not old enough to be removed, too old for the limits of today's mails.
const SENT: &str = "(extract(epoch FROM now()) * 1000)::BIGINT - 172800000";

/// Adds operations, with all rows that they leave behind once their events and mails are sent. Foreign
/// keys and triggers take most of the time, so they are switched off; the counts that triggers keep
/// are written here.
pub(crate) fn fill(scene: &Scene, operations: u64) {
    let (payer, supplier, cnpj) = (&scene.payer.id, &scene.supplier, company::supplier_cnpj());
    scene.cluster().sql(&format!(
        "SET session_replication_role = replica;
         CREATE TEMPORARY TABLE added AS
             SELECT nextval('operation_ids') AS id FROM generate_series(1, {operations});
         -- In order of time, like the server's own ids.
         ALTER TABLE added ADD COLUMN key UUID GENERATED ALWAYS AS
             (('01900000' || lpad(to_hex(id), 24, '0'))::UUID) STORED;
         INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
             expires_at, created_at, closing_action)
         SELECT id, '{payer}', '{payer}', '{supplier}', '{cnpj}', 1, 'PRE_AUTH', status, 100000, 0,
             '2027-01-31', 'L-' || id, 4000000000000, 1,
             CASE WHEN status = 'REPROVED' THEN 'CANCEL' END
         FROM (SELECT id, CASE WHEN id % {RARE} = 0 THEN 'TO_PAY' WHEN id % 3 = 0 THEN 'REPROVED'
                         ELSE 'IN_PRE_AUTH' END AS status
               FROM added) AS numbered;
         INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body,
             expires_at)
         SELECT '{payer}', 'filled-' || id, sha256(int8send(id)), id, '{{}}', 4000000000000 FROM added;
         INSERT INTO events (id, head_office_id, operation_id, version, type, at, actor,
             actor_api_key_id, actor_user_id, body)
         SELECT key, '{payer}', id, 1, 'pre_authorization.created', 1, 'API_KEY', '{payer}',
             '{payer}', '{{}}'
         FROM added;
         INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             created_at, ended_at)
         SELECT key, '{payer}', e.id, key, 'pre_authorization.created', 'DELIVERED', {SENT}, {SENT}
         FROM added, (SELECT id FROM endpoints WHERE deleted_at IS NULL LIMIT 1) AS e;
         INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content, staged_at,
             status, ended_at)
         SELECT key, '{payer}', id, 'OFFER', 'financeiro0@fornecedor.com.br', '{{}}', {SENT}, 'SENT', {SENT}
         FROM added;
         DELETE FROM operation_counts;
         INSERT INTO operation_counts (head_office_id, payer_id, status, slot, count)
         SELECT head_office_id, payer_id, status, 0, count(*) FROM operations
         GROUP BY head_office_id, payer_id, status;"
    ));
    scene.cluster().sql("VACUUM ANALYZE");
    scene.cluster().sql("CHECKPOINT");
}

/// Adds operations to a scene on SQLite, whose lists read nothing else: the triggers count them.
pub(crate) fn fill_sqlite(scene: &mut Scene, operations: u64) {
    scene.servers.clear();
    let (payer, supplier) = (hex(&scene.payer.id), hex(&scene.supplier));
    let cnpj = company::supplier_cnpj();
    let filling = format!(
        "INSERT INTO operations (id, head_office_id, payer_id, supplier_id, supplier_cnpj, version,
             origin, status, amount_cents, withheld_tax_cents, due_date, invoice_number,
             expires_at, created_at, closing_action)
         WITH RECURSIVE added (id) AS (
             SELECT 1 UNION ALL SELECT id + 1 FROM added WHERE id < {operations}),
         numbered AS (
             SELECT id, CASE WHEN id % {RARE} = 0 THEN 'TO_PAY' WHEN id % 3 = 0 THEN 'REPROVED'
                        ELSE 'IN_PRE_AUTH' END AS status
             FROM added)
         SELECT id, x'{payer}', x'{payer}', x'{supplier}', '{cnpj}', 1, 'PRE_AUTH', status, 100000, 0,
             '2027-01-31', 'L-' || id, 4000000000000, 1,
             CASE WHEN status = 'REPROVED' THEN 'CANCEL' END
         FROM numbered;"
    );
    let options = SqliteConnectOptions::new().filename(scene.file());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let filled = runtime.block_on(async {
        let mut connection = options.connect().await?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(filling))
            .execute(&mut connection)
            .await?;
        connection.close().await
    });
    filled.unwrap();
    scene.start(1);
}

/// The id as SQLite keeps it: a blob.
fn hex(id: &str) -> String {
    id.replace('-', "")
}
