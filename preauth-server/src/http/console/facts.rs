//! What identifies a record above a form.

use serde_json::Value;

use crate::http::pages::words::Words;
use crate::labels;
use crate::language::Text;

use super::cell::Cell;
use super::names;

/// The members that identify records, in this order; a point leads into an object.
const IDENTIFYING: [(&str, Text); 16] = [
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
    ("prefix", labels::BEGINS_WITH),
    ("url", labels::URL),
    ("eventType", labels::TYPE),
    ("recipient", labels::RECIPIENT),
    ("newDueDate", labels::NEW_DUE_DATE),
];

/// What identifies a record.
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
    IDENTIFYING.iter().filter_map(fact).collect()
}
