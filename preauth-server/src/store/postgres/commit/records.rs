//! The rows of a group of commits besides the aggregates.

use preauth_core::operation::{Actor, InvoiceFile, Operation};
use preauth_core::port::{ActingOperator, Commit, NewDelivery, NewMail, NewSupplier, Write};
use preauth_core::value::{ApiKeyId, OperationId, PaymentOrderId, Phone, UserId, Version};
use uuid::Uuid;

use super::super::rows::clamped;
use super::super::statement::{Statement, rows};

rows! {
    /// A supplier that an offer invites for its head office.
    Supplier, Suppliers as "supplier" {
        n: i32,
        id: Uuid,
        head_office_id: Uuid,
        is_first: bool,
        cnpj: &'a str,
        name: &'a str,
        contact_name: &'a str,
        contact_email: &'a str,
        contact_phone: Option<&'a str>,
        created_at: i64,
    }
}

rows! {
    /// The event that reports a change.
    Event, Events as "event" {
        n: i32,
        id: Uuid,
        head_office_id: Uuid,
        operation_id: Option<i64>,
        payment_order_id: Option<i64>,
        version: Option<i64>,
        kind: &'a str,
        at: i64,
        actor: &'a str,
        actor_api_key_id: Option<Uuid>,
        actor_user_id: Option<Uuid>,
        body: &'a str,
    }
}

rows! {
    /// The operator who caused the event.
    EventOperator, EventOperators as "event_operator" {
        n: i32,
        event_id: Uuid,
        operator_id: Option<Uuid>,
        name: &'a str,
        request_id: Uuid,
        address: String,
    }
}

rows! {
    /// A delivery of a commit's event to one endpoint.
    Delivery, Deliveries as "delivery" {
        n: i32,
        id: Uuid,
        endpoint_id: Uuid,
        event_id: Uuid,
        event_type: &'a str,
        at: i64,
        lease: Option<i64>,
        leased_at: Option<i64>,
    }
}

rows! {
    /// A mail to be sent later.
    Mail, Mails as "mail" {
        n: i32,
        id: Uuid,
        head_office_id: Uuid,
        operation_id: Option<i64>,
        kind: &'a str,
        recipient: &'a str,
        content: &'a str,
        staged_at: i64,
        due_at: i64,
        is_held: bool,
    }
}

rows! {
    /// The description of an offer's invoice file.
    File, Files as "file" {
        n: i32,
        operation_id: i64,
        name: &'a str,
        media_type: &'a str,
        size_bytes: i64,
        sha256: &'a [u8],
    }
}

impl<'a> Suppliers<'a> {
    pub(super) fn add(&mut self, n: i32, supplier: &'a NewSupplier, commit: &'a Commit) {
        self.push(Supplier {
            n,
            id: *supplier.id.as_uuid(),
            head_office_id: *commit.write.head_office().as_uuid(),
            is_first: supplier.is_first,
            cnpj: supplier.cnpj.as_str(),
            name: supplier.name.as_str(),
            contact_name: supplier.contact_name.as_str(),
            contact_email: supplier.email.as_str(),
            contact_phone: supplier.phone.as_ref().map(Phone::as_str),
            created_at: commit.event.at.unix_millis(),
        });
    }

    /// Invites the suppliers of new operations. The whole statement fails with a conflict when the
    /// head office has already invited one, or when a first invitation finds the tax id taken. The
    /// company's row has the tax id in place of a name.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "new_company AS (
                 INSERT INTO companies (id, cnpj, name, kind, head_office_id, created_at, is_invited)
                 SELECT id, cnpj, cnpj, 'SUPPLIER', id, created_at, TRUE
                 FROM supplier WHERE is_first AND n IN (SELECT n FROM written))",
        );
        statement.part(
            "invited AS (
                 INSERT INTO supplier_invitations (supplier_id, head_office_id, name, contact_name,
                     contact_email, contact_phone, invited_at)
                 SELECT id, head_office_id, name, contact_name, contact_email, contact_phone,
                     created_at
                 FROM supplier WHERE n IN (SELECT n FROM written))",
        );
    }
}

impl<'a> Events<'a> {
    pub(super) fn add(&mut self, n: i32, commit: &'a Commit) {
        let event = &commit.event;
        let (operation, order, version) = aggregate_of(&commit.write);
        let (actor, key, user) = actor_columns(&event.actor);
        self.push(Event {
            n,
            id: *event.id.as_uuid(),
            head_office_id: *commit.write.head_office().as_uuid(),
            operation_id: operation.map(OperationId::get),
            payment_order_id: order.map(PaymentOrderId::get),
            version: version.map(Version::get),
            kind: event.event_type.as_str(),
            at: event.at.unix_millis(),
            actor,
            actor_api_key_id: key.map(|key| *key.as_uuid()),
            actor_user_id: user.map(|user| *user.as_uuid()),
            body: &event.body,
        });
    }

