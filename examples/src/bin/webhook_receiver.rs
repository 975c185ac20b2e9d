//! A webhook receiver: keeps the raw body, verifies it, and acts once on each event, using the
//! operation's current state. Events may arrive late and in any order; a GET returns the current
//! state.
//!
//! `cargo run -p examples --bin webhook_receiver -- ready.json`, or with `PREAUTH_WEBHOOK_SECRET`,
//! `PREAUTH_BASE_URL` and `PREAUTH_API_KEY` set. `PREAUTH_RECEIVER_LISTEN` moves it away from
//! `127.0.0.1:8090`.
#![expect(clippy::print_stdout, reason = "the receiver prints what it receives")]

use std::env;
use std::error::Error;
use std::process::ExitCode;

use examples::{argument, chain, end, setting};
use preauth_client::Client;
use salvo::conn::tcp::TcpAcceptor;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, Response, Router, Server, handler};
use webhook_verify::events::{Event, EventData, Handled, MemorySeen, Once};
use webhook_verify::{SIGNATURE_HEADER, Secret, Verified, Verifier};

const BODY_LIMIT_BYTES: usize = 256 * 1024;

#[tokio::main]
async fn main() -> ExitCode {
    end(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let ready = || argument(1);
    let secret = setting(ready(), "webhookSecret", "PREAUTH_WEBHOOK_SECRET")?;
    let base_url = setting(ready(), "baseUrl", "PREAUTH_BASE_URL")?;
    let api_key = setting(ready(), "apiKey", "PREAUTH_API_KEY")?;
    let listen = env::var("PREAUTH_RECEIVER_LISTEN").unwrap_or("127.0.0.1:8090".into());
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("waiting at http://{}/webhooks", listener.local_addr()?);
    let router = Router::with_path("webhooks").post(Receiver {
        verifier: Verifier::new(Secret::parse(&secret)?),
        client: Client::new(base_url, api_key)?,
        once: Once::new(MemorySeen::default()),
    });
    Server::new(TcpAcceptor::try_from(listener)?)
        .serve(router)
        .await;
    Ok(())
}

struct Receiver {
    verifier: Verifier,
    client: Client,
    /// A real receiver stores this in its database, in the transaction that acts on the event.
    once: Once<MemorySeen>,
}

#[handler]
impl Receiver {
    async fn handle(&self, request: &mut Request, response: &mut Response) {
        response.status_code(self.receive(request).await);
    }
}

impl Receiver {
    async fn receive(&self, request: &mut Request) -> StatusCode {
        let signature = request.headers().get(SIGNATURE_HEADER).cloned();
        // The bytes as they came: a parsed and reprinted body would have another signature.
        let Ok(body) = request.payload_with_max_size(BODY_LIMIT_BYTES).await else {
            return StatusCode::BAD_REQUEST;
        };
        let signature = signature.as_ref().map(HeaderValue::as_bytes);
        match self.verifier.verify_now(signature, body) {
            Ok(delivery) => self.accept(delivery).await,
            Err(error) => {
                println!("refused: {error}");
                StatusCode::BAD_REQUEST
            }
        }
    }

    async fn accept(&self, delivery: Verified<'_>) -> StatusCode {
        let event = match delivery.event() {
            Ok(event) => event,
            // Authentic, but not understood: the sender retries until this program is corrected.
            Err(error) => {
                println!("not understood: {error}");
                return StatusCode::INTERNAL_SERVER_ERROR;
            }
        };
        match self
            .once
            .handle(event.id(), async || self.act_on(&event).await)
            .await
        {
            Ok(Handled::Now(())) => StatusCode::NO_CONTENT,
            Ok(Handled::Before) => {
                println!("{} again", event.event_type());
                StatusCode::NO_CONTENT
            }
            Ok(Handled::UnderWay) => StatusCode::SERVICE_UNAVAILABLE,
            Err(error) => {
                println!("not done: {}", chain(&error));
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// A real receiver writes to its database here. A failed event is processed again at the next
    /// delivery.
    async fn act_on(&self, event: &Event) -> Result<(), preauth_client::Error> {
        let EventData::Operation(reported) = event.data() else {
            // Including types newer than this program: refusing them helps nobody.
            println!("{}", event.event_type());
            return Ok(());
        };
        let id = reported.anticipation_id;
        let now = self.client.get(id).await?;
        println!("{}: operation {id} is {}", event.event_type(), now.status);
        Ok(())
    }
}
