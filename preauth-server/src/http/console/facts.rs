//! What identifies a record above a form.

use serde_json::Value;

use crate::http::pages::words::Words;
use crate::labels;
use crate::language::Text;

use super::cell::Cell;
use super::names;

/// The members that identify records, in this order; a point leads into an object.
const IDENTIFYING: [(&str, Text); 17] = [
    ("name", labels::NAME),
    ("cnpj", labels::CNPJ),
    ("status", labels::STATUS),
    ("state", labels::STATE),
    ("payer.name", labels::PAYER),
    ("supplier.name", labels::SUPPLIER),
    ("invoice.number", labels::INVOICE),
    ("invoice.amount", labels::AMOUNT),
    ("amount", labels::AMOUNT),
    ("netAmount", labels::NET_AMOUNT),
    ("email", labels::EMAIL),
    ("address", labels::RECIPIENT),
    ("prefix", labels::BEGINS_WITH),
    ("url", labels::URL),
    ("eventType", labels::TYPE),
    ("recipient", labels::RECIPIENT),
    ("newDueDate", labels::NEW_DUE_DATE),
];

/// The members that count what belongs to a record.
const COUNTING: [(&str, Text); 6] = [
    ("contacts", labels::CONTACTS),
    ("users", labels::USERS),
    ("mails", labels::MAILS),
    ("files", labels::INVOICE_FILES),
    ("operationsInProgress", labels::IN_PROGRESS),
    ("openPaymentOrders", labels::OPEN_ORDERS),
];

/// What identifies a record, and what it counts.
pub(super) fn facts(record: &Value, w: Words) -> Vec<(&'static str, Cell)> {
    let fact = |(path, label): &(&str, Text)| {
        let value = path
            .split('.')
            .try_fold(record, |value, it| value.get(it))?;
        let cell = match value {
            Value::String(text) if matches!(*path, "status" | "state") => {
                Cell::Badge(names::badge(text, w))
            }
            Value::String(text) if *path == "eventType" => Cell::name(text, w),
            Value::String(text) => Cell::text(text),
            Value::Number(number) => {
                let amount = serde_json::from_value(Value::Number(number.clone()));
                Cell::money(Some(amount.ok()?), w)
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((label.of(w.0), cell))
    };
    let count = |(name, label): &(&str, Text)| {
        let number = record.get(name)?.as_u64()?;
        Some((label.of(w.0), Cell::number(number, w)))
    };
    let facts = IDENTIFYING.iter().filter_map(fact);
    facts.chain(COUNTING.iter().filter_map(count)).collect()
}
