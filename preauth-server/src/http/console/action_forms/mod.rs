//! Every form of the console, by the record that it is about.

pub(super) mod companies;
pub(super) mod extensions;
pub(super) mod invoices;
pub(super) mod master_keys;
pub(super) mod operations;
pub(super) mod operators;
pub(super) mod payment_orders;
pub(super) mod personal_data;
pub(super) mod sandbox;
pub(super) mod webhooks;

use super::action_form::ActionForm;

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static ActionForm> {
    [
        operations::ALL,
        extensions::ALL,
        companies::ALL,
        operators::ALL,
        invoices::ALL,
        master_keys::ALL,
        personal_data::ALL,
        payment_orders::ALL,
        webhooks::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
