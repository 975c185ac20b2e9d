//! What no program outside of the workspace may do, because a later version would break it: each line with a mark
//! must be refused, and no other.

use preauth_client::wire::{ErrorDetail, Party, SupplierParty, WebhookTestData};
use preauth_client::{ErrorCode, ErrorKind};
use preauth_core::operation::{Rejection, State};
use preauth_core::value::{Cnpj, CnpjError, EventType, Stage, Status};
use webhook_verify::{SecretError, VerifyError};

pub fn a_status(it: Status) {
    match it { //~ E0004
        Status::InPreAuth | Status::InVerification | Status::ToApprove | Status::InAnalysis => {}
        Status::ToPay | Status::ToBill | Status::ToReceive | Status::Concluded | Status::Reproved => {}
    }
}

pub fn a_state(it: &State) {
    match it { //~ E0004
        State::InPreAuth | State::InVerification | State::ToApprove | State::InAnalysis => {}
        State::ToPay | State::ToBill | State::ToReceive { .. } | State::Concluded { .. } | State::Reproved { .. } => {}
    }
}

pub fn a_stage(it: Stage) {
    match it { //~ E0004
        Stage::PreAuth | Stage::Request | Stage::System => {}
    }
}

pub fn an_event_type(it: EventType) {
    match it { //~ E0004
        EventType::WebhookTest => {}
    }
}

pub fn a_code(it: ErrorCode) {
    match it { //~ E0004
        ErrorCode::ValidationError => {}
    }
}

pub fn a_kind_of_failure(it: ErrorKind) {
    match it { //~ E0004
        ErrorKind::Api => {}
    }
}

pub fn a_defect(it: CnpjError) {
    match it { //~ E0004
        CnpjError::Empty | CnpjError::TooLong | CnpjError::InvalidCharacter | CnpjError::WrongLength { .. } => {}
        CnpjError::LetterInCheckDigits | CnpjError::RepeatedCharacter | CnpjError::WrongCheckDigits => {}
    }
}

pub fn a_refusal(it: &Rejection) {
    match it { //~ E0004
        Rejection::DueDateTooNear => {}
    }
}

pub fn a_webhook(it: &VerifyError) {
    match it { //~ E0004
        VerifyError::MissingHeader | VerifyError::Malformed(_) | VerifyError::NoMatch => {}
        VerifyError::TooOld { .. } | VerifyError::TooNew { .. } => {}
    }
}

pub fn a_secret(it: SecretError) {
    match it { //~ E0004
        SecretError::MissingPrefix => {}
    }
}

pub fn a_literal(cnpj: Cnpj) -> Party {
    Party { cnpj, name: String::new() } //~ E0639
}

pub fn a_literal_of_the_rest() -> WebhookTestData {
    WebhookTestData { ..WebhookTestData::default() } //~ E0639
}

pub fn every_field(SupplierParty { cnpj: _, name: _ }: &SupplierParty) {} //~ E0638

pub fn every_fact(detail: &ErrorDetail) -> Option<&str> {
    let ErrorDetail { anticipation_id: _, field } = detail; //~ E0638
    field.as_deref()
}

fn main() {}
