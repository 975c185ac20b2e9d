//! What identifies a record above a form.

use preauth_core::value::{Cnpj, DueDate};
use serde_json::Value;

use crate::http::pages::words::Words;
use crate::labels;
use crate::language::Text;

use super::cell::Cell;
use super::names;
use super::record_kinds::RecordKind;

/// The members that identify records, in this order; a point leads into an object.
const IDENTIFYING: [(&str, Text); 20] = [
    ("name", labels::NAME),
    ("cnpj", labels::CNPJ),
    ("status", labels::STATUS),
    ("state", labels::STATE),
    ("payer.name", labels::PAYER),
    ("supplier.name", labels::SUPPLIER),
    ("invoice.number", labels::INVOICE),
    ("invoice.amount", labels::AMOUNT),
    ("invoice.withheldTaxAmount", labels::WITHHELD_TAX),
    ("invoice.dueDate", labels::DUE_DATE),
    ("amount", labels::AMOUNT),
    ("netAmount", labels::NET_AMOUNT),
    ("email", labels::EMAIL),
    ("address", labels::RECIPIENT),
    ("prefix", labels::BEGINS_WITH),
    ("url", labels::URL),
    ("eventType", labels::TYPE),
    ("recipient", labels::RECIPIENT),
    ("newDueDate", labels::NEW_DUE_DATE),
    ("totalAmount", labels::TOTAL_AMOUNT),
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

/// What a form is about: the kind of record, and its name or number.
pub(super) struct Named {
    kind: &'static RecordKind,
    id: String,
    name: Option<String>,
    w: Words,
}

impl Named {
    /// The record at a route of the API, such as `operations/{id}`.
    pub(super) fn of(route: &str, record: &Value, w: Words) -> Option<Self> {
        let kind = RecordKind::of(route)?;
        let id = if route.contains("{cnpj}") {
            "cnpj"
        } else {
            "id"
        };
        let id = match record.get(id)? {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let name = ["name", "address"].iter().find_map(|it| record.get(it));
        let name = name.and_then(Value::as_str).map(ToOwned::to_owned);
        Some(Self { kind, id, name, w })
    }

    /// Kind and name, or number, for a title.
    pub(super) fn title(&self) -> String {
        let id = || masked(&self.id);
        let name = self.name.clone().unwrap_or_else(id);
        format!("{} {name}", self.kind.capitalized(self.w))
    }

    /// The same as a fact, with the id and a link to the record's page.
    fn fact(&self) -> (&'static str, Cell) {
        let id = masked(&self.id);
        let shown = self.name.clone().unwrap_or_else(|| id.clone());
        let cell = match self.kind.page(&self.id) {
            Some(href) => Cell::link(href, shown),
            None => Cell::text(shown),
        };
        let cell = match self.name {
            Some(_) => cell.and(id),
            None => cell,
        };
        (self.kind.name.of(self.w.0), cell)
    }
}

/// A CNPJ as people write it; another text stays.
pub(super) fn masked(text: &str) -> String {
    Cnpj::parse(text).map_or_else(|_| text.to_owned(), |cnpj| cnpj.masked())
}

/// What identifies a record, and what it counts.
pub(super) fn facts(named: Option<&Named>, record: &Value, w: Words) -> Vec<(&'static str, Cell)> {
    let is_masculine = named.is_some_and(|it| it.kind.is_masculine);
    let has_name = named.is_some_and(|it| it.name.is_some());
    let is_said = |path: &str| match path {
        "name" | "address" => has_name,
        // The whole record is the data of one company.
        "cnpj" => named.is_some_and(|it| it.name.is_none() && masked(&it.id) != it.id),
        _ => false,
    };
    let operation = record.get("operationId").and_then(Value::as_u64);
    let operation = operation.map(|id| {
        let href = format!("/console/operations/{id}");
        (labels::OPERATION.of(w.0), Cell::link(href, id))
    });
    let fact = |(path, label): &(&str, Text)| {
        let value = path
            .split('.')
            .try_fold(record, |value, it| value.get(it))?;
        let cell = match value {
            Value::String(text) if matches!(*path, "status" | "state") => {
                Cell::Badge(if is_masculine {
                    names::masculine_badge(text, w)
                } else {
                    names::badge(text, w)
                })
            }
            Value::String(text) if *path == "cnpj" => Cell::code(masked(text)),
            Value::String(text) if *path == "eventType" => Cell::name(text, w),
            Value::String(text) if path.ends_with("ueDate") => match DueDate::parse(text) {
                Ok(day) => Cell::day(day, w),
                Err(_) => Cell::text(text),
            },
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
    let first = named.map(Named::fact).into_iter().chain(operation);
    let facts = IDENTIFYING.iter().filter(|(path, _)| !is_said(path));
    let facts = first.chain(facts.filter_map(fact));
    facts.chain(COUNTING.iter().filter_map(count)).collect()
}
