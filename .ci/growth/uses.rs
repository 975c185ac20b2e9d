//! A program outside of the workspace that decides about everything that may grow, as the documentation asks:
//! with a `_` for what is newer than its version, and constructors in place of literals.
#![deny(warnings)]

use preauth_client::{ErrorCode, ErrorKind, NewPreAuthorization, value::Money};
use preauth_core::operation::State;
use preauth_core::value::{Cnpj, CnpjError, EventType, Origin, PaymentOrderStatus, Stage, Status, Timestamp};
use preauth_core::wire::{
    Amount, CreateInvoice, CreatePreAuthorization, CreateSupplier, ErrorBody, EventEnvelope, EventInvoice, ExtensionData,
    Invoice, JsonError, OperationEventData, Pagination, Party, PaymentOrderEventData, PreAuthorization,
    PreAuthorizationList, SupplierParty, from_json,
};
use webhook_verify::VerifyError;
use webhook_verify::events::EventData;

/// Every status of this version by its name: were the set closed, the last arm would be an error here.
fn status(status: Status) -> &'static str {
    match status {
        Status::InPreAuth => "offered",
        Status::InVerification | Status::ToApprove | Status::InAnalysis => "asked for",
        Status::ToPay | Status::ToBill | Status::ToReceive => "approved",
        Status::Concluded | Status::Reproved => "over",
        _ => "newer",
    }
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::PreAuth | Stage::Request | Stage::System => "known",
        _ => "newer",
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::PreAuth | Origin::Direct => "known",
        _ => "newer",
    }
}

fn order(status: PaymentOrderStatus) -> bool {
    matches!(status, PaymentOrderStatus::Paid)
}

fn state(state: &State) -> bool {
    matches!(state, State::InPreAuth { .. })
}

fn event(event_type: EventType, data: &EventData) -> String {
    let what = match data {
        EventData::Operation(data) => {
            let OperationEventData { anticipation_id, status, .. } = &**data;
            format!("operation {anticipation_id} is {status}")
        }
        EventData::Invoice(data) => format!("invoice {}", data.invoice_id),
        EventData::PaymentOrder(data) => format!("order {}", data.payment_order_id),
        EventData::Test(data) => data.message.clone().unwrap_or_default(),
        EventData::Unknown => "newer".to_owned(),
        _ => "of a newer family".to_owned(),
    };
    match event_type {
        EventType::PreAuthorizationCreated => format!("an offer: {what}"),
        _ => what,
    }
}

fn refusal(code: ErrorCode, kind: ErrorKind) -> &'static str {
    match (code, kind) {
        (ErrorCode::PreAuthDuplicateInvoice, ErrorKind::Api) => "offered before",
        _ => "see its text",
    }
}

fn tax_id(error: CnpjError) -> &'static str {
    match error {
        CnpjError::Empty => "is missing",
        _ => "is wrong",
    }
}

fn delivery(error: &VerifyError) -> u16 {
    match error {
        VerifyError::MissingHeader => 401,
        _ => 400,
    }
}

fn written() -> Result<CreatePreAuthorization, Box<dyn std::error::Error>> {
    let mut supplier = CreateSupplier::new("12ABC34501DE35".parse()?, "a@example.com".parse()?);
    supplier.name = Some("Fornecedor Ltda.".parse()?);
    let amount = Amount::from(Money::parse("1234.5")?);
    let invoice = CreateInvoice::new(amount, "2026-12-21".parse()?, "NF-1".parse()?);
    let mut create = CreatePreAuthorization::new(supplier, invoice);
    create.external_reference = Some("pedido-1".parse()?);
    Ok(create)
}

/// What a test of a receiver, or a server of one's own, makes.
fn served() -> Result<String, Box<dyn std::error::Error>> {
    let cnpj: Cnpj = "11222333000181".parse()?;
    let at = Timestamp::parse("2026-11-21T12:00:00Z")?;
    let amount = Amount::from(Money::parse("1234.5")?);
    let id = "1".parse()?;
    let (payer, supplier) = (Party::new(cnpj, "Construtora S.A."), SupplierParty::new(cnpj, None));
    let mut data = OperationEventData::new(
        id,
        Status::ToReceive,
        Origin::Direct,
        EventInvoice::new(amount, "2026-12-21".parse()?),
        payer.clone(),
        supplier.clone(),
    );
    data.extension = Some(ExtensionData::new("7".parse()?, "2027-01-21".parse()?, amount));
    let id_of_event = "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e".parse()?;
    let event = EventEnvelope::new(id_of_event, EventType::AnticipationExtensionCreated, at, data);
    let mut invoice = Invoice::new(amount, "2026-12-21".parse()?);
    invoice.number = Some("NF-1".to_owned());
    let operation = PreAuthorization::new(id, "A_NEWER_ONE", payer.clone(), supplier.clone(), invoice, at);
    let list = PreAuthorizationList::new(vec![operation], Pagination::new(1, 20, 1));
    let order = PaymentOrderEventData::new("3".parse()?, PaymentOrderStatus::Paid, amount, payer, supplier);
    Ok(format!(
        "{}{}{}",
        serde_json::to_string(&event)?,
        serde_json::to_string(&list)?,
        serde_json::to_string(&order)?
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let create = written()?;
    let offer = NewPreAuthorization::from(create.clone());
    println!("{offer:?} {create:?}\n{}", served()?);
    for known in Status::ALL {
        println!("{known}: {}", status(*known));
    }
    println!("{} {} {}", stage(Stage::System), origin(Origin::Direct), order(PaymentOrderStatus::Paid));
    let test = r#"{"id":"0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e","type":"webhook.test","createdAt":"2026-11-21T12:00:00Z","data":{}}"#;
    let read = preauth_core::wire::RawEventEnvelope::from_json(test.as_bytes())?;
    println!("{}", event(EventType::WebhookTest, &read.data()?));
    let body = from_json::<ErrorBody>(b"[]");
    println!("{}", matches!(body, Err(JsonError::NotAnObject)));
    let Err(wrong) = Cnpj::parse("") else { return Err("an empty tax id was read".into()) };
    println!("{} {}", tax_id(wrong), delivery(&VerifyError::MissingHeader));
    println!("{}", refusal(ErrorCode::RateLimited, ErrorKind::Api));
    let closed: fn(&State) -> bool = state;
    let _ = closed;
    Ok(())
}
