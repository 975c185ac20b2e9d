//! Operations in every state, and the commands that meet them.

use preauth_core::operation::{
    Action, Closing, Command, Extension, Invoice, InvoiceAmounts, Operation, Party, ReprovedBy,
    State,
};
use preauth_core::value::{
    Cnpj, CompanyId, CompanyName, DueDate, ExtensionId, ExternalReference, InvoiceNumber, Money,
    OperationId, Origin, Timestamp, Version,
};
use uuid::Uuid;

pub(crate) const EXTENSION: i64 = 40;

/// The end of the offers that are given here.
pub(crate) const EXPIRES_AT: &str = "2026-12-21T12:00:00.000Z";

pub(crate) fn moment(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(crate) fn day(text: &str) -> DueDate {
    DueDate::parse(text).unwrap()
}

pub(crate) fn cents(cents: i64) -> Money {
    Money::from_cents(cents).unwrap()
}

pub(crate) fn company(number: u128) -> CompanyId {
    CompanyId::new(Uuid::from_u128(number))
}

pub(crate) fn party(number: u128, cnpj: &str) -> Party {
    Party {
        company: company(number),
        head_office: company(number),
        cnpj: Cnpj::parse(cnpj).unwrap(),
        name: CompanyName::parse("Empresa").unwrap(),
    }
}

pub(crate) fn operation(state: State) -> Operation {
    let (amount, withheld) = (cents(1_000_000), cents(10_000));
    Operation {
        id: OperationId::new(1).unwrap(),
        version: Version::INITIAL,
        origin: Origin::PreAuth,
        payer: party(1, "11222333000181"),
        supplier: party(2, "12ABC34501DE35"),
        invoice: Invoice {
            amounts: InvoiceAmounts::from_cents(amount, withheld).unwrap(),
            due_date: day("2027-03-01"),
            number: Some(InvoiceNumber::parse("NF-1").unwrap()),
        },
        external_reference: Some(ExternalReference::parse("PO 7").unwrap()),
        expires_at: Some(moment(EXPIRES_AT)),
        created_at: moment("2026-11-21T12:00:00.000Z"),
        net_amount: None,
        state,
    }
}

pub(crate) fn extension() -> Extension {
    Extension {
        id: ExtensionId::new(EXTENSION).unwrap(),
        new_due_date: day("2027-04-01"),
        total_amount: cents(1_010_000),
    }
}

/// Every state, by the name that the tables use.
pub(crate) fn states() -> Vec<(&'static str, State)> {
    let closed = |action| {
        State::Reproved(Closing {
            action,
            given_reason: None,
        })
    };
    let to_receive = |extension| State::ToReceive {
        boleto_due_date: day("2027-03-01"),
        extension,
    };
    vec![
        ("IN_PRE_AUTH", State::InPreAuth),
        ("IN_VERIFICATION", State::InVerification),
        ("TO_APPROVE", State::ToApprove),
        ("IN_ANALYSIS", State::InAnalysis),
        ("TO_PAY", State::ToPay),
        ("TO_BILL", State::ToBill),
        ("TO_RECEIVE", to_receive(None)),
        ("TO_RECEIVE/extended", to_receive(Some(extension()))),
        ("CONCLUDED", State::Concluded),
        ("REPROVED/declined", closed(Action::Decline)),
        ("REPROVED/cancelled", closed(Action::Cancel)),
        ("REPROVED/withdrawn", closed(Action::Withdraw)),
        ("REPROVED/expired", closed(Action::Expire)),
        ("REPROVED/by_company", closed(Action::ReproveByCompany)),
        ("REPROVED/by_platform", closed(Action::ReproveByPlatform)),
    ]
}

/// Every command with arguments that no bound refuses, by the name that the tables use.
pub(crate) fn commands() -> Vec<(&'static str, Command)> {
    let reason = None;
    let reprove = |by| Command::Reprove { by, reason: None };
    let Extension {
        id,
        new_due_date,
        total_amount,
    } = extension();
    let net_amount = cents(950_000);
    let create_extension = Command::CreateExtension {
        id,
        new_due_date,
        total_amount,
    };
    vec![
        ("request", Command::Request),
        ("decline", Command::Decline { reason }),
        ("cancel", Command::Cancel),
        ("withdraw", Command::Withdraw { reason: None }),
        ("expire", Command::Expire),
        ("verify", Command::Verify),
        ("approve", Command::Approve),
        ("release", Command::Release { net_amount }),
        ("pay", Command::Pay),
        ("return payout", Command::ReturnPayout),
        ("bill", Command::Bill),
        ("conclude", Command::Conclude),
        ("reprove by company", reprove(ReprovedBy::Company)),
        ("reprove by platform", reprove(ReprovedBy::Platform)),
        ("reopen", Command::Reopen),
        ("create extension", create_extension),
        ("conclude extension", Command::ConcludeExtension { id }),
        ("cancel extension", Command::CancelExtension { id }),
    ]
}
