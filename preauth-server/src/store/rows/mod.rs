//! Converts rows of either database into the values that they were written from.
//!
//! Both databases use the same column names, so the meaning of a row is defined once, here. Each
//! database has its own code for its driver's types.

mod audit_entry;
mod columns;
mod company;
mod console_session;
mod delivery;
mod event;
mod invoice;
mod invoice_file;
mod key;
mod offer;
mod operation;
mod operator;
mod order;
mod party;
mod platform_reply;
mod raw;
mod state;
mod stored;

pub(super) use audit_entry::audit_entry;
pub(super) use columns::{Columns, Corrupt, clamped, count, set_text};
pub(super) use company::{company, credit, invitation, user};
pub(super) use console_session::console_session;
pub(super) use delivery::{attempt, delivery};
pub(super) use event::history_entry;
pub(super) use invoice::{invoice, select_invoices};
pub(super) use invoice_file::{content_hash, invoice_file};
pub(super) use key::{
    api_key, find_key_parties, join_key_parties, key_columns, key_hash, key_record,
};
pub(super) use offer::{FoundOffer, found_offer};
pub(super) use operation::{
    compared_number, extension, operation, readable_operations, select_operations,
};
pub(super) use operator::{operator, operator_hash};
pub(super) use order::{MAX_OTHER_ORDERS, order, other_order, select_orders, select_other_orders};
pub(super) use party::{PAYER, SUPPLIER, join_supplier, party, supplier_columns};
pub(super) use platform_reply::platform_reply;
pub(super) use raw::{RawRow, raw_row};
pub(super) use state::StateColumns;
