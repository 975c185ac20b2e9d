//! Companies with a key and an endpoint each.

use chrono::Days;
use preauth_core::value::calendar;
use preauth_server::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::http::call;
use crate::receiver::Receiver;

const SUPPLIER: u64 = 90_000_001;
const WEIGHTS: [u64; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/// A construction company.
pub(crate) struct Company {
    key: String,
    due: String,
}

/// Registers the supplier of all offers.
pub(crate) fn register_supplier(platform: &str) {
    let supplier = json!({"cnpj": cnpj(SUPPLIER), "name": "Fornecedor", "kind": "SUPPLIER"});
    call(platform, "POST", "/companies", &supplier);
}

impl Company {
    pub(crate) fn register(platform: &str, number: u64, receiver: &Receiver) -> Self {
        let send = |method, path: &str, body: Value| call(platform, method, path, &body);
        let company = json!({"cnpj": cnpj(number), "name": "Construtora", "kind": "CONSTRUCTION"});
        let id = text(&send("POST", "/companies", company), "id");
        let of = |what: &str| format!("/companies/{id}/{what}");
        let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000});
        send("PUT", &of("credit-analysis"), credit);
        let user = json!({"name": "Ana", "email": "ana@construtora.com.br",
            "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"]});
        let user = text(&send("POST", &of("users"), user), "id");
        let endpoint = json!({"url": receiver.url(), "events": ["pre_authorization.created"]});
        send("PUT", &of("webhook-endpoint"), endpoint);
        let key = json!({"name": "ERP", "responsibleUserId": user,
            "scopes": ["preauth:read", "preauth:write"]});
        let due = calendar::today(SystemClock.now()).checked_add_days(Days::new(60));
        Self {
            key: text(&send("POST", &of("api-keys"), key), "key"),
            due: due.unwrap().to_string(),
        }
    }

    /// The bytes of a request that creates an operation.
    pub(crate) fn create(&self, invoice: u64) -> String {
        let body = json!({
            "supplier": {"cnpj": cnpj(SUPPLIER), "email": "financeiro@fornecedor.com.br"},
            "invoice": {"amount": 1000.5, "dueDate": self.due, "number": format!("NF-{invoice}")},
            "externalReference": format!("pedido {invoice}"),
        });
        let body = body.to_string();
        format!(
            "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Idempotency-Key: create-{invoice}\r\nContent-Length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        )
    }

    /// The bytes of a read request.
    pub(crate) fn get(&self, path: &str) -> String {
        format!(
            "GET /api/integration/v1/pre-authorizations{path} HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\n\r\n",
            self.key
        )
    }
}

fn text(answer: &Value, field: &str) -> String {
    answer
        .get(field)
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}

/// The number with its two check digits.
fn cnpj(number: u64) -> String {
    let mut digits = format!("{number:08}0001");
    for skipped in [1, 0] {
        let weights = WEIGHTS.iter().skip(skipped);
        let sum: u64 = digits
            .bytes()
            .zip(weights)
            .map(|(digit, weight)| u64::from(digit.saturating_sub(b'0')).saturating_mul(*weight))
            .sum();
        let check = match sum % 11 {
            0 | 1 => 0,
            rest => 11_u64.saturating_sub(rest),
        };
        digits.push_str(&check.to_string());
    }
    digits
}
