//! The settings of a record, for the audit log: no secrets and no personal data.
//!
//! Read in the transaction that changes them, before and after it does. Two changes of one setting that are
//! committed at the same moment may both name the value before them.

use uuid::Uuid;

use crate::directory::Change;
use crate::store::error::WriteError;
use crate::store::rows::{Columns, Corrupt};

use super::super::{Row, Session, query};

/// A setting with its value, if it has one.
pub(super) type Setting = (&'static str, Option<String>);

/// Stands for a value that this build cannot read.
const UNREADABLE: &str = "unreadable";

/// A kind of record with settings.
struct Kind {
    prefix: &'static str,
    statement: &'static str,
    settings: &'static [(&'static str, &'static str, Type)],
}

/// The type of a column.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Whole,
    Cents,
    Moment,
    Flag,
    /// The origin of a URL: paths of receivers may hold secrets.
    Origin,
}

use Type::{Cents, Flag, Moment, Origin, Text, Whole};

const KINDS: [Kind; 4] = [
    Kind {
        prefix: "companies/",
        statement:
            "SELECT c.name, c.kind, c.suspended_at, a.max_term_days, a.max_invoice_amount_cents,
                           e.url, e.events, e.paused_at
                    FROM companies c
                    LEFT JOIN credit_analyses a ON a.head_office_id = c.id
                    LEFT JOIN endpoints e ON e.head_office_id = c.id AND e.deleted_at IS NULL
                    WHERE c.id = $1",
        settings: &[
            ("name", "name", Text),
            ("kind", "kind", Text),
            ("suspendedAt", "suspended_at", Moment),
            ("maxTermDays", "max_term_days", Whole),
            ("maxInvoiceAmount", "max_invoice_amount_cents", Cents),
            ("webhookOrigin", "url", Origin),
            ("webhookEvents", "events", Text),
            ("webhookPausedAt", "paused_at", Moment),
        ],
    },
    Kind {
        prefix: "users/",
        statement: "SELECT permissions, active FROM users WHERE id = $1",
        settings: &[
            ("permissions", "permissions", Text),
            ("active", "active", Flag),
        ],
    },
    Kind {
        prefix: "api-keys/",
        statement: "SELECT scopes, expires_at, revoked_at FROM api_keys WHERE id = $1",
        settings: &[
            ("scopes", "scopes", Text),
            ("expiresAt", "expires_at", Moment),
            ("revokedAt", "revoked_at", Moment),
        ],
    },
    Kind {
        prefix: "operators/",
        statement: "SELECT name, role, valid_until, revoked_at FROM operators WHERE id = $1",
        settings: &[
            ("name", "name", Text),
            ("role", "role", Text),
            ("validUntil", "valid_until", Moment),
            ("revokedAt", "revoked_at", Moment),
        ],
    },
];

/// The settings of a record; none for a kind without settings, or a record that does not exist.
pub(super) async fn read(
    session: &mut dyn Session,
    record: &str,
) -> Result<Vec<Setting>, WriteError> {
    let id_of = |kind: &Kind| record.strip_prefix(kind.prefix)?.parse::<Uuid>().ok();
    let mut kinds = KINDS.iter();
    let Some((kind, id)) = kinds.find_map(|kind| Some((kind, id_of(kind)?))) else {
        return Ok(Vec::new());
    };
    let row = query(kind.statement)
        .bind(id)
        .fetch_optional(session)
        .await?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let settings = kind.settings.iter();
    let read = settings.map(|(name, column, of_type)| {
        let value = value(&row, column, *of_type);
        // A setting that nobody can read does not keep an operator from replacing it.
        (*name, value.unwrap_or_else(|_| Some(UNREADABLE.to_owned())))
    });
    Ok(read.collect())
}

fn value(row: &Row, column: &'static str, of_type: Type) -> Result<Option<String>, Corrupt> {
    let columns = Columns::of("audit_log", row);
    Ok(match of_type {
        Text => columns.raw::<Option<String>>(column)?,
        Origin => columns
            .raw::<Option<String>>(column)?
            .map(|url| origin(&url)),
        Whole => columns.raw::<Option<i64>>(column)?.map(|it| it.to_string()),
        Cents => columns.optional_money(column)?.map(|it| it.to_string()),
        Moment => columns.optional_timestamp(column)?.map(|it| it.to_string()),
        Flag => columns
            .raw::<Option<bool>>(column)?
            .map(|it| it.to_string()),
    })
}

fn origin(url: &str) -> String {
    let parsed = url::Url::parse(url);
    parsed.map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}

/// The settings that differ.
pub(super) fn changes(before: &[Setting], after: &[Setting]) -> Vec<Change> {
    let all = if after.is_empty() { before } else { after };
    let of = |settings: &[Setting], name: &str| {
        let found = settings.iter().find(|(it, _)| *it == name);
        found.and_then(|(_, value)| value.clone())
    };
    let changes = all.iter().map(|(name, _)| Change {
        setting: (*name).to_owned(),
        before: of(before, name),
        after: of(after, name),
    });
    changes.filter(|it| it.before != it.after).collect()
}
