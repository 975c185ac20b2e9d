//! The verifier beside other libraries for signed webhooks, each with a genuine delivery in the form
//! that it reads (see docs/benchmarks.md).
//!
//! ```text
//! cargo run --release [--features aws-lc-rs]
//! ```

#[path = "../../verify/contestants.rs"]
mod contestants;
#[path = "../../verify/race.rs"]
mod race;

use std::hint::black_box;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use stripe_webhook::{Webhook as Stripe, WebhookError as StripeError};

use contestants::{Delivery, SECRET, floor, ours};
use race::Contestant;

const BODY_BYTES: [usize; 2] = [1024, 64 * 1024];
const EVENT_ID: &str = "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e";

fn main() {
    for bytes in BODY_BYTES {
        let delivery = Delivery::of(bytes);
        let contestants = [
            floor(&delivery),
            ours(&delivery),
            standard_webhooks(&delivery),
            svix(&delivery),
            stripe(&delivery),
        ];
        race::run(&format!("{bytes} bytes"), &contestants);
    }
}

/// Both of these decode what follows the prefix, as standard base64.
fn key() -> String {
    format!("whsec_{}", STANDARD.encode(SECRET))
}

fn headers(delivery: &Delivery, signature: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", EVENT_ID.parse().unwrap());
    headers.insert("webhook-timestamp", delivery.signed_at.into());
    headers.insert("webhook-signature", signature.parse().unwrap());
    headers
}

fn standard_webhooks(delivery: &Delivery) -> Contestant<'_> {
    let webhook = standardwebhooks::Webhook::new(&key()).unwrap();
    let signature = webhook.sign(EVENT_ID, delivery.signed_at, &delivery.body);
    let headers = headers(delivery, &signature.unwrap());
    Contestant::new("standardwebhooks", move || {
        let body = black_box(delivery.body.as_slice());
        webhook.verify(body, black_box(&headers)).is_ok()
    })
}

fn svix(delivery: &Delivery) -> Contestant<'_> {
    let webhook = svix::webhooks::Webhook::new(&key()).unwrap();
    let signature = webhook.sign(EVENT_ID, delivery.signed_at, &delivery.body);
    let headers = headers(delivery, &signature.unwrap());
    Contestant::new("svix", move || {
        let body = black_box(delivery.body.as_slice());
        webhook.verify(body, black_box(&headers)).is_ok()
    })
}

/// Verifies and parses in one; a body that is no JSON ends its parsing at the first byte, so that
/// little more than the verification is left.
fn stripe(delivery: &Delivery) -> Contestant<'_> {
    let body = std::str::from_utf8(&delivery.body).unwrap();
    Contestant::new("async-stripe-webhook", move || {
        let (body, header) = (black_box(body), black_box(delivery.header.as_str()));
        let outcome = Stripe::construct_event(body, header, SECRET);
        matches!(outcome, Err(StripeError::BadParse(_)))
    })
}
