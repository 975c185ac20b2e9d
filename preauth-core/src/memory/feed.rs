//! Events on request. Nothing is removed here.

use std::sync::Arc;

use async_trait::async_trait;

use crate::port::{
    EventFeed, EventRecord, FeedAnswer, FeedEntry, FeedEvent, FeedPage, FeedPlace, FeedQuery,
    Unavailable,
};

use super::MemoryStore;

#[async_trait]
impl EventFeed for MemoryStore {
    async fn events(&self, query: &FeedQuery) -> Result<FeedAnswer, Unavailable> {
        let tables = self.lock();
        let rows = (1_i64..).zip(&tables.feed);
        let of_head_office = rows.filter(|(_, (entry, _))| entry.head_office == query.head_office);
        let mut rows = of_head_office.peekable();
        if let Some(place) = query.after {
            let mut found = place == FeedPlace::BEGINNING;
            while let Some((number, (_, event))) =
                rows.next_if(|(number, _)| *number <= place.number)
            {
                found = number == place.number && event.id == place.event;
            }
            if !found {
                return Ok(FeedAnswer::Expired);
            }
        }
        Ok(FeedAnswer::Page(page(query, rows)))
    }
}

fn page<'r>(
    query: &FeedQuery,
    rows: impl Iterator<Item = (i64, &'r (FeedEntry, Arc<EventRecord>))>,
) -> FeedPage {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let mut page = FeedPage {
        events: Vec::new(),
        next: query.after.unwrap_or(FeedPlace::BEGINNING),
        has_more: false,
    };
    for (number, (entry, event)) in rows {
        if page.events.len() >= limit {
            page.has_more = true;
            break;
        }
        page.next = FeedPlace {
            number,
            event: event.id,
        };
        let is_chosen = query.types.is_empty() || query.types.contains(&event.event_type);
        if is_chosen && query.sees(entry) {
            page.events.push(FeedEvent {
                id: event.id,
                body: event.body.clone(),
            });
        }
    }
    page
}
