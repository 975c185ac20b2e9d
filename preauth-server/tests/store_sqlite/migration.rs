//! The statements of the migration that turns registrations by offers into invitations.

/// Without its trigger, as in a database before the migration.
pub(crate) const BACKFILL: &str = concat!(
    "DROP TRIGGER IF EXISTS operations_invite;\n",
    include_str!("../../migrations/sqlite/0015_invitations_of_offers.sql")
);
