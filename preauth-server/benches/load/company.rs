//! Companies on the platform, and the requests of one with a key.

use chrono::Days;
use preauth_client::{Client, NewPreAuthorization};
use preauth_core::value::{Money, calendar};
use preauth_server::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::http::call;

const SUPPLIER: u64 = 90_000_001;
const BOUNDARY: &str = "b-o-u-n-d-a-r-y";
/// The bytes of an invoice file that its upload begins with.
pub(crate) const BEGIN_OF_FILE_BYTES: usize = 18;
/// What follows the content of an invoice file.
pub(crate) const END_OF_UPLOAD: &str = "\r\n--b-o-u-n-d-a-r-y--\r\n";
const WEIGHTS: [u64; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/// A construction company with a key.
pub(crate) struct Company {
    pub(crate) id: String,
    key: String,
    due: String,
}

/// Registers the supplier of all offers, and returns its id.
pub(crate) fn register_supplier(platform: &str) -> String {
    register(platform, SUPPLIER, "Fornecedor", "SUPPLIER")
}

/// Registers a company, and returns its id.
pub(crate) fn register(platform: &str, number: u64, name: &str, kind: &str) -> String {
    let company = json!({"cnpj": cnpj(number), "name": name, "kind": kind});
    text(&call(platform, "POST", "/companies", &company), "id")
}

/// Registers the endpoint of a company for the events of its creates and expiries.
pub(crate) fn register_endpoint(platform: &str, company: &str, url: &str) {
    let events = ["pre_authorization.created", "pre_authorization.expired"];
    let endpoint = json!({"url": url, "events": events});
    let path = format!("/companies/{company}/webhook-endpoint");
    call(platform, "PUT", &path, &endpoint);
}

pub(crate) fn supplier_cnpj() -> String {
    cnpj(SUPPLIER)
}

impl Company {
    pub(crate) fn register(platform: &str, number: u64) -> Self {
        let id = register(platform, number, "Construtora", "CONSTRUCTION");
        let send = |method, what: &str, body: Value| {
            call(platform, method, &format!("/companies/{id}/{what}"), &body)
        };
        let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000});
        send("PUT", "credit-analysis", credit);
        let user = json!({"name": "Ana", "email": "ana@construtora.com.br",
            "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"]});
        let user = text(&send("POST", "users", user), "id");
        let key = json!({"name": "ERP", "responsibleUserId": user,
            "scopes": ["preauth:read", "preauth:write"]});
        let key = text(&send("POST", "api-keys", key), "key");
        let due = calendar::today(SystemClock.now()).checked_add_days(Days::new(60));
        let due = due.unwrap().to_string();
        Self { id, key, due }
    }

    /// The bytes of a request that creates an operation, whose supplier gets its mail at this one of
    /// its addresses.
    pub(crate) fn create(&self, invoice: u64, address: u64) -> String {
        let body = json!({
            "supplier": {
                "cnpj": cnpj(SUPPLIER),
                "email": format!("financeiro{address}@fornecedor.com.br"),
            },
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

    /// The beginning of a create with an invoice file, up to the first bytes of the file. So many follow, and then
    /// [`END_OF_UPLOAD`].
    pub(crate) fn upload(&self, invoice: u64, following: usize) -> String {
        // The number makes each file another one.
        let begin = format!("%PDF-1.7 {invoice:>9}");
        assert!(begin.len() == BEGIN_OF_FILE_BYTES);
        let part = |name: &str, more: &str, content: &str| {
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{content}"
            )
        };
        let supplier = json!({"cnpj": cnpj(SUPPLIER), "email": "financeiro0@fornecedor.com.br"});
        let invoice =
            json!({"amount": 1000.5, "dueDate": self.due, "number": format!("NF-{invoice}")});
        let pdf = "; filename=\"nota.pdf\"\r\nContent-Type: application/pdf";
        let parts = [
            part("supplier", "", &format!("{supplier}\r\n")),
            part("invoice", "", &format!("{invoice}\r\n")),
            part("invoiceFile", pdf, &begin),
        ]
        .concat();
        format!(
            "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n\
             Content-Length: {}\r\n\r\n{parts}",
            self.key,
            parts.len() + following + END_OF_UPLOAD.len()
        )
    }

    /// A new offer, for the client.
    pub(crate) fn offer(&self, invoice: u64) -> NewPreAuthorization {
        let offer = NewPreAuthorization::new(
            cnpj(SUPPLIER).parse().unwrap(),
            "financeiro0@fornecedor.com.br".parse().unwrap(),
            Money::from_cents(100_050).unwrap(),
            self.due.parse().unwrap(),
            format!("NF-{invoice}").parse().unwrap(),
        );
        offer.external_reference(format!("pedido {invoice}").parse().unwrap())
    }

    /// A client with its key.
    pub(crate) fn client(&self, address: &str) -> Client {
        Client::new(format!("http://{address}"), self.key.as_str()).unwrap()
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
    let text = answer.get(field).and_then(Value::as_str);
    text.unwrap().to_owned()
}

/// The number with its two check digits.
fn cnpj(number: u64) -> String {
    let mut digits = format!("{number:08}0001");
    for skipped in [1, 0] {
        let weights = WEIGHTS.iter().skip(skipped);
        let sum: u64 = digits
            .bytes()
            .zip(weights)
            .map(|(digit, weight)| u64::from(digit - b'0') * weight)
            .sum();
        let check = match sum % 11 {
            0 | 1 => 0,
            rest => 11 - rest,
        };
        digits.push_str(&check.to_string());
    }
    digits
}
