//! Everything under `components/schemas`, in the order of the description.

use preauth_core::wire::Invoice;

use crate::http::openapi::schema::{Schema, Shapes};
use crate::http::openapi::shape::Shape;
use crate::http::openapi::shared;
use crate::http::platform::party::PartyShape;
use crate::http::platform::reason::NewReason;
use crate::http::platform::{
    api_keys, audit_log, blocked_suppliers, calling_operator, companies, credit_analysis,
    deliveries, extensions, invoices, mails, master_keys, operations, operators, overview,
    payment_orders, personal_data, probes, reports, resend_range, sandbox_clock,
    suppressed_addresses, users, webhook_endpoint,
};

pub(super) const ALL: &Shapes = &[
    shape::<probes::Well>(),
    shape::<probes::Unwell>(),
    ("ErrorBody", shared::error_body),
    ("Pagination", shared::pagination),
    shape::<PartyShape>(),
    shape::<calling_operator::CallingOperatorShape>(),
    shape::<operators::OperatorShape>(),
    list::<operators::OperatorShape>("OperatorList"),
    shape::<operators::OperatorRequest>(),
    shape::<operators::NewOperatorShape>(),
    shape::<audit_log::AuditEntryShape>(),
    list::<audit_log::AuditEntryShape>("AuditEntryList"),
    shape::<overview::AttentionShape>(),
    shape::<reports::ReportShape>(),
    shape::<companies::CompanyShape>(),
    list::<companies::CompanyShape>("CompanyList"),
    shape::<companies::CompanyChange>(),
    shape::<companies::InvitationShape>(),
    list::<companies::InvitationShape>("InvitationList"),
    shape::<companies::NewCompany>(),
    shape::<companies::NewSuspension>(),
    shape::<credit_analysis::CreditAnalysis>(),
    shape::<credit_analysis::NewCreditAnalysis>(),
    shape::<blocked_suppliers::BlockedSupplier>(),
    list::<blocked_suppliers::BlockedSupplier>("BlockedSupplierList"),
    shape::<users::User>(),
    list::<users::User>("UserList"),
    shape::<users::NewUser>(),
    shape::<users::ChangedUser>(),
    shape::<api_keys::ApiKeyShape>(),
    list::<api_keys::ApiKeyShape>("ApiKeyList"),
    shape::<api_keys::KeyRequest>(),
    shape::<api_keys::NewApiKeyShape>(),
    shape::<api_keys::KeySearch>(),
    shape::<api_keys::FoundKey>(),
    shape::<api_keys::Found>(),
    shape::<webhook_endpoint::EndpointShape>(),
    shape::<webhook_endpoint::EndpointWithSecret>(),
    shape::<webhook_endpoint::WantedEndpoint>(),
    shape::<webhook_endpoint::Rotation>(),
    shape::<deliveries::DeliveryShape>(),
    list::<deliveries::DeliveryShape>("DeliveryList"),
    shape::<deliveries::ResendRequest>(),
    shape::<deliveries::ResentShape>(),
    shape::<resend_range::ResendRangeRequest>(),
    shape::<resend_range::ResentRangeShape>(),
    shape::<mails::MailShape>(),
    list::<mails::MailShape>("NoticeList"),
    shape::<personal_data::PersonalDataShape>(),
    shape::<personal_data::PersonalDataExport>(),
    shape::<personal_data::ErasureShape>(),
    shape::<suppressed_addresses::SuppressedAddressShape>(),
    list::<suppressed_addresses::SuppressedAddressShape>("SuppressedAddressList"),
    shape::<master_keys::MasterKeysShape>(),
    shape::<master_keys::ReencryptedShape>(),
    shape::<Invoice>(),
    shape::<operations::OperationShape>(),
    list::<operations::OperationShape>("OperationList"),
    shape::<operations::OperationDetails>(),
    shape::<operations::NewDirectAdvance>(),
    shape::<NewReason>(),
    shape::<operations::Release>(),
    shape::<operations::Reproval>(),
    shape::<extensions::ExtensionShape>(),
    list::<extensions::ExtensionShape>("ExtensionList"),
    shape::<extensions::WantedExtension>(),
    shape::<invoices::InvoiceShape>(),
    list::<invoices::InvoiceShape>("ReceivedInvoiceList"),
    shape::<invoices::NewInvoice>(),
    shape::<payment_orders::PaymentOrderShape>(),
    list::<payment_orders::PaymentOrderShape>("PaymentOrderList"),
    shape::<payment_orders::NewPaymentOrder>(),
    shape::<payment_orders::Schedule>(),
    shape::<sandbox_clock::NewAdvance>(),
    shape::<sandbox_clock::ClockShape>(),
];

const fn shape<T: Shape>() -> (&'static str, fn() -> Schema) {
    (T::NAME, T::schema)
}

const fn list<T: Shape>(name: &'static str) -> (&'static str, fn() -> Schema) {
    (name, T::page)
}
