//! A webhook receiver: keeps the raw body, verifies it, acts once on each event.
//!
//! `cargo run -p examples --bin webhook_receiver -- ready.json`, or with `PREAUTH_WEBHOOK_SECRET`
//! set. `PREAUTH_RECEIVER_LISTEN` moves it away from `127.0.0.1:8090`.
#![expect(clippy::print_stdout, reason = "the receiver says what it hears")]

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use examples::{end, setting};
use preauth_core::value::EventId;
use preauth_core::wire::{EventData, RawEventEnvelope};
use salvo::conn::tcp::TcpAcceptor;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, Response, Router, Server, handler};
use webhook_verify::{SIGNATURE_HEADER, Secret, Verified, Verifier};

const BODY_LIMIT_BYTES: usize = 256 * 1024;
const REMEMBERED_EVENTS: usize = 10_000;

#[tokio::main]
async fn main() -> ExitCode {
    end(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let secret = Secret::parse(&setting("webhookSecret", "PREAUTH_WEBHOOK_SECRET")?)?;
    let listen = env::var("PREAUTH_RECEIVER_LISTEN").unwrap_or("127.0.0.1:8090".into());
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("waiting at http://{}/webhooks", listener.local_addr()?);
    let router = Router::with_path("webhooks").post(Receiver {
        verifier: Verifier::new(secret),
        seen: Mutex::default(),
    });
    Server::new(TcpAcceptor::try_from(listener)?)
        .serve(router)
        .await;
    Ok(())
}

struct Receiver {
    verifier: Verifier,
    /// A real receiver keeps them in its database, in the transaction that acts on the event.
    seen: Mutex<BTreeSet<EventId>>,
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
        // The bytes as they came: parsed and printed again they would have another signature.
        let Ok(body) = request.payload_with_max_size(BODY_LIMIT_BYTES).await else {
            return StatusCode::BAD_REQUEST;
        };
        let signature = signature.as_ref().map(HeaderValue::as_bytes);
        match self.verifier.verify_now(signature, body) {
            Ok(delivery) => self.accept(delivery),
            Err(error) => {
                println!("refused: {error}");
                StatusCode::BAD_REQUEST
            }
        }
    }

    fn accept(&self, delivery: Verified<'_>) -> StatusCode {
        // Genuine, but not understood: the sender tries again until somebody has mended this program.
        let not_understood = StatusCode::INTERNAL_SERVER_ERROR;
        let Ok(event) = RawEventEnvelope::from_json(delivery.body()) else {
            return not_understood;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(&event.id) {
            println!("{} again", event.event_type);
            return StatusCode::NO_CONTENT;
        }
        match event.data() {
            Ok(EventData::Operation(data)) => {
                let (id, status) = (data.anticipation_id, data.status);
                println!("{}: operation {id} is {status}", event.event_type);
            }
            // One that is newer than this program, too: nobody is helped by refusing it.
            Ok(_) => println!("{}", event.event_type),
            Err(_) => return not_understood,
        }
        seen.insert(event.id);
        if seen.len() > REMEMBERED_EVENTS {
            // Ids are in the order of time: the least recent one goes.
            seen.pop_first();
        }
        StatusCode::NO_CONTENT
    }
}
