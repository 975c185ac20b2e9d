//! The platform API's idempotency keys of a group of commits: they are locked, and their replies
//! stored.

use preauth_core::port::NewReply;
use preauth_core::value::Timestamp;

use super::super::statement::{Statement, rows};

rows! {
    /// The reply of an idempotency key of the platform API.
    PlatformReply, PlatformReplies as "platform_reply" {
        n: i32,
        key: &'a str,
        fingerprint: &'a [u8],
        body: &'a str,
        expires_at: i64,
        at: i64,
    }
}

impl<'a> PlatformReplies<'a> {
    pub(super) fn add(&mut self, n: i32, reply: &'a NewReply, at: Timestamp) {
        self.push(PlatformReply {
            n,
            key: reply.key.as_str(),
            fingerprint: reply.fingerprint.as_bytes().as_slice(),
            body: &reply.body,
            expires_at: at.saturating_add(reply.retention).unix_millis(),
            at: at.unix_millis(),
        });
    }

    /// Locks each key until the transaction ends. A key that another instance holds at this moment
    /// is not waited for: all following parts leave its commit out.
    pub(super) fn enter(self, statement: &mut Statement) -> bool {
        if !self.source(statement) {
            return false;
        }
        statement.part(
            "kept_out AS MATERIALIZED (
                 SELECT n FROM platform_reply
                 WHERE NOT pg_try_advisory_xact_lock(hashtextextended('platform ' || key, 0)))",
        );
        statement.leave_out("kept_out");
        true
    }
}

/// Stores the replies of the written commits, also in place of expired ones. The whole statement
/// fails with a conflict when a key has a valid reply.
pub(super) fn remember_platform_replies(statement: &mut Statement) {
    statement.part(
        "forgotten AS (
             DELETE FROM platform_replies p USING platform_reply r
             WHERE p.key = ANY (ARRAY[r.key]) AND p.expires_at <= r.at
             RETURNING p.key)",
    );
    // The count makes the deletion of expired replies run before their keys are inserted again.
    statement.part(
        "platform_remembered AS (
             INSERT INTO platform_replies (key, fingerprint, body, expires_at)
             SELECT key, fingerprint, body, expires_at FROM platform_reply
             WHERE n IN (SELECT n FROM written) AND (SELECT count(*) FROM forgotten) >= 0)",
    );
}
