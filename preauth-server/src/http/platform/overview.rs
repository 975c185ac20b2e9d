//! `GET /attention`: what somebody should look at.

use preauth_core::value::{ApiKeyId, CompanyId, Timestamp};
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Attention, CompanyAttention, EndingKey};
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::reply::Reply;

use super::PlatformApi;
use super::endpoint::{Endpoint, ok};
use super::sections::OPERATIONS;

answer! {
    /// What somebody should look at; numbers are counted up to 10,000, and lists have the 20 most urgent.
    #[derive(Debug)]
    pub(crate) struct AttentionShape = "Attention" {
        /// Deliveries that wait after a failed attempt.
        retried_deliveries: u64 = 3 => |it| it.at_least(0),
        /// Deliveries that have been due for five minutes.
        overdue_deliveries: u64 = 0 => |it| it.at_least(0),
        /// Deliveries that were given up in the last 24 hours.
        failed_deliveries: u64 = 0 => |it| it.at_least(0),
        /// Mails that wait because their address has reached the limit of the day.
        held_mails: u64 = 0 => |it| it.at_least(0),
        /// Mails that were given up in the last 24 hours.
        failed_mails: u64 = 0 => |it| it.at_least(0),
        /// Head offices of which a delivery waits after a failed attempt, the longest first.
        failing_endpoints: Vec<CompanyAttentionShape>,
        /// Head offices whose endpoint is paused, the longest first.
        paused_endpoints: Vec<CompanyAttentionShape>,
        /// Valid keys that end within 30 days, the first to end first.
        ending_keys: Vec<EndingKeyShape>,
    }
}

answer! {
    /// A head office whose endpoint somebody should look at.
    #[derive(Debug)]
    pub(crate) struct CompanyAttentionShape {
        /// The head office's id.
        company_id: CompanyId,
        /// Its name.
        name: String = "Construtora Exemplo S.A.",
        /// Since when.
        since: Timestamp,
    }
}

answer! {
    /// A key that ends soon.
    #[derive(Debug)]
    pub(crate) struct EndingKeyShape {
        /// The key's id.
        id: ApiKeyId,
        /// The key's name.
        name: String = "ERP",
        /// The company's id.
        company_id: CompanyId,
        /// From when on it is refused.
        expires_at: Timestamp,
    }
}

impl From<Attention> for AttentionShape {
    fn from(found: Attention) -> Self {
        let companies = |found: Vec<CompanyAttention>| {
            let shown = found.into_iter().map(|it| CompanyAttentionShape {
                company_id: it.company,
                name: it.name,
                since: it.since,
            });
            shown.collect()
        };
        let key = |it: EndingKey| EndingKeyShape {
            id: it.id,
            name: it.name,
            company_id: it.company,
            expires_at: it.expires_at,
        };
        Self {
            retried_deliveries: found.retried_deliveries,
            overdue_deliveries: found.overdue_deliveries,
            failed_deliveries: found.failed_deliveries,
            held_mails: found.held_mails,
            failed_mails: found.failed_mails,
            failing_endpoints: companies(found.failing_endpoints),
            paused_endpoints: companies(found.paused_endpoints),
            ending_keys: found.ending_keys.into_iter().map(key).collect(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Attend;

#[async_trait]
impl Endpoint for Attend {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATIONS, "getAttention", "Get what needs attention")
            .answers(200, "As it stands.", Schema::of::<AttentionShape>())
    }

    async fn answer(&self, api: &PlatformApi, _req: &mut Request) -> Result<Reply, ApiError> {
        let found = api.directory.attention(api.clock.now()).await?;
        Ok(ok(&AttentionShape::from(found)))
    }
}
