//! The rows of a commit besides the aggregate.

use preauth_core::operation::{Actor, InvoiceFile};
use preauth_core::port::{ActingOperator, Commit, NewMail, NewReply, NewSupplier, Write};
use preauth_core::value::{
    ApiKeyId, CompanyId, OperationId, PaymentOrderId, Phone, Timestamp, UserId, Version,
};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::store::error::WriteError;

use super::super::rows::clamped;
use super::chunks::chunks;

/// Invites a supplier for the head office of the commit. A conflict when the head office has
/// already invited it, or when the first invitation finds its tax id taken.
pub(super) async fn invitation(
    connection: &mut SqliteConnection,
    supplier: &NewSupplier,
    commit: &Commit,
) -> Result<(), WriteError> {
    let at = commit.event.at;
    if supplier.is_first {
        invited_company(connection, supplier, at).await?;
    }
    sqlx::query(
        "INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name,
             contact_email, contact_phone, invited_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .bind(supplier.id.as_uuid().as_bytes().as_slice())
    .bind(commit.write.head_office().as_uuid().as_bytes().as_slice())
    .bind(supplier.name.as_str())
    .bind(supplier.contact_name.as_str())
    .bind(supplier.email.as_str())
    .bind(supplier.phone.as_ref().map(Phone::as_str))
    .bind(at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}

/// The company that invitations and operations refer to: its own head office. It has the tax id in
/// place of a name, because each head office gave it a name of its own.
async fn invited_company(
    connection: &mut SqliteConnection,
    supplier: &NewSupplier,
    at: Timestamp,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at, is_invited)
         VALUES (?1, ?2, ?2, 'SUPPLIER', ?1, ?3, TRUE)",
    )
    .bind(supplier.id.as_uuid().as_bytes().as_slice())
    .bind(supplier.cnpj.as_str())
    .bind(at.unix_millis())
    .execute(connection)
    .await?;
    Ok(())
}

