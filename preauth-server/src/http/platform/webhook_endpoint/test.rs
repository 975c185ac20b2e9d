//! POST /companies/{id}/webhook-endpoint/test: a test event, signed like any other, whatever events
//! were chosen. Answers the delivery that was queued.

use preauth_core::ErrorCode;
use preauth_core::port::Write;
use preauth_core::value::EventType;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::platform::announce::announce;
use crate::http::platform::resource::Endpoint;
use crate::http::platform::{PlatformApi, deliveries};
use crate::http::reply::Reply;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Test;

#[async_trait]
impl Endpoint for Test {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let endpoint = super::endpoint(api, req).await?;
        let write = Write::Nothing {
            head_office: endpoint.company,
        };
        let now = api.clock.now();
        let queued = announce(
            api,
            write,
            EventType::WebhookTest,
            convert::webhook_test(),
            None,
            now,
        )
        .await?;
        match queued.first() {
            Some(delivery) => deliveries::reply(api, *delivery).await,
            // The endpoint was removed meanwhile.
            None => Err(ApiError::new(ErrorCode::ResourceNotFound)),
        }
    }
}
