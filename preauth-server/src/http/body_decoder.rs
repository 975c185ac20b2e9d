//! Decodes frozen bodies for audits: the inverse of [`convert`](super::convert).

use preauth_core::operation::Extension;
use preauth_core::port::{
    BodyDecoder, DecodedData, DecodedEvent, DecodedOperation, DecodedOrder, DecodedReply,
};
use preauth_core::value::TextEnum;
use preauth_core::wire::{self, EventData, Open, RawEventEnvelope};

/// Decodes bodies rendered by [`WireRender`](super::WireRender) in this version or an earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub struct WireDecoder;

impl BodyDecoder for WireDecoder {
    fn event(&self, body: &str) -> Option<DecodedEvent> {
        let envelope = RawEventEnvelope::from_json(body.as_bytes()).ok()?;
        let data = match envelope.data().ok()? {
            EventData::Operation(data) => DecodedData::Operation(Box::new(operation(*data)?)),
            EventData::PaymentOrder(data) => DecodedData::Order(Box::new(order(data)?)),
            _ => DecodedData::Other,
        };
        Some(DecodedEvent {
            id: envelope.id,
            event_type: known(&envelope.event_type)?,
            at: envelope.created_at,
            data,
        })
    }

    fn reply(&self, body: &str) -> Option<DecodedReply> {
        let body: wire::PreAuthorization = serde_json::from_str(body).ok()?;
        Some(DecodedReply {
            id: body.id,
            status: known(&body.status)?,
            amount: body.invoice.amount.money(),
            withheld_tax: body.invoice.withheld_tax_amount.money(),
            due_date: body.invoice.due_date,
            number: body.invoice.number,
            payer: body.payer.cnpj,
            supplier: body.supplier.cnpj,
            external_reference: body.external_reference,
            expires_at: body.expires_at,
            created_at: body.created_at,
        })
    }
}

fn operation(data: wire::OperationEventData) -> Option<DecodedOperation> {
    Some(DecodedOperation {
        id: data.anticipation_id,
        status: known(&data.status)?,
        origin: known(&data.origin)?,
        amount: data.invoice.amount.money(),
        due_date: data.invoice.due_date,
        number: data.invoice.number,
        net_amount: data.net_amount.map(wire::Amount::money),
        payer: data.payer.cnpj,
        supplier: data.supplier.cnpj,
        external_reference: data.external_reference,
        reason: data.reason,
        stage: match &data.stage {
            Some(stage) => Some(known(stage)?),
            None => None,
        },
        extension: data.extension.map(|decoded| Extension {
            id: decoded.id,
            new_due_date: decoded.new_due_date,
            total_amount: decoded.total_amount.money(),
        }),
    })
}

fn order(data: wire::PaymentOrderEventData) -> Option<DecodedOrder> {
    Some(DecodedOrder {
        id: data.payment_order_id,
        status: known(&data.status)?,
        amount: data.amount.money(),
        scheduled_for: data.scheduled_for,
        operation: data.anticipation_id,
        payer: data.payer.cnpj,
        supplier: data.supplier.cnpj,
        reason: data.reason,
    })
}

/// `None` for a value that a later version may have written.
fn known<T: TextEnum>(open: &Open<T>) -> Option<T> {
    open.known().copied()
}

#[cfg(test)]
mod tests {
    use preauth_core::operation::{Extension, Invoice, InvoiceAmounts, Operation, Party, State};
    use preauth_core::port::{BodyDecoder, DecodedData, OperationEvent, Render};
    use preauth_core::value::{
        Cnpj, CompanyId, CompanyName, DueDate, EventId, EventType, ExtensionId, InvoiceNumber,
        Money, OperationId, Origin, Stage, Timestamp, Version,
    };
    use uuid::Uuid;

    use super::WireDecoder;
    use crate::http::WireRender;

    fn party(number: u128, cnpj: &str) -> Party {
        Party {
            company: CompanyId::new(Uuid::from_u128(number)),
            head_office: CompanyId::new(Uuid::from_u128(number)),
            cnpj: Cnpj::parse(cnpj).unwrap(),
            name: CompanyName::parse("Exemplo \"S.A.\"").unwrap(),
        }
    }

    fn operation() -> Operation {
        let cents = |cents| Money::from_cents(cents).unwrap();
        Operation {
            id: OperationId::new(7).unwrap(),
            version: Version::INITIAL,
            origin: Origin::PreAuth,
            payer: party(1, "11222333000181"),
            supplier: party(2, "12ABC34501DE35"),
            invoice: Invoice {
                amounts: InvoiceAmounts::from_cents(cents(1_234_567), cents(89)).unwrap(),
                due_date: DueDate::parse("2027-01-20").unwrap(),
                number: Some(InvoiceNumber::parse("NF-1").unwrap()),
            },
            external_reference: None,
            expires_at: Timestamp::parse("2026-12-21T12:00:00.000Z").ok(),
            created_at: Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap(),
            net_amount: Some(cents(1_200_001)),
            state: State::InPreAuth,
        }
    }

    #[test]
    fn a_rendered_body_is_decoded() {
        let operation = operation();
        let extension = Extension {
            id: ExtensionId::new(3).unwrap(),
            new_due_date: DueDate::parse("2027-02-20").unwrap(),
            total_amount: Money::from_cents(5).unwrap(),
        };
        let event = OperationEvent {
            id: EventId::new(Uuid::from_u128(9)),
            event_type: EventType::PreAuthorizationDeclined,
            at: operation.created_at,
            operation: &operation,
            stage: Some(Stage::PreAuth),
            reason: Some("não"),
            extension: Some(&extension),
        };
        let decoded = WireDecoder
            .event(&WireRender.operation_event(&event))
            .unwrap();
        assert_eq!(
            (decoded.id, decoded.event_type, decoded.at),
            (event.id, event.event_type, event.at)
        );
        let DecodedData::Operation(data) = decoded.data else {
            panic!("{decoded:?}");
        };
        assert_eq!(data.amount, operation.invoice.amounts.amount());
        assert_eq!(data.net_amount, operation.net_amount);
        assert_eq!(data.reason.as_deref(), event.reason);
        assert_eq!((data.stage, data.extension), (event.stage, Some(extension)));
    }

    #[test]
    fn an_invalid_body_is_not_decoded() {
        for body in ["", "{}", "[]", "created of 7"] {
            assert_eq!(WireDecoder.event(body), None);
            assert_eq!(WireDecoder.reply(body), None);
        }
    }
}
