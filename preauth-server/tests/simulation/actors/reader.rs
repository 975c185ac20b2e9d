//! The readers of events on request: one for each head office, beside its webhooks.
//!
//! A reader keeps its cursor outside of the database, and moves it once it has handled a page. Now and then it dies in
//! between: then the page comes again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use preauth_core::port::{FeedAnswer, FeedEvent, FeedPlace, FeedQuery};
use preauth_core::value::{CompanyId, EventId};

use crate::clock::sleep_ms;
use crate::defect::Defect;
use crate::history::Fact;
use crate::random::Random;
use crate::world::Cluster;

/// Reads of one reader while others work.
const READS: u32 = 40;
const MAX_PAUSE_MS: u64 = 1_500;
/// The share of pages after which a reader dies, per thousand.
const DIES: u64 = 200;
const MAX_LIMIT: u64 = 5;

/// Where each reader stands.
#[derive(Debug, Default)]
pub(crate) struct Cursors(Mutex<BTreeMap<CompanyId, Cursor>>);

#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    place: Option<FeedPlace>,
    /// In place of it, with the defect that orders events by the time of their making.
    latest: Option<EventId>,
}

/// Reads a few times during the run.
pub(super) async fn reads(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..READS {
        sleep_ms(random.between(1, MAX_PAUSE_MS)).await;
        for subscriber in &cluster.scene.subscribers {
            let limit = u32::try_from(random.between(1, MAX_LIMIT)).unwrap();
            let dies = random.chance(DIES);
            read(cluster, subscriber.company, limit, dies).await;
        }
    }
}

/// Reads everything that is left, once nothing more happens.
pub(crate) async fn read_the_rest(cluster: &Arc<Cluster>) {
    for subscriber in &cluster.scene.subscribers {
        while read(cluster, subscriber.company, 100, false).await {}
    }
}

/// Reads a page; returns whether there may be more.
async fn read(cluster: &Arc<Cluster>, company: CompanyId, limit: u32, dies: bool) -> bool {
    let known = cluster.cursors.0.lock().unwrap().get(&company).copied();
    let cursor = known.unwrap_or_default();
    let passes_uncommitted = cluster.database.defect == Some(Defect::CursorPassesUncommitted);
    let query = FeedQuery {
        head_office: company,
        company,
        after: cursor.place.filter(|_| !passes_uncommitted),
        types: Vec::new(),
        limit: if passes_uncommitted {
            u32::MAX - 1
        } else {
            limit
        },
    };
    let answer = cluster.database.ground().feed.events(&query).await;
    let page = match answer {
        Ok(FeedAnswer::Page(page)) => page,
        Ok(FeedAnswer::Expired) => {
            let broken = format!("the cursor of {company} is not valid any more: {cursor:?}");
            cluster.chronicle.note(Fact::Broken(broken));
            return false;
        }
        // The reader asks again.
        Err(_) => return true,
    };
    let is_new = |event: &FeedEvent| !passes_uncommitted || Some(event.id) > cursor.latest;
    let events: Vec<FeedEvent> = page.events.into_iter().filter(is_new).collect();
    let latest = events.iter().map(|event| event.id).max();
    for event in events {
        cluster.chronicle.note(Fact::Read {
            company,
            event: event.id,
            body: event.body,
        });
    }
    if dies {
        return true;
    }
    let moved = Cursor {
        place: Some(page.next),
        latest: latest.max(cursor.latest),
    };
    cluster.cursors.0.lock().unwrap().insert(company, moved);
    page.has_more
}
