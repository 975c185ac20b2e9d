//! POST /companies/{id}/webhook-endpoint/test: a test event, signed like any other, whichever
//! events the endpoint subscribes to. Answers the delivery as queued.

use preauth_core::port;
use preauth_core::service::{Announced, PlatformKey, ReplyOf};
use preauth_core::value::{DeliveryId, FingerprintBuilder};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::{Delivery, DeliveryStatus, Endpoint};
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::platform::PlatformApi;
use crate::http::platform::calling_operator::CallingOperator;
use crate::http::platform::create::Create;
use crate::http::platform::deliveries::{self, DeliveryShape};
use crate::http::platform::endpoint::existing;
use crate::http::platform::sections::WEBHOOK_ENDPOINTS;
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Test;

#[async_trait]
impl Create for Test {
    type New = ();

    const STATUS: StatusCode = StatusCode::OK;

    const HAS_BODY: bool = false;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                WEBHOOK_ENDPOINTS,
                "testWebhookEndpoint",
                "Send a test event",
            )
            .id("The id of a head office.")
            .note("Signed like any other, whatever events were chosen.")
            .answers(
                200,
                "The delivery, as queued.",
                Schema::of::<DeliveryShape>(),
            )
    }

    fn describe(&self, (): &(), _parts: &mut FingerprintBuilder) {}

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        (): (),
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let endpoint = super::endpoint(api, req).await?;
        let shown = |queued: &Announced| {
            let delivery = queued.deliveries.first();
            delivery.map(|id| deliveries::text(&as_queued(*id, &endpoint, queued)))
        };
        let reply =
            key.map(|key| |queued: &Announced| key.reply(shown(queued).unwrap_or_default()));
        let reply = reply
            .as_ref()
            .map(|reply| -> &ReplyOf<'_, Announced> { reply });
        let now = api.clock.now();
        let to = endpoint.subscription();
        let queued = CallingOperator::operations(api, req)?
            .send_test_event(&to, reply, now)
            .await?;
        // Every endpoint receives tests, so this one has a delivery.
        let body = existing(shown(&queued))?;
        Ok(Reply::json(Self::STATUS, body))
    }
}

fn as_queued(id: DeliveryId, endpoint: &Endpoint, queued: &Announced) -> Delivery {
    let event = &queued.event;
    let is_paused = endpoint.paused_at.is_some();
    Delivery {
        id,
        company: endpoint.company,
        event: event.id,
        operation: None,
        event_type: event.event_type.to_string(),
        status: DeliveryStatus::of(port::DeliveryStatus::Pending, is_paused),
        next_attempt_at: (!is_paused).then_some(event.at),
        created_at: event.at,
        attempts: Vec::new(),
        body: event.body.clone(),
    }
}
