//! Every route of the platform API with its minimum role, in one place.

use std::sync::Arc;

use preauth_core::access::OperatorRole::{self, Admin, Operator, Viewer};

use crate::clock::TimeMachine;
use crate::http::openapi::described::Described;

use super::resource::Resource;
use super::{
    api_keys, audit_log, blocked_suppliers, calling_operator, companies, credit_analysis,
    deliveries, extensions, invoices, mails, master_keys, operations, operators, overview,
    payment_orders, personal_data, reports, resend_range, sandbox_clock, suppressed_addresses,
    users, webhook_endpoint,
};

/// The lowest role that may move the clock, in a sandbox.
pub(super) const TIME_TRAVEL: OperatorRole = Admin;

/// Method and path of every route, HEAD included, so that documents and tests can be compared with
/// them. A sandbox has one more, which moves its clock.
#[must_use]
pub fn routes() -> Vec<(String, String)> {
    let resources = all(None);
    resources.iter().flat_map(Resource::names).collect()
}

/// Every route as its endpoint describes it, in the order of the description.
pub(super) fn described() -> Vec<Described> {
    let resources = all(None);
    resources.iter().flat_map(Resource::described).collect()
}

/// Every path with its endpoints; time travel only with a time machine.
pub(super) fn all(time_machine: Option<&Arc<TimeMachine>>) -> Vec<Resource> {
    let mut resources = operator_resources();
    resources.extend(company_resources());
    resources.extend([
        at("master-keys").get(Viewer, master_keys::Find),
        at("master-keys/reencrypt").post(Admin, master_keys::Reencrypt),
        at("operations")
            .get(Viewer, operations::List)
            .create(Operator, operations::Add),
        at("operations/{id}").get(Viewer, operations::Find),
        at("operations/{id}/invoice-file").get(Viewer, operations::InvoiceFile),
    ]);
    resources.extend(operation_actions());
    resources.extend([
        at("operations/{id}/extensions")
            .get(Viewer, extensions::List)
            .create(Operator, extensions::Add),
        at("extensions/{id}").get(Viewer, extensions::Find),
        at("extensions/{id}/conclude").post(Operator, extensions::CONCLUDE),
        at("extensions/{id}/cancel").post(Operator, extensions::CANCEL),
        at("invoices")
            .get(Viewer, invoices::List)
            .create(Operator, invoices::Add),
        at("invoices/{id}").get(Viewer, invoices::Find),
        at("payment-orders")
            .get(Viewer, payment_orders::List)
            .create(Operator, payment_orders::Add),
        at("payment-orders/{id}").get(Viewer, payment_orders::Find),
    ]);
    resources.extend(order_actions());
    resources.extend(time_machine.map(|machine| {
        at("sandbox/clock").post(TIME_TRAVEL, sandbox_clock::Advance(Arc::clone(machine)))
    }));
    resources
}

fn at(path: &str) -> Resource {
    Resource::at(path)
}

/// Operators, and the one who calls.
fn operator_resources() -> Vec<Resource> {
    vec![
        at("calling-operator").get(Viewer, calling_operator::Find),
        at("operators")
            .get(Viewer, operators::List)
            .create(Admin, operators::Add),
        at("operators/{id}").get(Viewer, operators::Find),
        at("operators/{id}/revoke").post(Admin, operators::Revoke),
        at("audit-log").get(Viewer, audit_log::List),
        at("attention").get(Viewer, overview::Attend),
        at("reports").get(Viewer, reports::Find),
    ]
}

/// Companies and what belongs to them: users, keys, the endpoint with its deliveries, and mails.
fn company_resources() -> Vec<Resource> {
    vec![
        at("companies")
            .get(Viewer, companies::List)
            .create(Admin, companies::Add),
        at("companies/{id}")
            .get(Viewer, companies::Find)
            .patch(Admin, companies::Update),
        at("companies/{id}/branches").get(Viewer, companies::Branches),
        at("companies/{id}/invitations").get(Viewer, companies::Invitations),
        at("companies/{id}/suspend").post(Admin, companies::Suspend),
        at("companies/{id}/resume").post(Admin, companies::Resume),
        at("companies/{id}/credit-analysis")
            .get(Viewer, credit_analysis::Find)
            .put(Admin, credit_analysis::Set),
        at("companies/{id}/blocked-suppliers").get(Viewer, blocked_suppliers::List),
        at("companies/{id}/blocked-suppliers/{cnpj}")
            .get(Viewer, blocked_suppliers::Find)
            .put(Admin, blocked_suppliers::Block)
            .delete(Admin, blocked_suppliers::Unblock),
        at("companies/{id}/users")
            .get(Viewer, users::List)
            .create(Admin, users::Add),
        at("users/{id}")
            .get(Viewer, users::Find)
            .patch(Admin, users::Update),
        at("companies/{id}/api-keys")
            .get(Viewer, api_keys::List)
            .create(Admin, api_keys::Add),
        at("api-key-search").post(Viewer, api_keys::Search),
        at("api-keys/{id}")
            .get(Viewer, api_keys::Find)
            .delete(Admin, api_keys::Revoke),
        at("companies/{id}/webhook-endpoint")
            .get(Viewer, webhook_endpoint::Find)
            .put(Operator, webhook_endpoint::Set)
            .delete(Operator, webhook_endpoint::Delete),
        at("companies/{id}/webhook-endpoint/pause").post(Operator, webhook_endpoint::PAUSE),
        at("companies/{id}/webhook-endpoint/resume").post(Operator, webhook_endpoint::RESUME),
        at("companies/{id}/webhook-endpoint/rotate-secret")
            .post(Operator, webhook_endpoint::RotateSecret),
        at("companies/{id}/webhook-endpoint/test").create(Operator, webhook_endpoint::Test),
        at("companies/{id}/deliveries").get(Viewer, deliveries::List),
        at("companies/{id}/deliveries/resend").post(Operator, deliveries::ResendFailed),
        at("companies/{id}/deliveries/resend-range").post(Operator, resend_range::Queue),
        at("companies/{id}/deliveries/resend-range/count").post(Viewer, resend_range::Count),
        at("deliveries").get(Viewer, deliveries::ListAll),
        at("deliveries/{id}").get(Viewer, deliveries::Find),
        at("deliveries/{id}/resend").post(Operator, deliveries::Resend),
        at("companies/{id}/notices").get(Viewer, mails::List),
        at("notices").get(Viewer, mails::ListAll),
        at("notices/{id}").get(Viewer, mails::Find),
        at("notices/{id}/resend").post(Operator, mails::Resend),
        at("personal-data/{cnpj}").get(Viewer, personal_data::Find),
        at("personal-data/{cnpj}/export").get(Viewer, personal_data::Export),
        at("personal-data/{cnpj}/erasure").post(Admin, personal_data::Erase),
        at("suppressed-addresses").get(Viewer, suppressed_addresses::List),
        at("suppressed-addresses/{id}")
            .get(Viewer, suppressed_addresses::Find)
            .delete(Operator, suppressed_addresses::Remove),
    ]
}

/// A path for each action on an operation.
fn operation_actions() -> impl Iterator<Item = Resource> {
    let actions = operations::ACTIONS.iter();
    actions.map(|action| {
        Resource::at(format!("operations/{{id}}/{}", action.segment)).post(Operator, action)
    })
}

/// A path for each action on a payment order.
fn order_actions() -> impl Iterator<Item = Resource> {
    let actions = payment_orders::ACTIONS.iter();
    actions.map(|action| {
        Resource::at(format!("payment-orders/{{id}}/{}", action.segment)).post(Operator, action)
    })
}
