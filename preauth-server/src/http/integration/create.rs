//! POST /pre-authorizations: offers a supplier an advance.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use preauth_core::operation::{Offer, Rejection};
use preauth_core::service::{OfferOutcome, Preparation, ServiceError};
use preauth_core::value::{IdempotencyKey, Scope, Timestamp};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use tokio::time::Instant;

use crate::http::caller::{ADMISSION_AGE, Caller};
use crate::http::convert::{self, ReadOffer, Unreadable};
use crate::http::create_body::{Keeping, Received, Upload};
use crate::http::error::{ApiError, NotCommitted};
use crate::http::reply::Reply;
use crate::http::{create_body, held, idempotency, messages};
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
        let received = create_body::receive(req, &api.files).await?;
        let Received { tree, file } = received;
        let file_name = file.as_ref().map(Upload::name);
        let offer = convert::read_offer(&tree, file_name, caller.head_office);
        drop(tree);
        let made = make(api, &caller, req, key, file.as_ref(), offer).await?;
        let reply = Reply::json(StatusCode::CREATED, made.body);
        Ok(if made.is_replayed {
            idempotency::replayed(reply)
        } else {
            reply
        })
    }
}

/// The answer to a create that was accepted, now or before.
pub(super) struct Made {
    pub(super) body: String,
    pub(super) is_replayed: bool,
}

/// Makes `offer` with its file, or repeats its earlier answer.
pub(super) async fn make(
    api: &IntegrationApi,
    caller: &Caller,
    req: &Request,
    key: Option<IdempotencyKey>,
    file: Option<&Upload>,
    offer: ReadOffer,
) -> Result<Made, ApiError> {
    let payer = caller.head_office;
    let mut offer = match offer {
        Ok(offer) => offer,
        Err(unreadable) => {
            api.gate.check_again(caller, Create::SCOPE, req).await?;
            return answered_before(api, key, file, unreadable).await;
        }
    };
    if let Some(file) = file {
        offer.file = Some(file.validate(&api.files).await?);
    }
    if let Some(magic) = api.magic {
        magic.check_offer(api, caller, &offer).await?;
    }
    let before_commit = BeforeCommit {
        api,
        caller,
        req,
        keeping: file.map(|file| Keeping::new(&api.files, file, payer)),
        checked: Mutex::default(),
    };
    // Creates that bring files from the same supplier are serialized.
    let _turn = match file {
        Some(_) => Some(api.files.turn(&turn_of(&offer)).await?),
        None => None,
    };
    before_commit.check().await?;
    let (actor, now) = (caller.actor(), api.clock.now());
    let offered = api
        .operations
        .offer_prepared(&offer, actor, key.as_ref(), Some(&before_commit), now)
        .await
        .map_err(|error| refused(error, &offer, api.clock.now()))?;
    if let OfferOutcome::Created { operation, .. } = &offered {
        log::began(operation, None);
    }
    Ok(offered.into())
}

/// What comes directly before the commit: the file is stored last, so that a refused create leaves none, and whoever
/// lost the right to create meanwhile creates nothing.
struct BeforeCommit<'a> {
    api: &'a IntegrationApi,
    caller: &'a Caller,
    req: &'a Request,
    keeping: Option<Keeping<'a>>,
    /// When the key was looked at last since it was admitted.
    checked: Mutex<Option<Instant>>,
}

impl BeforeCommit<'_> {
    /// Looks again at the key of a request that took its time, and at what holds this instance.
    async fn check(&self) -> Result<(), ApiError> {
        let last = *self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = last.is_some_and(|last| last.elapsed() <= ADMISSION_AGE);
        if self.caller.is_to_be_checked_again() && !is_fresh {
            let gate = &self.api.gate;
            gate.check_again(self.caller, Create::SCOPE, self.req)
                .await?;
            *self.checked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        held::refuse(&self.api.hold, true)
    }

    async fn keep_and_check(&self) -> Result<Option<Timestamp>, ApiError> {
        let is_stored = match &self.keeping {
            Some(keeping) => keeping.keep().await?,
            None => false,
        };
        self.check().await?;
        Ok(is_stored.then(|| self.api.clock.now()))
    }
}

#[async_trait]
impl Preparation for BeforeCommit<'_> {
    async fn prepare(&self) -> Result<Option<Timestamp>, Box<dyn Error + Send + Sync>> {
        let prepared = self.keep_and_check().await;
        prepared.map_err(|refusal| NotCommitted(refusal).into())
    }
}

/// A failure of an offer; a due date out of range is answered with the range of the day.
pub(super) fn refused(error: ServiceError, offer: &Offer, now: Timestamp) -> ApiError {
    let is_out_of_range = matches!(
        error,
        ServiceError::Rejected(Rejection::DueDateTooNear | Rejection::DueDateTooFar)
    );
    let error = ApiError::from(error);
    if is_out_of_range {
        let due_date = offer.invoice.due_date.date();
        return error.message(messages::due_date_out_of_range(due_date, now));
    }
    error
}

/// Replays the answer of an earlier build under the same key, if the only problems are characters
/// that earlier builds accepted; otherwise reports the problems.
async fn answered_before(
    api: &IntegrationApi,
    key: Option<IdempotencyKey>,
    file: Option<&Upload>,
    unreadable: Unreadable,
) -> Result<Made, ApiError> {
    let Unreadable {
        problems,
        as_before,
    } = unreadable;
    let (Some(key), Some(mut offer)) = (key, as_before) else {
        return Err(problems.into());
    };
    if let Some(file) = file {
        offer.file = Some(file.validate(&api.files).await?);
    }
    let now = api.clock.now();
    match api.operations.answered_before(&offer, &key, now).await? {
        Some(offered) => Ok(offered.into()),
        None => Err(problems.into()),
    }
}

/// The key by which creates with a file are serialized: the same for all that could hold the same
/// invoice.
fn turn_of(offer: &Offer) -> String {
    let (payer, supplier) = offer.parties();
    format!("{payer} {}", supplier.as_str())
}

impl From<OfferOutcome> for Made {
    fn from(offered: OfferOutcome) -> Self {
        let (body, is_replayed) = match offered {
            OfferOutcome::Created { body, .. } => (body, false),
            OfferOutcome::Replayed { body } => (body, true),
        };
        Self { body, is_replayed }
    }
}
