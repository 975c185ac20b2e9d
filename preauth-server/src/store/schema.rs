//! Which schemas a build supports: its own, and newer ones with only compatible migrations since.
//!
//! Most migrations are compatible: what an older build reads and writes stays unchanged. An
//! incompatible migration records, in its own SQL, the oldest migration that a build must know from
//! then on.

use sqlx::migrate::{AppliedMigration, Migration};
use thiserror::Error;

/// The table with the applied migrations.
pub(super) const STEPS_TABLE: &str = "_sqlx_migrations";
/// The table with a sandbox's mark, which is made before the first migration.
pub(super) const SANDBOX_TABLE: &str = "preauth_sandbox";
/// Exists in a PostgreSQL database from the first step of a restore until it is complete.
pub(super) const RESTORE_TABLE: &str = "preauth_restore";
/// Migrations that were changed without changing their effect: version and checksum of the former text.
const FORMER: [(i64, &str); 4] = [
    // All invitations in one transaction.
    (
        15,
        "1b392333dae2df28eadb856027ad1215fb11f6453f85d325a22e199426fe7f44\
         25993c0ef4b029414bc44af9bba9a0ec",
    ),
    // With what is now step 24, in one transaction; on PostgreSQL and on SQLite.
    (
        23,
        "c7622fa740ff30e1482ab49f3880ea7167b39bae42c1dab7\
         f885b4a58482bbdc4476a067504fcc87bf8b437ac70ba858",
    ),
    (
        23,
        "bf83254c6a92ff9bd47d4c99373972400151784517d44cb7\
         fa8b0fa7d0f9317885a78775e1e6f165dd4e47db9d87d4af",
    ),
    // With another kind of index for the time of operations, on PostgreSQL.
    (
        28,
        "2d14ed36855e14107b987d45253c229a91aa451d0f59b927\
         b4b40175e9dfa980d387ffff9a94e8870f79506777793d59",
    ),
];

/// Why a build does not support a database's schema; each text names the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaMismatch {
    /// Migrations of this build are missing.
    #[error("its schema is older than this build; run `preauth-server migrate` of this build")]
    Older,
    /// A newer build applied a migration that this one does not support.
    #[error(
        "its schema is too new for this build; use a newer version of the server: there is no way back to an \
         older schema but to restore a backup from before the upgrade"
    )]
    Newer,
    /// A known migration was applied in another form.
    #[error("its schema was made by a different build; use the version of the server that made it")]
    Different,
    /// A restore has begun and not ended.
    #[error(
        "a restore into it is under way or was interrupted, and it is not complete; run `preauth-server \
         restore` again, or drop the database"
    )]
    HalfRestored,
    /// The database has tables, and none of them is this service's.
    #[error(
        "it has tables of another program ({table} is one), and nothing in it was changed; choose another \
         database, or make an empty one (on PostgreSQL `createdb --owner USER NAME`)"
    )]
    Foreign {
        /// One of them.
        table: String,
    },
}

/// What there is to migrate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSteps {
    /// The newest migration that was applied; `None` without any.
    pub newest: Option<i64>,
    /// The numbers and names of those that are missing.
    pub steps: Vec<(i64, String)>,
}

impl PendingSteps {
    pub(super) fn of(
        known: &[Migration],
        taken: &[AppliedMigration],
        oldest_supported: Option<i64>,
    ) -> Result<Self, SchemaMismatch> {
        let pending = pending(known, taken, oldest_supported)?;
        let named = |step: &&Migration| (step.version, step.description.to_string());
        Ok(Self {
            newest: taken.iter().map(|step| step.version).max(),
            steps: pending.iter().map(named).collect(),
        })
    }
}

/// Whether the database has migrations that this build does not know. Only then the oldest
/// supported migration matters.
pub(super) fn has_unknown(known: &[Migration], taken: &[AppliedMigration]) -> bool {
    let is_known = |version| known.iter().any(|step| step.version == version);
    !taken.iter().all(|step| is_known(step.version))
}