    /// The part `announced`: events without an aggregate, which have no version to conflict with.
    pub(super) fn announce(statement: &mut Statement) {
        statement.part(
            "announced AS (
                 SELECT n FROM event
                 WHERE version IS NULL AND n NOT IN (SELECT n FROM waiting))",
        );
    }
}

/// Records the events of the written commits. The whole statement fails with a conflict when an
/// aggregate's version already has one.
pub(super) fn record_events(statement: &mut Statement) {
    statement.part(
        "recorded AS (
             INSERT INTO events (id, head_office_id, operation_id, payment_order_id, version, type,
                 at, actor, actor_api_key_id, actor_user_id, body)
             SELECT id, head_office_id, operation_id, payment_order_id, version, kind, at, actor,
                 actor_api_key_id, actor_user_id, body
             FROM event WHERE n IN (SELECT n FROM written))",
    );
}

impl<'a> EventOperators<'a> {
    pub(super) fn add(&mut self, n: i32, operator: &'a ActingOperator, commit: &Commit) {
        self.push(EventOperator {
            n,
            event_id: *commit.event.id.as_uuid(),
            operator_id: operator.id.map(|id| *id.as_uuid()),
            name: operator.name.as_str(),
            request_id: *operator.request.as_uuid(),
            address: operator.address.to_string(),
        });
    }

    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "signed AS (
                 INSERT INTO event_operators (event_id, operator_id, name, request_id, address)
                 SELECT event_id, operator_id, name, request_id, address
                 FROM event_operator WHERE n IN (SELECT n FROM written))",
        );
    }
}

impl Deliveries<'_> {
    /// With the duration of its lease, if it has one, and the service's time, in milliseconds.
    pub(super) fn add(
        &mut self,
        n: i32,
        delivery: NewDelivery,
        lease: Option<(i64, i64)>,
        commit: &Commit,
    ) {
        self.push(Delivery {
            n,
            id: *delivery.id.as_uuid(),
            endpoint_id: *delivery.endpoint.as_uuid(),
            event_id: *commit.event.id.as_uuid(),
            event_type: commit.event.event_type.as_str(),
            at: commit.event.at.unix_millis(),
            lease: lease.map(|(lease, _)| lease),
            leased_at: lease.map(|(_, now)| now),
        });
    }

    /// Adds deliveries to endpoints, due now; a deleted endpoint gets none. Those with a lease have it
    /// from the beginning, unless the endpoint is paused or slow.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "addressed AS (
                 INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type,
                     status, next_attempt_at, created_at, lease_token, leased_until)
                 SELECT d.id, e.head_office_id, e.id, d.event_id, d.event_type, 'PENDING', d.at,
                     d.at,
                     CASE WHEN e.is_ready AND d.lease IS NOT NULL
                          THEN nextval('lease_tokens') ELSE 0 END,
                     CASE WHEN e.is_ready
                          THEN (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT + d.lease END
                 FROM delivery d JOIN free_endpoint e ON e.id = d.endpoint_id
                 WHERE d.n IN (SELECT n FROM written)
                 RETURNING id, endpoint_id, created_at, lease_token, leased_until)",
        );
    }
}

impl<'a> Mails<'a> {
    pub(super) fn add(&mut self, n: i32, mail: &'a NewMail, commit: &'a Commit) {
        let (operation, _, _) = aggregate_of(&commit.write);
        let staged_at = commit.event.at;
        self.push(Mail {
            n,
            id: *mail.id.as_uuid(),
            head_office_id: *commit.write.head_office().as_uuid(),
            operation_id: operation.map(OperationId::get),
            kind: mail.kind.as_str(),
            recipient: mail.recipient.as_str(),
            content: &mail.content,
            staged_at: staged_at.unix_millis(),
            due_at: mail.held_until.unwrap_or(staged_at).unix_millis(),
            is_held: mail.held_until.is_some(),
        });
    }

    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "staged AS (
                 INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content,
                     staged_at, next_attempt_at, is_held)
                 SELECT id, head_office_id, operation_id, kind, recipient, content, staged_at,
                     due_at, is_held
                 FROM mail WHERE n IN (SELECT n FROM written))",
        );
    }
}

impl<'a> Files<'a> {
    pub(super) fn add(&mut self, n: i32, operation: &Operation, file: &'a InvoiceFile) {
        self.push(File {
            n,
            operation_id: operation.id.get(),
            name: file.name.as_str(),
            media_type: file.media_type.as_str(),
            size_bytes: clamped(file.size),
            sha256: file.sha256.as_slice(),
        });
    }

    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "described AS (
                 INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
                 SELECT operation_id, name, media_type, size_bytes, sha256
                 FROM file WHERE n IN (SELECT n FROM written))",
        );
    }
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

const fn actor_columns(actor: &Actor) -> (&'static str, Option<ApiKeyId>, Option<UserId>) {
    let (key, user) = match actor {
        Actor::ApiKey { key, user } => (Some(*key), Some(*user)),
        Actor::Company | Actor::Supplier | Actor::Platform | Actor::System => (None, None),
    };
    (actor.kind().as_str(), key, user)
}
