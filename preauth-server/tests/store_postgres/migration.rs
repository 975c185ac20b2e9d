//! The statements of the migration that turns registrations by offers into invitations.

/// With what it needs of the migration before it, which a later one removes.
pub(crate) const BACKFILL: &str = concat!(
    "CREATE OR REPLACE FUNCTION record_invitations() RETURNS TRIGGER LANGUAGE plpgsql AS
         $$ BEGIN RETURN NULL; END $$;\n",
    include_str!("../../migrations/postgres/0015_invitations_of_offers.sql")
);