/// The migrations that are still to be applied, unless this build cannot support the database.
///
/// `oldest_supported` is the oldest migration that a build must know, if the database records one.
pub(super) fn pending<'a>(
    known: &'a [Migration],
    taken: &[AppliedMigration],
    oldest_supported: Option<i64>,
) -> Result<Vec<&'a Migration>, SchemaMismatch> {
    let newest_known = known.iter().map(|step| step.version).max();
    let is_supported =
        oldest_supported.is_some_and(|oldest| newest_known.is_some_and(|newest| oldest <= newest));
    if has_unknown(known, taken) && !is_supported {
        return Err(SchemaMismatch::Newer);
    }
    let mut pending = Vec::new();
    for step in known {
        match taken.iter().find(|it| it.version == step.version) {
            Some(taken) if taken.checksum == step.checksum || is_former(taken) => {}
            Some(_) => return Err(SchemaMismatch::Different),
            None => pending.push(step),
        }
    }
    Ok(pending)
}

fn is_former(taken: &AppliedMigration) -> bool {
    let checksum = taken.checksum.iter().map(|byte| format!("{byte:02x}"));
    FORMER.contains(&(taken.version, checksum.collect::<String>().as_str()))
}

/// Whether this build supports the database without migration.
pub(super) fn check(
    known: &[Migration],
    taken: &[AppliedMigration],
    oldest_supported: Option<i64>,
) -> Result<(), SchemaMismatch> {
    if pending(known, taken, oldest_supported)?.is_empty() {
        Ok(())
    } else {
        Err(SchemaMismatch::Older)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::store::migrations::migration;

    fn known(versions: &[i64]) -> Vec<Migration> {
        let step = |version: &i64| migration(*version, "step", "SELECT 1");
        versions.iter().map(step).collect()
    }

    fn taken(versions: &[i64]) -> Vec<AppliedMigration> {
        let steps = known(versions).into_iter();
        let taken = steps.map(|step| AppliedMigration {
            version: step.version,
            checksum: step.checksum,
        });
        taken.collect()
    }

    #[test]
    fn a_build_works_on_exactly_its_own_schema() {
        assert_eq!(check(&known(&[1, 2]), &taken(&[1, 2]), None), Ok(()));
    }

    #[test]
    fn a_build_needs_every_step_of_its_own() {
        let older = check(&known(&[1, 2, 3]), &taken(&[1, 3]), Some(1));
        assert_eq!(older, Err(SchemaMismatch::Older));
        let empty = check(&known(&[1]), &[], None);
        assert_eq!(empty, Err(SchemaMismatch::Older));
    }

    #[test]
    fn a_build_works_on_a_newer_schema_that_still_supports_it() {
        let newer = taken(&[1, 2, 3, 4]);
        assert_eq!(check(&known(&[1, 2]), &newer, Some(2)), Ok(()));
        let contracted = check(&known(&[1, 2]), &newer, Some(3));
        assert_eq!(contracted, Err(SchemaMismatch::Newer));
    }

    #[test]
    fn a_newer_schema_that_records_no_oldest_step_supports_no_older_build() {
        let unrecorded = check(&known(&[1, 2]), &taken(&[1, 2, 3]), None);
        assert_eq!(unrecorded, Err(SchemaMismatch::Newer));
    }

    #[test]
    fn a_known_step_in_another_form_is_refused() {
        let mut other = taken(&[1, 2]);
        other[1].checksum = Cow::Borrowed(b"other");
        let different = check(&known(&[1, 2]), &other, Some(1));
        assert_eq!(different, Err(SchemaMismatch::Different));
    }

    #[test]
    fn a_step_that_was_taken_in_its_former_form_is_taken() {
        let mut former = taken(&[1, 15]);
        let (_, checksum) = FORMER[0];
        let digits = |at| u8::from_str_radix(&checksum[at..at + 2], 16).unwrap();
        let checksum: Vec<u8> = (0..checksum.len()).step_by(2).map(digits).collect();
        former[1].checksum = checksum.into();
        assert_eq!(check(&known(&[1, 15]), &former, Some(1)), Ok(()));
        former.swap(0, 1);
        (former[0].version, former[1].version) = (1, 15);
        let different = check(&known(&[1, 15]), &former, Some(1));
        assert_eq!(different, Err(SchemaMismatch::Different));
    }
}
