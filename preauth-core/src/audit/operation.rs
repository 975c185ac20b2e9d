//! Checks an operation by replaying its own events.

use std::collections::BTreeMap;

use crate::operation::{Change, ExtensionStatus, Operation, State};
use crate::port::{
    DecodedData, DecodedOperation, ExtensionRecord, StoredEvent, StoredOperation, Subject,
};
use crate::value::{
    EventType, ExtensionId, ExternalReference, InvoiceNumber, Money, Origin, Reason, Status,
};

use super::checker::{Checker, EXPIRY_PATIENCE, Findings};
use super::event::numbering;
use super::replay::{Known, beginning, step};
use super::{Rule, Violation};

impl Checker<'_> {
    /// Checks an operation with its events, extensions and deliveries.
    #[must_use]
    pub fn operation(&self, stored: &StoredOperation) -> Vec<Violation> {
        let operation = &stored.operation;
        let mut found = Findings::of(Subject::Operation(operation.id));
        own_parties(stored, &mut found);
        known_supplier(stored, &mut found);
        let decoded = self.all_decoded(stored, &mut found);
        if numbering(&stored.events, operation.version, &mut found)
            && let Some(decoded) = decoded
        {
            replayed(stored, &decoded, &mut found);
        }
        net_amount(operation, &mut found);
        self.overdue(operation, &mut found);
        let parties = [operation.payer.head_office, operation.supplier.head_office];
        let mut violations = found.violations;
        for event in &stored.events {
            violations.extend(self.deliveries(event, &parties));
        }
        violations
    }

    /// The decoded data of each event; `None` when an event does not report this operation.
    fn all_decoded(
        &self,
        stored: &StoredOperation,
        found: &mut Findings,
    ) -> Option<Vec<DecodedOperation>> {
        let mut all = Some(Vec::with_capacity(stored.events.len()));
        for event in &stored.events {
            let decoded = self.decoded_operation(event, stored, found);
            all = all.zip(decoded).map(|(mut all, decoded)| {
                all.push(decoded);
                all
            });
        }
        all
    }

    fn decoded_operation(
        &self,
        event: &StoredEvent,
        stored: &StoredOperation,
        found: &mut Findings,
    ) -> Option<DecodedOperation> {
        let DecodedData::Operation(decoded) = self.decoded(event, found)?.data else {
            found.expect(false, Rule::FrozenBody, || {
                format!("event {} reports no operation", event.id)
            });
            return None;
        };
        same_facts(event, &decoded, &stored.operation, found);
        Some(*decoded)
    }

    fn overdue(&self, operation: &Operation, found: &mut Findings) {
        let late = self.moment.now.saturating_sub(EXPIRY_PATIENCE);
        let is_late = self.moment.is_live && operation.is_overdue(late);
        found.expect(!is_late, Rule::ExpiryRecorded, || {
            let end = operation.expires_at.map(|end| end.to_string());
            format!(
                "its time ended at {}, and its expiry is not recorded",
                end.unwrap_or_default()
            )
        });
    }
}

fn own_parties(stored: &StoredOperation, found: &mut Findings) {
    let operation = &stored.operation;
    let is_own = stored.head_office == operation.payer.head_office
        && stored.supplier_cnpj == operation.supplier.cnpj;
    found.expect(is_own, Rule::OwnParties, || {
        format!(
            "it stands under company {} and supplier {}, and is of {} and {}",
            stored.head_office,
            stored.supplier_cnpj,
            operation.payer.head_office,
            operation.supplier.cnpj
        )
    });
}

fn known_supplier(stored: &StoredOperation, found: &mut Findings) {
    // Direct advances from before invitations existed needed none.
    let is_known = stored.supplier_is_known || stored.operation.origin == Origin::Direct;
    found.expect(is_known, Rule::KnownSupplier, || {
        format!(
            "its supplier is not registered, and company {} has not invited it",
            stored.head_office
        )
    });
}

fn net_amount(operation: &Operation, found: &mut Findings) {
    let limit = operation.invoice.amounts.net_limit();
    let is_within = operation
        .net_amount
        .is_none_or(|amount| amount > Money::ZERO && amount <= limit);
    found.expect(is_within, Rule::Amounts, || {
        let amount = operation.net_amount.unwrap_or(Money::ZERO);
        format!("the net amount {amount} is not above zero and at most {limit}")
    });
}

/// The event reports the immutable fields as they are stored.
fn same_facts(
    event: &StoredEvent,
    decoded: &DecodedOperation,
    operation: &Operation,
    found: &mut Findings,
) {
    let invoice = &operation.invoice;
    found.expect(
        decoded.amount == invoice.amounts.amount(),
        Rule::Amounts,
        || {
            let stored = invoice.amounts.amount();
            format!(
                "event {} reports the amount {}, and {stored} is stored",
                event.id, decoded.amount
            )
        },
    );
    let number = invoice.number.as_ref().map(InvoiceNumber::as_str);
    let reference = operation
        .external_reference
        .as_ref()
        .map(ExternalReference::as_str);
    let facts = [
        ("operation", decoded.id == operation.id),
        ("origin", decoded.origin == operation.origin),
        ("due date", decoded.due_date == invoice.due_date),
        ("invoice number", decoded.number.as_deref() == number),
        ("payer", decoded.payer == operation.payer.cnpj),
        ("supplier", decoded.supplier == operation.supplier.cnpj),
        (
            "external reference",
            decoded.external_reference.as_deref() == reference,
        ),
    ];
    for (fact, is_same) in facts {
        found.expect(is_same, Rule::FrozenBody, || {
            format!("event {} reports another {fact} than is stored", event.id)
        });
    }
}

