//! The schemas of the platform API.

mod companies;
mod deliveries;
mod mails;
mod operations;
mod people;
mod records;

use crate::http::openapi::schema::{Schema, Shapes, optional, required};
use crate::http::openapi::shape::Shape;
use crate::http::openapi::shared;
use crate::http::platform::party::PartyShape;
use crate::http::platform::payment_orders::{NewPaymentOrder, PaymentOrderShape, Schedule};
use crate::http::platform::reason::NewReason;
use crate::http::platform::users::{ChangedUser, NewUser, User};

/// Everything under `components/schemas`.
pub(super) const ALL: &Shapes = &[
    ("Well", well),
    ("Unwell", unwell),
    ("ErrorBody", shared::error_body),
    ("Pagination", shared::pagination),
    ("PlatformParty", PartyShape::schema),
    ("Company", companies::company),
    ("CompanyList", || page_of("Company")),
    ("CompanyChange", companies::company_change),
    ("Invitation", companies::invitation),
    ("InvitationList", || page_of("Invitation")),
    ("NewCompany", companies::new_company),
    ("NewSuspension", companies::new_suspension),
    ("CreditAnalysis", companies::credit_analysis),
    ("NewCreditAnalysis", companies::new_credit_analysis),
    ("BlockedSupplier", companies::blocked_supplier),
    ("BlockedSupplierList", || page_of("BlockedSupplier")),
    ("User", User::schema),
    ("UserList", || page_of("User")),
    ("NewUser", NewUser::schema),
    ("UserChange", ChangedUser::schema),
    ("ApiKey", people::api_key),
    ("ApiKeyList", || page_of("ApiKey")),
    ("ApiKeyRequest", people::api_key_request),
    ("NewApiKey", people::new_api_key),
    ("ApiKeySearch", people::api_key_search),
    ("FoundApiKey", || people::found_api_key(named("Company"))),
    ("FoundApiKeys", || {
        people::found_api_keys(named("FoundApiKey"))
    }),
    ("WebhookEndpoint", deliveries::endpoint),
    (
        "WebhookEndpointWithSecret",
        deliveries::endpoint_with_secret,
    ),
    ("WantedEndpoint", deliveries::wanted_endpoint),
    ("Rotation", deliveries::rotation),
    ("Delivery", deliveries::delivery),
    ("DeliveryList", || page_of("Delivery")),
    ("ResendRequest", deliveries::resend_request),
    ("Resent", deliveries::resent),
    ("Notice", mails::mail),
    ("NoticeList", || page_of("Notice")),
    ("MasterKeys", deliveries::master_keys),
    ("Reencrypted", deliveries::reencrypted),
    ("Invoice", shared::invoice),
    ("Operation", operations::operation),
    ("OperationList", || page_of("Operation")),
    ("OperationDetails", operations::details),
    ("DirectAdvance", operations::direct_advance),
    ("Reason", NewReason::schema),
    ("Release", operations::release),
    ("Reproval", operations::reproval),
    ("Extension", operations::extension),
    ("ExtensionList", || page_of("Extension")),
    ("NewExtension", operations::new_extension),
    ("ReceivedInvoice", records::received_invoice),
    ("ReceivedInvoiceList", || page_of("ReceivedInvoice")),
    ("NewReceivedInvoice", records::new_received_invoice),
    ("PaymentOrder", PaymentOrderShape::schema),
    ("PaymentOrderList", || page_of("PaymentOrder")),
    ("NewPaymentOrder", NewPaymentOrder::schema),
    ("Schedule", Schedule::schema),
    ("Advance", records::advance),
    ("Clock", records::clock),
];

/// A reference to one of them.
pub(super) fn named(name: &str) -> Schema {
    Schema::named(ALL, name)
}

fn page_of(name: &str) -> Schema {
    shared::page_of("One page.", named(name), named("Pagination"))
}

fn well() -> Schema {
    let status = Schema::open_words("In a word.", vec!["ok"], "ok");
    let warning = Schema::text(
        "What is not in order though requests are served, for operators.",
        "this machine's clock is 2.7 s ahead of the database's",
    );
    let fields = [required("status", status), optional("warning", warning)];
    Schema::answer("All is well.", fields)
}

fn unwell() -> Schema {
    let status = Schema::open_words("In a word.", vec!["unavailable"], "unavailable");
    let reason = Schema::text(
        "Why, for operators.",
        "the database does not answer in time",
    );
    let fields = [required("status", status), required("reason", reason)];
    Schema::answer("Something is wrong.", fields)
}

/// The two parties of a new record.
fn parties() -> [crate::http::openapi::schema::Field; 2] {
    [
        required("payerCompanyId", Schema::uuid("A construction company.")),
        required("supplierCnpj", cnpj("A registered supplier.")),
    ]
}

/// A tax id in a request.
fn cnpj(description: &str) -> Schema {
    let described = format!("{description} With or without mask.");
    Schema::text(&described, "11444777000161")
        .length(14, 64)
        .pattern(shared::TYPED_CNPJ)
}

/// An amount in a request, except that of an invoice to advance.
fn money(description: &str, example: f64) -> Schema {
    Schema::amount(description, example)
        .above(0)
        .at_most(1_000_000_000)
}
