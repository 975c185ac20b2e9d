//! Refusals in English that are more specific than their codes.

use preauth_core::value::{PaymentOrderId, PaymentOrderStatus, Status, Version};

use crate::dispatcher::UrlRefusal;
use crate::hold::HoldReason;
use crate::http::refusal::Refusal;

/// An operation's status does not allow the action.
pub(in crate::http) fn transition(status: Status) -> String {
    format!(
        "The operation's status does not allow this action, or changed during the call; it is {status}."
    )
}

/// A payment order's status does not allow the action.
pub(in crate::http) fn order_transition(status: PaymentOrderStatus) -> String {
    format!(
        "The payment order's status does not allow this action, or changed during the call; it is {status}."
    )
}

/// The DNS look-up of the endpoint's name failed.
pub(in crate::http) const NAME_NOT_LOOKED_UP: &str =
    "The DNS could not be asked for the server's name; nothing was changed. Try again in a moment.";

/// An operation already has a payment order.
pub(in crate::http) fn already_ordered(existing: PaymentOrderId) -> String {
    format!(
        "The operation already has the payment order {existing}; cancel or reprove it before another one is made. If it was paid, only after the bank has returned the payout."
    )
}

/// The record is not in the version that the caller has seen.
pub(in crate::http) fn changed(stored: Version) -> String {
    format!(
        "The record has changed since the version that ifVersion names; it is in version {stored}. Nothing was done; look at it before you try again."
    )
}

/// A held instance refuses the request.
#[must_use]
pub(in crate::http) const fn held(reason: HoldReason) -> &'static str {
    match reason {
        HoldReason::ClockOff | HoldReason::ClockJumped => {
            "The clock of this server is wrong; nothing was done. Try again once it is right."
        }
        HoldReason::ForeignDatabase | HoldReason::QuietOutbound => {
            "This server only reads for the moment; nothing was done."
        }
    }
}

/// A sentence for a refusal of the platform API.
#[must_use]
pub(in crate::http) fn refusal(refusal: &Refusal) -> String {
    let sentence = match refusal {
        Refusal::HeadOfficeUnknown => "The head office is not a registered company.",
        Refusal::HeadOfficeIsBranch { head_office } => {
            return format!(
                "The head office is itself a branch; give its head office {head_office}."
            );
        }
        Refusal::KindDiffers { kind } => {
            return format!("A branch has the kind of its head office, which is {kind}.");
        }
        Refusal::CnpjRegistered => "A company with this CNPJ is registered already.",
        Refusal::NotRegistered { cnpj } => {
            return format!(
                "The supplier {cnpj} was invited, but is not registered yet: register it as a company first."
            );
        }
        Refusal::Branch { head_office } => {
            return format!(
                "This company is a branch; the record belongs to its head office {head_office}."
            );
        }
        Refusal::EmailTaken => "The company already has a user with this e-mail address.",
        Refusal::UserErased => "The data of this user were erased; add another user.",
        Refusal::InProgress => {
            "Personal data cannot be erased while the company has an operation in progress or an open payment order, as payer or supplier."
        }
        Refusal::PayerUnknown => "The payer is not a registered company.",
        Refusal::PayerNotConstruction => "The payer must be a construction company.",
        Refusal::SupplierUnknown => "The supplier is not a registered company.",
        Refusal::SupplierIsSelf => "The supplier is the payer itself or one of its branches.",
        Refusal::OperationUnknown => "There is no operation with this id.",
        Refusal::OperationOfOthers => "The operation is of another company or another supplier.",
        Refusal::DeliveryNotResendable => "The endpoint of the delivery was removed or is paused.",
        Refusal::MailNotResendable => "Only a mail that has failed can be sent again.",
        Refusal::EndpointWithoutSecret => {
            "The endpoint has no signing secret; make a new one before you resume it."
        }
        Refusal::EndpointUrl(reason) => return endpoint_url(*reason),
    };
    sentence.to_owned()
}

fn endpoint_url(refusal: UrlRefusal) -> String {
    let sentence = match refusal {
        UrlRefusal::Empty => "Give the endpoint's URL.",
        UrlRefusal::TooLong => "The URL must have at most 2,048 bytes.",
        UrlRefusal::Character => "The URL must not have spaces, control characters or backslashes.",
        UrlRefusal::Scheme => "The URL must begin with https://.",
        UrlRefusal::UserInfo => "The URL must not have a user name or password.",
        UrlRefusal::PercentInHost => "The server's name in the URL must not have the character %.",
        UrlRefusal::Port => "The URL must use port 443.",
        UrlRefusal::Fragment => "The URL must not have a fragment (#).",
        UrlRefusal::Host => "The URL has no valid server name.",
        UrlRefusal::SingleLabel => {
            "The server's name must be complete, with its domain, such as hooks.example.com.br."
        }
        UrlRefusal::ReservedName => {
            "The server's name belongs to a reserved domain, which is not public."
        }
        UrlRefusal::AddressForm => "The IP address in the URL must be in its canonical form.",
        UrlRefusal::NameUnknown => {
            "The server's name is not in the DNS, or has no IP address. Check the name, or publish it and try again."
        }
        UrlRefusal::AddressNotPublic(address) => {
            return format!(
                "The URL leads to the address {address}, which is not public. Use a server all of whose addresses are public."
            );
        }
    };
    sentence.to_owned()
}
