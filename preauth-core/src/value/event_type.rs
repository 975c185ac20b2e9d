//! The types of events.

use super::EnumSet;
use super::text_enum::text_enum;

text_enum! {
    /// The type of an event.
    /// [Contract, "Event types (25)"](https://example.com/preauth/blob/main/docs/reference.md#event-types-25).
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum EventType, "event type" {
        /// The company offered an advance.
        PreAuthorizationCreated => "pre_authorization.created",
        /// The supplier declined the offer.
        PreAuthorizationDeclined => "pre_authorization.declined",
        /// The company cancelled the offer, through the API or in the platform.
        PreAuthorizationRevoked => "pre_authorization.revoked",
        /// The offer expired.
        PreAuthorizationExpired => "pre_authorization.expired",
        /// The supplier began a direct advance.
        AnticipationCreated => "anticipation.created",
        /// The advance was requested and awaits the company.
        AnticipationRequested => "anticipation.requested",
        /// The construction company approved.
        AnticipationApproved => "anticipation.approved",
        /// The platform released the advance for payment.
        AnticipationAnalysisApproved => "anticipation.analysis_approved",
        /// The company or the platform refused the request.
        AnticipationReproved => "anticipation.reproved",
        /// A reproved operation went back to analysis.
        AnticipationReopened => "anticipation.reopened",
        /// The supplier was paid.
        AnticipationPaid => "anticipation.paid",
        /// The bank returned the payment to the supplier.
        AnticipationPayoutReturned => "anticipation.payout_returned",
        /// The boleto was issued.
        AnticipationBilled => "anticipation.billed",
        /// The boleto was paid.
        AnticipationConcluded => "anticipation.concluded",
        /// An extension of the boleto was requested.
        AnticipationExtensionCreated => "anticipation.extension_created",
        /// The extension was paid and the boleto replaced.
        AnticipationExtensionConcluded => "anticipation.extension_concluded",
        /// The extension was cancelled.
        AnticipationExtensionCanceled => "anticipation.extension_canceled",
        /// An invoice arrived on the platform.
        InvoiceReceived => "invoice.received",
        /// A payment order was generated.
        PaymentOrderCreated => "payment_order.created",
        /// A payment order went into review.
        PaymentOrderUnderReview => "payment_order.under_review",
        /// A payment order was scheduled for a day.
        PaymentOrderScheduled => "payment_order.scheduled",
        /// A payment order was paid.
        PaymentOrderPaid => "payment_order.paid",
        /// A payment order was cancelled.
        PaymentOrderCanceled => "payment_order.canceled",
        /// A payment order was refused.
        PaymentOrderReproved => "payment_order.reproved",
        /// A test, sent on demand regardless of the events that the endpoint chose.
        WebhookTest => "webhook.test",
    }
}

text_enum! {
    /// The first half of an event type, which decides the shape of its data and who receives it.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Family, "event family" {
        /// To payer and supplier; data of the operation.
        PreAuthorization => "pre_authorization",
        /// To payer and supplier; data of the operation.
        Anticipation => "anticipation",
        /// To the owning company; data of the invoice.
        Invoice => "invoice",
        /// To the owning company; data of the payment order.
        PaymentOrder => "payment_order",
        /// To the company that asked for the test.
        Webhook => "webhook",
    }
}

/// The event types an endpoint has chosen to receive.
pub type EventTypeSet = EnumSet<EventType>;

impl EventType {
    /// The family of this type.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::PreAuthorizationCreated
            | Self::PreAuthorizationDeclined
            | Self::PreAuthorizationRevoked
            | Self::PreAuthorizationExpired => Family::PreAuthorization,
            Self::AnticipationCreated
            | Self::AnticipationRequested
            | Self::AnticipationApproved
            | Self::AnticipationAnalysisApproved
            | Self::AnticipationReproved
            | Self::AnticipationReopened
            | Self::AnticipationPaid
            | Self::AnticipationPayoutReturned
            | Self::AnticipationBilled
            | Self::AnticipationConcluded
            | Self::AnticipationExtensionCreated
            | Self::AnticipationExtensionConcluded
            | Self::AnticipationExtensionCanceled => Family::Anticipation,
            Self::InvoiceReceived => Family::Invoice,
            Self::PaymentOrderCreated
            | Self::PaymentOrderUnderReview
            | Self::PaymentOrderScheduled
            | Self::PaymentOrderPaid
            | Self::PaymentOrderCanceled
            | Self::PaymentOrderReproved => Family::PaymentOrder,
            Self::WebhookTest => Family::Webhook,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Contract: version/no-event-type-ceases
    #[test]
    fn there_are_the_25_types_of_the_contract() {
        assert_eq!(EventType::ALL.len(), 25);
    }

    #[test]
    fn the_family_is_what_stands_before_the_dot() {
        for event_type in EventType::ALL {
            let (family, _) = event_type.as_str().split_once('.').unwrap();
            assert_eq!(event_type.family().as_str(), family);
        }
    }
}
