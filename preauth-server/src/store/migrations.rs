//! The embedded migrations, from an empty database to this build's schema.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType};

/// The first line of a migration that cannot run in a transaction, e.g. because it builds an index
/// concurrently.
const NO_TRANSACTION: &str = "-- no-transaction";

/// The migrations in a database's folder, oldest first: their versions and files.
macro_rules! migrations {
    ($folder:literal) => {
        migrations! { $folder
            1 "0001_companies"
            2 "0002_operations"
            3 "0003_events"
            4 "0004_invoices"
            5 "0005_operation_counts"
            6 "0006_schema_compatibility"
            7 "0007_endpoint_resumption"
            8 "0008_operation_count_changes"
            9 "0009_platform_replies"
            11 "0011_deployment"
            12 "0012_id_lineages"
            13 "0013_legal_entities_and_numbers"
            14 "0014_supplier_invitations"
            15 "0015_invitations_of_offers"
            16 "0016_invoice_file_bytes"
            17 "0017_rate_counts"
            18 "0018_joined_mails"
            19 "0019_suspensions"
            20 "0020_invoice_file_bytes_before"
            21 "0021_mail_queue"
            22 "0022_mail_turns"
            23 "0023_oldest_supported"
            24 "0024_lean_rows"
            25 "0025_operators"
            26 "0026_event_operators"
            27 "0027_audit_log"
            28 "0028_console"
            29 "0029_portal"
            30 "0030_audit_seals"
            31 "0031_event_feed"
            32 "0032_attention"
            33 "0033_personal_data"
            34 "0034_reports"
            35 "0035_failing_endpoints"
            36 "0036_lists"
        }
    };
    ($folder:literal $($version:literal $file:literal)+) => {
        vec![$(migration(
            $version,
            $file,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/migrations/", $folder, "/", $file, ".sql"
            )),
        )),+]
    };
}

pub(super) fn of_sqlite() -> Vec<Migration> {
    migrations!("sqlite")
}

pub(super) fn of_postgres() -> Vec<Migration> {
    migrations!("postgres")
}

/// The tables that migrations create and do not drop, read from their text.
pub(super) fn tables(steps: &[Migration]) -> BTreeSet<String> {
    let mut tables = BTreeSet::new();
    for line in steps.iter().flat_map(|step| step.sql.as_str().lines()) {
        let mut words = line.split_whitespace().map(|word| {
            let name = word.split(['(', ';']).next();
            name.unwrap_or_default()
        });
        let verb = words.next().unwrap_or_default();
        let mut rest = words.skip_while(|word| *word == "UNLOGGED");
        if rest.next() != Some("TABLE") {
            continue;
        }
        let condition = ["IF", "NOT", "EXISTS"];
        let Some(name) = rest.find(|word| !condition.contains(word)) else {
            continue;
        };
        match verb {
            "CREATE" => drop(tables.insert(name.to_owned())),
            "DROP" => drop(tables.remove(name)),
            _ => {}
        }
    }
    tables
}

/// A published migration never changes: the database stores its checksum.
pub(super) fn migration(version: i64, file: &'static str, sql: &'static str) -> Migration {
    let kind = MigrationType::Simple;
    let no_transaction = sql.starts_with(NO_TRANSACTION);
    let name = file.split_once('_').map_or(file, |(_, name)| name);
    Migration::new(
        version,
        Cow::Borrowed(name),
        kind,
        sql.into_sql_str(),
        no_transaction,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_migrations_run_without_a_transaction() {
        assert!(!migration(1, "a", "-- Why.\nSELECT 1").no_tx);
        assert!(migration(2, "b", "-- no-transaction\n-- Why.\nSELECT 1").no_tx);
    }
}
