//! POST /pre-authorizations/batch: many creates in one request.
//!
//! Each is judged and committed on its own, as if it were sent alone after those before it. Only creates
//! that could decide about each other wait for each other: those under one key, those for one invoice, and
//! those for one supplier until the first of them is accepted, because it may invite the supplier.

use std::borrow::Cow;

use futures_util::future::join_all;
use preauth_core::ErrorCode;
use preauth_core::value::{Cnpj, CompanyId, IdempotencyKey, Scope};
use preauth_core::wire::{ErrorDetail, ErrorItem, MAX_BATCH_BYTES, MAX_BATCH_ITEMS};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::fair::waiting_apart;
use crate::http::body;
use crate::http::caller::Caller;
use crate::http::convert::{self, ReadOffer};
use crate::http::error::{ApiError, status_number};
use crate::http::json::{self, Json};
use crate::http::messages;
use crate::http::problem::Defect;
use crate::http::reply::Reply;

use super::create::{self, Made};
use super::{Endpoint, IntegrationApi};

const KEY: &str = "idempotencyKey";
const CREATE: &str = "preAuthorization";

pub(super) struct Batch;

#[async_trait]
impl Endpoint for Batch {
    const SCOPE: Scope = Scope::PreauthWrite;

    async fn answer(
        &self,
        api: &IntegrationApi,
        caller: Caller,
        req: &mut Request,
    ) -> Result<Reply, ApiError> {
        caller.require_construction_head_office()?;
        let body = body::json_text(req, MAX_BATCH_BYTES).await?;
        let items = json::elements_of(&body, "items")?;
        if items.is_empty() {
            return Err(ApiError::problem("items", Defect::EmptyList));
        }
        if items.len() > MAX_BATCH_ITEMS {
            let max = MAX_BATCH_ITEMS;
            return Err(ApiError::problem("items", Defect::ListTooLong { max }));
        }
        api.gate.check_again(&caller, Self::SCOPE, req).await?;
        let items = items.into_iter().enumerate();
        let items = items.map(|(index, raw)| Item::read(index, raw, caller.head_office));
        let items: Vec<_> = items.collect();
        if let Some(magic) = api.magic
            && let Some(Ok(Item {
                offer: Ok(first), ..
            })) = items.first()
        {
            magic.check_batch(api, &caller, first).await?;
        }
        let answers = answers(api, &caller, req, items).await;
        let results = answers.into_iter().enumerate();
        let results = results.map(|(index, answer)| Answered::of(index, answer));
        let results = Results {
            results: results.collect::<Result<_, _>>()?,
        };
        let json = serde_json::to_string(&results).map_err(ApiError::internal)?;
        Ok(Reply::json(StatusCode::OK, json))
    }
}

/// A create of a batch.
struct Item {
    key: IdempotencyKey,
    /// Without the text it was read from: a hundred items may wait, and their text may take twenty times its
    /// length in memory.
    offer: ReadOffer,
}

impl Item {
    fn read(index: usize, raw: &RawValue, payer: CompanyId) -> Result<Self, ApiError> {
        let members = json::members_of(raw, &format!("items[{index}]"))?;
        let only = |name: &str| {
            let mut found = members.iter().filter(|(key, _)| key == name);
            let value = found.next().map(|(_, value)| *value);
            match found.next() {
                None => Ok(value),
                Some(_) => Err(ApiError::problem(name, Defect::Duplicate)),
            }
        };
        let key = only(KEY)?.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
        let key = key.and_then(|text| IdempotencyKey::parse(&text).ok());
        let key = key.ok_or_else(|| {
            ApiError::new(ErrorCode::IdempotencyKeyInvalid)
                .message(messages::ITEM_KEY)
                .about(KEY)
        })?;
        let create = only(CREATE)?.filter(|raw| raw.get() != "null");
        let create = create.ok_or_else(|| ApiError::problem(CREATE, Defect::Required))?;
        if create.get().len() > body::JSON_LIMIT_BYTES {
            return Err(ApiError::new(ErrorCode::PayloadTooLarge));
        }
        let tree = Json::parse(create.get().as_bytes())?;
        let offer = convert::read_offer(&tree, None, payer);
        Ok(Self { key, offer })
    }

    fn supplier(&self) -> Option<Cnpj> {
        self.offer.as_ref().ok().map(|offer| offer.supplier.cnpj)
    }

    fn invoice(&self) -> Option<(Cnpj, Cow<'_, str>)> {
        let offer = self.offer.as_ref().ok()?;
        Some((
            offer.supplier.cnpj,
            offer.invoice.number.as_ref()?.compared(),
        ))
    }
}

/// An item that has no answer yet.
struct Open {
    index: usize,
    item: Item,
}

