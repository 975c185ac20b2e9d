//! The statements of the migration that turns registrations by offers into invitations.

/// Without its trigger, as in a database before the migration.
pub(crate) const BACKFILL: &str = concat!(
    "DROP TRIGGER operations_invite ON operations;\n",
    include_str!("../../migrations/postgres/0015_invitations_of_offers.sql")
);
