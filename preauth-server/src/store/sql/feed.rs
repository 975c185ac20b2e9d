//! Events on request.

use async_trait::async_trait;
use preauth_core::port::{
    EventFeed, FeedAnswer, FeedEvent, FeedPage, FeedPlace, FeedQuery, Unavailable,
};
use preauth_core::value::{EventId, EventType};
use uuid::Uuid;

use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt};

use super::planner::read_in_index_order;
use super::{Builder, Database, Reads, Session, query};

/// Maximum number of events that one request goes over in search of those that the reader asked for.
const MAX_PASSED_OVER: u32 = 2_000;

#[async_trait]
impl<D: Database> EventFeed for Reads<D> {
    async fn events(&self, query: &FeedQuery) -> Result<FeedAnswer, Unavailable> {
        let answer = self
            .0
            .read_snapshot(query, |session, query| Box::pin(read(session, query)));
        Ok(answer.await?)
    }
}

async fn read(session: &mut dyn Session, query: &FeedQuery) -> Result<FeedAnswer, Fault> {
    let Some(begin) = begin(session, query).await? else {
        return Ok(FeedAnswer::Expired);
    };
    let Some(window) = window(session, query).await? else {
        return Ok(FeedAnswer::Page(FeedPage {
            events: Vec::new(),
            next: begin,
            has_more: false,
        }));
    };
    let mut found = found(session, query, window.last.number).await?;
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let is_cut = found.len() > limit;
    found.truncate(limit);
    // Whoever got a whole page goes on after its last event, the others after all that was passed over.
    let next = match found.last() {
        Some((place, _)) if is_cut => *place,
        _ => window.last,
    };
    Ok(FeedAnswer::Page(FeedPage {
        events: found.into_iter().map(|(_, event)| event).collect(),
        next,
        has_more: is_cut || window.has_more,
    }))
}

/// The place after which the reader goes on; `None` when an event after it is not kept any more, or when it is no
/// place of this database's history.
///
/// Numbers are given in the order of the commits that give them, so a history that lost something lost the
/// last of them: as long as the event of the place has its number, nothing before it was lost.
async fn begin(session: &mut dyn Session, reader: &FeedQuery) -> Result<Option<FeedPlace>, Fault> {
    let row = query(
        "SELECT (SELECT event_id FROM event_feed WHERE head_office_id = $1 AND number = $2) AS event_id,
             (SELECT number FROM event_feed_ends WHERE head_office_id = $1
              ORDER BY number DESC LIMIT 1) AS removed,
             (SELECT event_id FROM event_feed_ends WHERE head_office_id = $1
              ORDER BY number DESC LIMIT 1) AS removed_event_id,
             (SELECT number FROM event_feed_ends WHERE head_office_id = $1 AND company_id = $3)
                 AS removed_of_company",
    )
    .bind(*reader.head_office.as_uuid())
    .bind(reader.after.map_or(0, |place| place.number))
    .bind(*reader.company.as_uuid())
    .fetch_one(session)
    .await?;
    let columns = Columns::of("event_feed", &row);
    let removed: Option<i64> = columns.raw("removed")?;
    let removed_of_reader = if reader.company == reader.head_office {
        removed
    } else {
        columns.raw("removed_of_company")?
    };
    let end = match removed {
        Some(number) => FeedPlace {
            number,
            event: EventId::new(columns.uuid("removed_event_id")?),
        },
        None => FeedPlace::BEGINNING,
    };
    let Some(place) = reader.after else {
        return Ok(Some(end));
    };
    if removed_of_reader.is_some_and(|removed| place.number < removed) {
        return Ok(None);
    }
    let found: Option<Uuid> = columns.raw("event_id")?;
    let is_known = match found {
        Some(found) => found == *place.event.as_uuid(),
        // Its event was removed: that of the last number, or of another company than the reader's.
        None => place == end || place.number < end.number,
    };
    Ok(is_known.then_some(place))
}

/// The events that a request goes over.
struct Window {
    last: FeedPlace,
    has_more: bool,
}

/// The next events of the head office, whatever the reader asked for; `None` when there are none.
async fn window(session: &mut dyn Session, reader: &FeedQuery) -> Result<Option<Window>, Fault> {
    let is_filtered = !reader.types.is_empty() || reader.company != reader.head_office;
    let length = if is_filtered {
        MAX_PASSED_OVER
    } else {
        reader.limit
    };
    read_in_index_order(session).await?;
    let row = query(
        "SELECT f.number, f.event_id,
             (SELECT g.number FROM event_feed g WHERE g.head_office_id = $1 AND g.number > f.number
              ORDER BY g.number LIMIT 1) AS following
         FROM event_feed f
         WHERE f.head_office_id = $1 AND f.number = (
             SELECT max(n.number) FROM (
                 SELECT number FROM event_feed WHERE head_office_id = $1 AND number > $2
                 ORDER BY number LIMIT $3) AS n)",
    )
    .bind(*reader.head_office.as_uuid())
    .bind(reader.after.map_or(0, |place| place.number))
    .bind(length)
    .fetch_optional(session)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let columns = Columns::of("event_feed", &row);
    Ok(Some(Window {
        last: place(&columns)?,
        has_more: columns.raw::<Option<i64>>("following")?.is_some(),
    }))
}

/// The events up to a number that the reader asked for; one more than it may get, if there is one.
async fn found(
    session: &mut dyn Session,
    reader: &FeedQuery,
    last: i64,
) -> Result<Vec<(FeedPlace, FeedEvent)>, Fault> {
    let mut query = Builder::new(
        "SELECT f.number, f.event_id,
             (SELECT e.body FROM events e WHERE e.id = f.event_id) AS body
         FROM event_feed f WHERE f.head_office_id = ",
    );
    query.bind(*reader.head_office.as_uuid());
    query.push(" AND f.number > ");
    query.bind(reader.after.map_or(0, |place| place.number));
    query.push(" AND f.number <= ").bind(last);
    if reader.company != reader.head_office {
        let branch = *reader.company.as_uuid();
        query.push(" AND (f.payer_id = ").bind(branch);
        query.push(" OR f.supplier_id = ").bind(branch).push(")");
    }
    if !reader.types.is_empty() {
        query.push(" AND f.type IN ");
        query.bind_list(reader.types.iter().copied().map(EventType::as_str));
    }
    query.push(" ORDER BY f.number LIMIT ");
    query.bind(reader.limit.saturating_add(1));
    let rows = query.build().fetch_all(session).await?;
    let read = rows.iter().map(|row| {
        let columns = Columns::of("event_feed", row);
        let place = place(&columns)?;
        let event = FeedEvent {
            id: place.event,
            body: columns.raw::<&str>("body")?.to_owned(),
        };
        Ok((place, event))
    });
    Ok(read.collect::<Result<_, Corrupt>>()?)
}

fn place(columns: &Columns<'_>) -> Result<FeedPlace, Corrupt> {
    Ok(FeedPlace {
        number: columns.raw("number")?,
        event: EventId::new(columns.uuid("event_id")?),
    })
}
