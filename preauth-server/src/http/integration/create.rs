//! POST /pre-authorizations: offers a supplier an advance.

use preauth_core::service::Offered;
use preauth_core::value::{CompanyId, IdempotencyKey, Scope};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::caller::Caller;
use crate::http::convert::{self, Texts};
use crate::http::error::ApiError;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::upload::{Received, Upload};
use crate::http::{idempotency, upload};
use crate::log;

use super::{Endpoint, IntegrationApi};

pub(super) struct Create;

#[async_trait]
impl Endpoint for Create {
    const SCOPE: Scope = Scope::PreauthWrite;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        caller.require_construction_head_office()?;
        let key = idempotency::key(req)?;
        let received = upload::receive(req, &api.files).await?;
        let file_name = received.file.as_ref().map(Upload::name);
        let payer = caller.head_office;
        let mut offer = match convert::offer(&received.tree, file_name, payer, Texts::Sent) {
            Ok(offer) => offer,
            Err(problems) => return answered_before(api, payer, key, &received, problems).await,
        };
        if let Some(file) = &received.file {
            offer.file = Some(file.judge(&api.files).await?);
        }
        if let Some(magic) = api.magic {
            magic.judge_offer(api, &caller, &offer).await?;
        }
        if let Some(file) = &received.file {
            file.keep(&api.files).await?;
        }
        let now = api.clock.now();
        let offered = api
            .operations
            .offer(&offer, caller.actor(), key.as_ref(), now)
            .await?;
        let reply = Reply::json(StatusCode::CREATED, offered.body().to_owned());
        Ok(match &offered {
            Offered::Created { operation, .. } => {
                log::began(operation);
                reply
            }
            Offered::Replayed { .. } => idempotency::replayed(reply),
        })
    }
}

/// Repeats what an earlier build answered under the key, if all that is wrong with the request are
/// characters that only earlier builds accepted; otherwise reports the problems.
async fn answered_before(
    api: &IntegrationApi,
    payer: CompanyId,
    key: Option<IdempotencyKey>,
    received: &Received,
    problems: Vec<Problem>,
) -> Result<Reply, ApiError> {
    let key = key.filter(|_| problems.iter().all(Problem::is_invisible_character));
    let stored = convert::offer(&received.tree, None, payer, Texts::Stored);
    let (Some(key), Ok(mut offer)) = (key, stored) else {
        return Err(problems.into());
    };
    if let Some(file) = &received.file {
        offer.file = Some(file.judge(&api.files).await?);
    }
    let now = api.clock.now();
    match api.operations.answered_before(&offer, &key, now).await? {
        Some(offered) => {
            let reply = Reply::json(StatusCode::CREATED, offered.body().to_owned());
            Ok(idempotency::replayed(reply))
        }
        None => Err(problems.into()),
    }
}
