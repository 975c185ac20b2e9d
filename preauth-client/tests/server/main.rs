//! The client against the real service.
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod answers;
#[cfg(feature = "blocking")]
mod blocking;
mod errors;
mod events;
mod files;
mod following;
mod many;
mod pages;
mod webhooks;

use preauth_client::value::{IdempotencyKey, Money};
use preauth_client::{Client, NewPreAuthorization, RetryPolicy};
use preauth_server::testing::TestServer;

fn client(server: &TestServer) -> Client {
    Client::new(server.base_url(), server.api_key()).unwrap()
}

/// A client with another key, which takes the first answer for the last.
fn client_once(server: &TestServer, key: &str) -> Client {
    let builder = Client::builder(server.base_url(), key);
    builder.retry(RetryPolicy::never()).build().unwrap()
}

/// An offer of the invoice with this number, under a key of its own.
fn offer(server: &TestServer, number: &str) -> NewPreAuthorization {
    NewPreAuthorization::new(
        server.credentials().supplier_cnpj.parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::parse("12500.50").unwrap(),
        server.days_ahead(60),
        number.parse().unwrap(),
    )
}

fn key(text: &str) -> IdempotencyKey {
    text.parse().unwrap()
}