/// Inserts the events. A conflict when the version of an aggregate already has one.
pub(super) async fn events(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<(), WriteError> {
    for chunk in chunks(commits) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO events (id, head_office_id, operation_id, payment_order_id, version, type,
                 at, actor, actor_api_key_id, actor_user_id, body) ",
        );
        query.push_values(chunk, |mut row, commit| {
            let event = &commit.event;
            let (operation, order, version) = aggregate_of(&commit.write);
            let (actor, key, user) = actor_columns(&event.actor);
            row.push_bind(event.id.as_uuid().as_bytes().as_slice())
                .push_bind(commit.write.head_office().as_uuid().as_bytes().as_slice())
                .push_bind(operation.map(OperationId::get))
                .push_bind(order.map(PaymentOrderId::get))
                .push_bind(version.map(Version::get))
                .push_bind(event.event_type.as_str())
                .push_bind(event.at.unix_millis())
                .push_bind(actor)
                .push_bind(key.map(|key| key.as_uuid().as_bytes().as_slice()))
                .push_bind(user.map(|user| user.as_uuid().as_bytes().as_slice()))
                .push_bind(event.body.as_str());
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Adds the events to the lists of the head offices that may read them.
pub(super) async fn feed(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<(), WriteError> {
    let of_commit = |commit: &&'_ Commit| {
        let entries = commit.feed_entries().into_iter();
        entries
            .map(|entry| {
                (
                    commit.event.id,
                    commit.event.event_type,
                    commit.event.at,
                    entry,
                )
            })
            .collect::<Vec<_>>()
    };
    let entries: Vec<_> = commits.iter().flat_map(of_commit).collect();
    for chunk in chunks(&entries) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO event_feed (head_office_id, event_id, type, payer_id, supplier_id, at) ",
        );
        query.push_values(chunk, |mut row, (event, event_type, at, entry)| {
            row.push_bind(entry.head_office.as_uuid().as_bytes().as_slice())
                .push_bind(event.as_uuid().as_bytes().as_slice())
                .push_bind(event_type.as_str())
                .push_bind(entry.payer.as_uuid().as_bytes().as_slice())
                .push_bind(entry.supplier.as_uuid().as_bytes().as_slice())
                .push_bind(at.unix_millis());
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Stores who acted.
pub(super) async fn operator(
    connection: &mut SqliteConnection,
    operator: &ActingOperator,
    commit: &Commit,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO event_operators (event_id, operator_id, name, request_id, address)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(commit.event.id.as_uuid().as_bytes().as_slice())
    .bind(
        operator
            .id
            .as_ref()
            .map(|id| id.as_uuid().as_bytes().as_slice()),
    )
    .bind(operator.name.as_str())
    .bind(operator.request.as_uuid().as_bytes().as_slice())
    .bind(operator.address.to_string())
    .execute(connection)
    .await?;
    Ok(())
}

/// Stores the mails to be sent.
pub(super) async fn mails(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<(), WriteError> {
    let with_mail = commits
        .iter()
        .filter_map(|commit| Some((*commit, commit.mail.as_ref()?)));
    let mails: Vec<(&Commit, &NewMail)> = with_mail.collect();
    for chunk in chunks(&mails) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content,
                 staged_at, next_attempt_at, is_held) ",
        );
        query.push_values(chunk, |mut row, (commit, mail)| {
            let (operation, _, _) = aggregate_of(&commit.write);
            let at = commit.event.at;
            row.push_bind(mail.id.as_uuid().as_bytes().as_slice())
                .push_bind(commit.write.head_office().as_uuid().as_bytes().as_slice())
                .push_bind(operation.map(OperationId::get))
                .push_bind(mail.kind.as_str())
                .push_bind(mail.recipient.as_str())
                .push_bind(mail.content.as_str())
                .push_bind(at.unix_millis())
                .push_bind(mail.held_until.unwrap_or(at).unix_millis())
                .push_bind(mail.held_until.is_some());
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// The reply of an ERP's idempotency key.
pub(super) struct ErpReply<'c> {
    pub(super) reply: &'c NewReply,
    pub(super) head_office: CompanyId,
    pub(super) operation: OperationId,
    pub(super) at: Timestamp,
}

/// Stores replies, also in place of expired ones. A conflict when a key has a valid reply.
pub(super) async fn replies(
    connection: &mut SqliteConnection,
    replies: &[ErpReply<'_>],
) -> Result<(), WriteError> {
    for chunk in chunks(replies) {
        // A reply that expires between the decisions of a group is a conflict for the group, and is
        // replaced by a commit on its own.
        let earliest = chunk.iter().map(|it| it.at).min();
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body,
                 expires_at) ",
        );
        query.push_values(chunk, |mut row, it| {
            let expires_at = it.at.saturating_add(it.reply.retention);
            row.push_bind(it.head_office.as_uuid().as_bytes().as_slice())
                .push_bind(it.reply.key.as_str())
                .push_bind(it.reply.fingerprint.as_bytes().as_slice())
                .push_bind(it.operation.get())
                .push_bind(it.reply.body.as_str())
                .push_bind(expires_at.unix_millis());
        });
        query
            .push(
                " ON CONFLICT (head_office_id, key) DO UPDATE
                  SET fingerprint = excluded.fingerprint, operation_id = excluded.operation_id,
                      body = excluded.body, expires_at = excluded.expires_at
                  WHERE idempotency_replies.expires_at <= ",
            )
            .push_bind(earliest.map(Timestamp::unix_millis));
        let done = query.build().execute(&mut *connection).await?;
        if usize::try_from(done.rows_affected()).ok() != Some(chunk.len()) {
            return Err(WriteError::Conflict);
        }
    }
    Ok(())
}

/// Inserts the description of an offer's invoice file.
pub(super) async fn file(
    connection: &mut SqliteConnection,
    file: &InvoiceFile,
    operation: OperationId,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(operation.get())
    .bind(file.name.as_str())
    .bind(file.media_type.as_str())
    .bind(clamped(file.size))
    .bind(file.sha256.as_slice())
    .execute(connection)
    .await?;
    Ok(())
}

/// The aggregate of an event and its new version; `None` for an event without an aggregate.
const fn aggregate_of(
    write: &Write,
) -> (Option<OperationId>, Option<PaymentOrderId>, Option<Version>) {
    match write {
        Write::NewOperation(operation) | Write::Operation { operation, .. } => {
            (Some(operation.id), None, Some(operation.version))
        }
        Write::NewOrder { order, .. } | Write::Order(order) => {
            (None, Some(order.id), Some(order.version))
        }
        Write::NewInvoice(_) | Write::EventOnly { .. } => (None, None, None),
    }
}

const fn actor_columns(actor: &Actor) -> (&'static str, Option<&ApiKeyId>, Option<&UserId>) {
    let (key, user) = match actor {
        Actor::ApiKey { key, user } => (Some(key), Some(user)),
        Actor::Company | Actor::Supplier | Actor::Platform | Actor::System => (None, None),
    };
    (actor.kind().as_str(), key, user)
}