/// Replays the history event by event; both slices have one entry for each version.
fn replayed(stored: &StoredOperation, decoded: &[DecodedOperation], found: &mut Findings) {
    let mut steps = stored.events.iter().zip(decoded);
    let Some((first, _)) = steps.next() else {
        return;
    };
    let begun = beginning(&stored.operation, first);
    found.expect(begun.is_some(), Rule::PathOfTheTable, || {
        format!(
            "it does not begin with event {} ({} at {})",
            first.id, first.event_type, first.at
        )
    });
    let Some(begun) = begun else { return };
    in_step(&begun, first, decoded.first(), found);
    let mut states = vec![begun];
    let mut extensions = BTreeMap::new();
    let mut known = Known::default();
    known.context.reached = Some(first.event_type);
    for (event, decoded) in steps {
        let after = step(&states, &known, event, decoded);
        found.expect(!after.is_empty(), Rule::PathOfTheTable, || {
            let from = states.first().map_or("", |state| state.status().as_str());
            format!(
                "no row leads from {from} by event {} ({}) to {}",
                event.id, event.event_type, decoded.status
            )
        });
        let Some((next, change)) = after.first() else {
            return;
        };
        in_time(&states, event, found);
        in_step(next, event, Some(decoded), found);
        note_extension(&mut extensions, change);
        go_on(&mut known, event, &extensions);
        states = after.into_iter().map(|(state, _)| state).collect();
    }
    arrived(stored, &states, &extensions, found);
}

/// The event reports the mutable fields as they were right after it.
fn in_step(
    after: &Operation,
    event: &StoredEvent,
    decoded: Option<&DecodedOperation>,
    found: &mut Findings,
) {
    let Some(decoded) = decoded else { return };
    found.expect(
        decoded.net_amount == after.net_amount,
        Rule::Amounts,
        || {
            let shown = |amount: Option<Money>| {
                amount.map_or_else(|| "none".to_owned(), |amount| amount.to_string())
            };
            format!(
                "event {} reports the net amount {}, and it was {}",
                event.id,
                shown(decoded.net_amount),
                shown(after.net_amount)
            )
        },
    );
    found.expect(decoded.status == after.status(), Rule::FrozenBody, || {
        let was = after.status();
        format!(
            "event {} reports {}, and it was {was}",
            event.id, decoded.status
        )
    });
}

fn in_time(before: &[Operation], event: &StoredEvent, found: &mut Findings) {
    let Some(before) = before.first() else { return };
    let (Status::InPreAuth, Some(end)) = (before.status(), before.expires_at) else {
        return;
    };
    let expires = event.event_type == EventType::PreAuthorizationExpired;
    found.expect((event.at > end) == expires, Rule::ExpiryInTime, || {
        format!(
            "its time ended at {end}, and event {} ({}) is of {}",
            event.id, event.event_type, event.at
        )
    });
}

type Extensions = BTreeMap<ExtensionId, ExtensionRecord>;

fn note_extension(extensions: &mut Extensions, change: &Change) {
    if let Some((extension, status)) = change.extension() {
        let record = ExtensionRecord {
            extension: *extension,
            status,
        };
        extensions.insert(extension.id, record);
    }
}

/// Updates what the rules need besides the operation, after one more event.
fn go_on(known: &mut Known, event: &StoredEvent, extensions: &Extensions) {
    if !matches!(
        event.event_type,
        EventType::AnticipationReproved | EventType::AnticipationReopened
    ) {
        known.context.reached = Some(event.event_type);
    }
    let records = extensions.values();
    let concluded = records.filter(|record| record.status == ExtensionStatus::Concluded);
    // In the order of their ids.
    let due_dates: Vec<_> = concluded
        .map(|record| record.extension.new_due_date)
        .collect();
    known.context.extended_to = due_dates.iter().max().copied();
    known.extended_by_id = due_dates.last().copied();
}

fn arrived(
    stored: &StoredOperation,
    states: &[Operation],
    extensions: &Extensions,
    found: &mut Findings,
) {
    let operation = &stored.operation;
    found.expect(states.contains(operation), Rule::StateOfItsEvents, || {
        let led = states.first().map_or("nowhere".to_owned(), shown);
        format!(
            "its events lead to {led}, and {} is stored",
            shown(operation)
        )
    });
    let are_same = stored.extensions.iter().eq(extensions.values());
    found.expect(are_same, Rule::StateOfItsEvents, || {
        let count = extensions.len();
        let stored = stored.extensions.len();
        format!("its events report {count} extensions, and {stored} others are stored")
    });
}

/// The fields that `evolve` can change, for messages.
fn shown(operation: &Operation) -> String {
    let net_amount = match operation.net_amount {
        Some(net_amount) => format!("net amount {net_amount}"),
        None => "no net amount".to_owned(),
    };
    let status = operation.status();
    let more = match &operation.state {
        State::ToReceive {
            boleto_due_date,
            extension: None,
        } => format!(" (boleto due on {boleto_due_date})"),
        State::ToReceive {
            boleto_due_date,
            extension: Some(open),
        } => format!(
            " (boleto due on {boleto_due_date}, extension {} to {} over {})",
            open.id, open.new_due_date, open.total_amount
        ),
        State::Reproved(closing) => {
            let given = closing.given_reason.as_ref().map_or("none", Reason::as_str);
            format!(" (by {}, reason given: {given})", closing.action)
        }
        State::InPreAuth
        | State::InVerification
        | State::ToApprove
        | State::InAnalysis
        | State::ToPay
        | State::ToBill
        | State::Concluded => String::new(),
    };
    format!(
        "version {}, {net_amount}, {status}{more}",
        operation.version
    )
}
