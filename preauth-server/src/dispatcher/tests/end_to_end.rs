//! From the outbox to a verified event, over a real socket.

use std::sync::Arc;

use preauth_core::memory::DeliveryStatus;
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

use super::receiver::{Behaviour, Receiver};
use super::{SECRET, World};
use crate::clock::Clock;
use crate::dispatcher::{EndpointPolicy, EndpointValidator, HttpSender, HttpSenderOptions};

// Contract: authentication/webhooks
#[tokio::test]
async fn a_delivery_is_verified_by_its_receiver() {
    let receiver = Receiver::start(Behaviour::answer("200 OK", "obrigado")).await;
    let world = World::new();
    let event = world.event(world.endpoint(&receiver.url())).await;
    let validator = EndpointValidator::by_system(EndpointPolicy::sandbox());
    let sender = HttpSender::new(HttpSenderOptions::new(validator)).unwrap();
    world.dispatcher(Arc::new(sender)).run_once().await.unwrap();

    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let (_, signature) = headers.find(|(name, _)| *name == SIGNATURE_HEADER).unwrap();
    let verifier = Verifier::new(Secret::parse(SECRET).unwrap());
    let now = world.clock.now().unix_seconds();
    verifier
        .verify(Some(signature.as_bytes()), body.as_bytes(), now)
        .unwrap();
    assert!(body.contains(&event.to_string()));

    let delivery = world.delivery(event);
    assert_eq!(delivery.status, DeliveryStatus::Delivered);
    assert_eq!(delivery.attempts[0].response_body, b"obrigado");
}
