//! Bodies of create requests.

use serde_json::{Value, json};

use crate::{Sandbox, due_date};

/// A body that a fresh sandbox accepts, with this invoice number.
pub fn offer_body(sandbox: &Sandbox, number: &str) -> Value {
    json!({
        "supplier": {
            "cnpj": sandbox.text("supplierCnpj"),
            "email": "financeiro@fornecedor.example.com",
        },
        "invoice": {
            "amount": 12500.5,
            "dueDate": due_date(60).to_string(),
            "number": number,
        },
    })
}

/// `body` with the value at `pointer` (e.g. `/invoice/amount`) replaced or added.
pub fn with(mut body: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[name] = value;
    body
}