/// The answers to all items, in their order.
///
/// Items that wait for no other are decided together, then those that waited for them, and so on. Once the
/// database is unavailable to one of them, no further ones are tried.
async fn answers(
    api: &IntegrationApi,
    caller: &Caller,
    req: &Request,
    items: Vec<Result<Item, ApiError>>,
) -> Vec<Result<Made, ApiError>> {
    let mut answers: Vec<Option<Result<Made, ApiError>>> = Vec::with_capacity(items.len());
    let mut open = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        answers.push(match item {
            Ok(item) => {
                open.push(Open { index, item });
                None
            }
            Err(refusal) => Some(Err(refusal)),
        });
    }
    let mut known = Vec::new();
    let mut is_unavailable = false;
    while !open.is_empty() && !is_unavailable {
        let (now, later) = next(open, &known);
        open = later;
        let made = now.into_iter().map(async |Open { index, item }| {
            let supplier = item.supplier();
            let made = create::make(api, caller, req, Some(item.key), None, item.offer);
            (index, supplier, made.await)
        });
        for (index, supplier, answer) in at_once(made).await {
            match &answer {
                Ok(_) => known.extend(supplier),
                Err(error) => is_unavailable |= error.code == ErrorCode::ServiceUnavailable,
            }
            if let Some(place) = answers.get_mut(index) {
                *place = Some(answer);
            }
        }
    }
    let untried = || {
        Err(ApiError::unavailable(
            "the database was unavailable to an item before it",
        ))
    };
    answers
        .into_iter()
        .map(|answer| answer.unwrap_or_else(untried))
        .collect()
}

/// Runs creates at the same time, each as if it were sent alone: a hundred short waits at once are no long one.
fn at_once<T>(
    creates: impl Iterator<Item = impl Future<Output = T>>,
) -> impl Future<Output = Vec<T>> {
    join_all(creates.map(waiting_apart))
}

/// The items that wait for none before them, and the others. `known` are the suppliers of items that were
/// accepted.
fn next(open: Vec<Open>, known: &[Cnpj]) -> (Vec<Open>, Vec<Open>) {
    let waits = |item: &Item, before: &Open| {
        let before = &before.item;
        let supplier = item.supplier().filter(|it| !known.contains(it));
        item.key == before.key
            || (supplier.is_some() && supplier == before.supplier())
            || (item.invoice().is_some() && item.invoice() == before.invoice())
    };
    let blocked: Vec<bool> = open
        .iter()
        .enumerate()
        .map(|(place, it)| {
            let mut before = open.iter().take(place);
            before.any(|before| waits(&it.item, before))
        })
        .collect();
    let (mut now, mut later) = (Vec::new(), Vec::new());
    for (it, is_blocked) in open.into_iter().zip(blocked) {
        if is_blocked {
            later.push(it);
        } else {
            now.push(it);
        }
    }
    (now, later)
}

/// The body of the answer.
#[derive(Serialize)]
struct Results {
    results: Vec<Answered>,
}

/// The answer to one item.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    index: usize,
    status: u16,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    /// Byte for byte as a single create answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_authorization: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<ErrorItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Vec<ErrorDetail>>,
}

impl Answered {
    fn of(index: usize, answer: Result<Made, ApiError>) -> Result<Self, ApiError> {
        Ok(match answer {
            Ok(made) => Self {
                index,
                status: StatusCode::CREATED.as_u16(),
                replayed: made.is_replayed,
                pre_authorization: Some(
                    RawValue::from_string(made.body).map_err(ApiError::internal)?,
                ),
                errors: None,
                details: None,
            },
            Err(refusal) => {
                if let Some(cause) = refusal.cause() {
                    let cause = crate::log::chain(cause);
                    tracing::warn!(target: "request", index, code = refusal.code.as_str(), cause, "item of a batch");
                }
                let body = refusal.body();
                Self {
                    index,
                    status: status_number(refusal.code),
                    replayed: false,
                    pre_authorization: None,
                    errors: Some(body.errors),
                    details: body.details,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use preauth_core::value::CompanyId;
    use preauth_core::wire::MAX_BATCH_ITEMS;
    use tokio::time::{Instant, sleep};
    use uuid::Uuid;

    use super::at_once;
    use crate::fair::{Tenant, charged_to, in_time};

    #[tokio::test(start_paused = true)]
    async fn the_waits_of_a_whole_batch_leave_each_create_the_time_of_a_lone_one() {
        let create = |_: usize| async {
            in_time(sleep(Duration::from_secs(2))).await.unwrap();
            let since = Instant::now();
            in_time(pending::<()>()).await.unwrap_err();
            since.elapsed()
        };
        let head_office = Tenant::HeadOffice(CompanyId::new(Uuid::nil()));
        let creates = at_once((0..MAX_BATCH_ITEMS).map(create));
        let left = charged_to(head_office, creates).await;
        assert_eq!(left, [Duration::from_secs(3); MAX_BATCH_ITEMS]);
    }
}
