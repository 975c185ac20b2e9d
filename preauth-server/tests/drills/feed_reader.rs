//! An ERP without an open port: it reads `GET /events` by a cursor, beside the receiver of webhooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_client::{Client, MemoryCursor};
use tokio::task::JoinHandle;

use crate::scene::{Scene, eventually};

/// Events of one answer: few, so that a cursor is used often.
const LIMIT: u32 = 7;

/// A reader at work; dropping it ends it.
pub(crate) struct FeedReader {
    seen: Arc<Mutex<Vec<Seen>>>,
    reading: JoinHandle<()>,
}

/// An event, as it was read.
#[derive(Clone, Debug)]
struct Seen {
    id: String,
    kind: String,
}

impl FeedReader {
    /// Begins to read with this client, whatever fails meanwhile.
    pub(crate) fn begin(client: &Client) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut events = client
            .events(MemoryCursor::new())
            .limit(LIMIT)
            .wait(Duration::from_secs(1));
        let list = Arc::clone(&seen);
        let reading = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => list.lock().unwrap().push(Seen {
                        id: event.id.to_string(),
                        kind: event.event_type.to_string(),
                    }),
                    Err(error) => assert!(error.is_retryable(), "{error:?}"),
                }
            }
        });
        Self { seen, reading }
    }

    /// It read what the receiver got, each event once, and the creation of each operation before what came of it: either
    /// of them alone shows every operation. Returns the number of events.
    pub(crate) async fn read_what_arrived(self, scene: &Scene) -> usize {
        let arrived = scene.receiver.events();
        eventually("the reader has read as much as arrived", || {
            self.reading.is_finished() || self.seen.lock().unwrap().len() >= arrived.len()
        })
        .await;
        let seen = self.seen.lock().unwrap().clone();
        let mut expected: Vec<_> = arrived.keys().collect();
        let mut read: Vec<_> = seen.iter().map(|event| &event.id).collect();
        read.sort_unstable();
        expected.sort_unstable();
        assert_eq!(read, expected);
        for (place, event) in seen.iter().enumerate() {
            assert_eq!(event.kind, arrived[&event.id].kind);
            let operation = arrived[&event.id].operation;
            let is_later = seen[place..].iter().any(|later| {
                arrived[&later.id].operation == operation && later.kind.ends_with(".created")
            });
            assert!(
                event.kind.ends_with(".created") || !is_later,
                "{event:?} came first"
            );
        }
        seen.len()
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
