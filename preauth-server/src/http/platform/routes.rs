//! Every route of the platform API, in one place.

use std::sync::Arc;

use crate::clock::TimeMachine;
use crate::http::openapi::described::Described;

use super::resource::Resource;
use super::{
    api_keys, blocked_suppliers, companies, credit_analysis, deliveries, extensions, invoices,
    mails, master_keys, operations, payment_orders, sandbox_clock, users, webhook_endpoint,
};

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
    let mut resources = company_resources();
    resources.extend([
        at("master-keys").get(master_keys::Find),
        at("master-keys/reencrypt").post(master_keys::Reencrypt),
        at("operations")
            .get(operations::List)
            .create(operations::Add),
        at("operations/{id}").get(operations::Find),
        at("operations/{id}/invoice-file").get(operations::InvoiceFile),
    ]);
    resources.extend(operation_actions());
    resources.extend([
        at("operations/{id}/extensions")
            .get(extensions::List)
            .create(extensions::Add),
        at("extensions/{id}").get(extensions::Find),
        at("extensions/{id}/conclude").post(extensions::CONCLUDE),
        at("extensions/{id}/cancel").post(extensions::CANCEL),
        at("invoices").get(invoices::List).create(invoices::Add),
        at("invoices/{id}").get(invoices::Find),
        at("payment-orders")
            .get(payment_orders::List)
            .create(payment_orders::Add),
        at("payment-orders/{id}").get(payment_orders::Find),
    ]);
    resources.extend(order_actions());
    resources.extend(
        time_machine
            .map(|machine| at("sandbox/clock").post(sandbox_clock::Advance(Arc::clone(machine)))),
    );
    resources
}

fn at(path: &str) -> Resource {
    Resource::at(path)
}

/// Companies and what belongs to them: users, keys, the endpoint with its deliveries, and mails.
fn company_resources() -> Vec<Resource> {
    vec![
        at("companies").get(companies::List).create(companies::Add),
        at("companies/{id}")
            .get(companies::Find)
            .patch(companies::Update),
        at("companies/{id}/invitations").get(companies::Invitations),
        at("companies/{id}/suspend").post(companies::Suspend),
        at("companies/{id}/resume").post(companies::Resume),
        at("companies/{id}/credit-analysis")
            .get(credit_analysis::Find)
            .put(credit_analysis::Set),
        at("companies/{id}/blocked-suppliers").get(blocked_suppliers::List),
        at("companies/{id}/blocked-suppliers/{cnpj}")
            .get(blocked_suppliers::Find)
            .put(blocked_suppliers::Block)
            .delete(blocked_suppliers::Unblock),
        at("companies/{id}/users")
            .get(users::List)
            .create(users::Add),
        at("users/{id}").get(users::Find).patch(users::Update),
        at("companies/{id}/api-keys")
            .get(api_keys::List)
            .create(api_keys::Add),
        at("api-key-search").post(api_keys::Search),
        at("api-keys/{id}")
            .get(api_keys::Find)
            .delete(api_keys::Revoke),
        at("companies/{id}/webhook-endpoint")
            .get(webhook_endpoint::Find)
            .put(webhook_endpoint::Set)
            .delete(webhook_endpoint::Delete),
        at("companies/{id}/webhook-endpoint/pause").post(webhook_endpoint::PAUSE),
        at("companies/{id}/webhook-endpoint/resume").post(webhook_endpoint::RESUME),
        at("companies/{id}/webhook-endpoint/rotate-secret").post(webhook_endpoint::RotateSecret),
        at("companies/{id}/webhook-endpoint/test").create(webhook_endpoint::Test),
        at("companies/{id}/deliveries").get(deliveries::List),
        at("companies/{id}/deliveries/resend").post(deliveries::ResendFailed),
        at("deliveries/{id}").get(deliveries::Find),
        at("deliveries/{id}/resend").post(deliveries::Resend),
        at("companies/{id}/notices").get(mails::List),
        at("notices/{id}").get(mails::Find),
        at("notices/{id}/resend").post(mails::Resend),
    ]
}

/// A path for each action on an operation.
fn operation_actions() -> impl Iterator<Item = Resource> {
    let actions = operations::ACTIONS.iter();
    actions.map(|action| Resource::at(format!("operations/{{id}}/{}", action.segment)).post(action))
}

/// A path for each action on a payment order.
fn order_actions() -> impl Iterator<Item = Resource> {
    let actions = payment_orders::ACTIONS.iter();
    actions.map(|action| {
        Resource::at(format!("payment-orders/{{id}}/{}", action.segment)).post(action)
    })
}
