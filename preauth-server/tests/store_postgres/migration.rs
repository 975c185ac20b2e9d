//! The statements of the step that invites what offers registered.

/// Without a trigger in the way, as in a database that has not taken the step.
pub(crate) const BACKFILL: &str = concat!(
    "DROP TRIGGER operations_invite ON operations;\n",
    include_str!("../../migrations/postgres/0015_invitations_of_offers.sql")
);
