//! The idempotency keys of a group of commits: they are locked, and their replies stored.

use preauth_core::port::NewReply;
use preauth_core::value::{CompanyId, OperationId, Timestamp};
use uuid::Uuid;

use super::super::statement::{Statement, rows};

rows! {
    /// The reply of an idempotency key.
    Reply, Replies as "reply" {
        n: i32,
        head_office_id: Uuid,
        key: &'a str,
        fingerprint: &'a [u8],
        operation_id: i64,
        body: &'a str,
        expires_at: i64,
        at: i64,
    }
}

impl<'a> Replies<'a> {
    pub(super) fn add(
        &mut self,
        n: i32,
        operation: OperationId,
        head_office: CompanyId,
        reply: &'a NewReply,
        at: Timestamp,
    ) {
        self.push(Reply {
            n,
            head_office_id: *head_office.as_uuid(),
            key: reply.key.as_str(),
            fingerprint: reply.fingerprint.as_bytes().as_slice(),
            operation_id: operation.get(),
            body: &reply.body,
            expires_at: at.saturating_add(reply.retention).unix_millis(),
            at: at.unix_millis(),
        });
    }

    /// Locks each key until the transaction ends, and stores its reply, also in place of an expired
    /// one. A key with a valid reply is left out of `remembered`.
    ///
    /// A key that another instance holds at this moment is not waited for, because equal requests
    /// could delay all others. Two keys with the same hash delay each other for a moment only.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "entering AS MATERIALIZED (
                 SELECT *, pg_try_advisory_xact_lock(
                     hashtextextended(head_office_id || ' ' || key, 0)) AS is_inside
                 FROM reply)",
        );
        statement.part(
            "remembered AS (
                 INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id,
                     body, expires_at)
                 SELECT head_office_id, key, fingerprint, operation_id, body, expires_at
                 FROM entering WHERE is_inside AND n NOT IN (SELECT n FROM waiting)
                 ON CONFLICT (head_office_id, key) DO UPDATE
                 SET fingerprint = excluded.fingerprint, operation_id = excluded.operation_id,
                     body = excluded.body, expires_at = excluded.expires_at
                 WHERE idempotency_replies.expires_at
                     <= (SELECT r.at FROM reply r WHERE r.operation_id = excluded.operation_id)
                 RETURNING operation_id)",
        );
    }
}
