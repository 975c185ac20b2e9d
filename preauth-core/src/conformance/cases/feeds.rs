//! Events on request: who reads which, in which order, each exactly once.

use std::sync::{Arc, Mutex};

use super::announcements::receipt;
use crate::conformance::scene::{Scene, cents, created, target_of};
use crate::conformance::{Host, Task, draft};
use crate::operation::{Action, Actor, Change, Closing, Command};
use crate::port::{
    CommitError, FeedAnswer, FeedEvent, FeedPage, FeedPlace, FeedQuery, OrderTarget, Viewer, Write,
};
use crate::value::{CompanyId, EventId, EventType};

/// Offers that are made at the same time.
const AT_ONCE: usize = 24;

/// Payer and supplier read every event of their operation, in the order of its history; others read none.
pub async fn both_parties_read_every_event_in_its_order(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let stranger = scene.another_payer().await;
    let requested = scene.begin(&scene.offer()).await.id;
    let cancelled = scene.begin(&scene.offer()).await.id;
    scene.play(requested, &[Command::Request]).await;
    scene.play(cancelled, &[Command::Cancel]).await;
    for head_office in [scene.payer, scene.supplier.id] {
        let events = all(host, &everything(head_office)).await;
        assert_eq!(events.len(), 4);
        for operation in [requested, cancelled] {
            let history = scene.history(operation).await;
            let expected = history.iter().map(|entry| entry.id);
            let ids: Vec<_> = events.iter().map(|event| event.id).collect();
            let of_operation = ids.iter().copied().filter(|id| {
                let mut history = history.iter();
                history.any(|entry| entry.id == *id)
            });
            assert!(of_operation.eq(expected), "{ids:?}");
        }
    }
    let nothing = page(host, &everything(stranger)).await;
    assert!(nothing.events.is_empty() && !nothing.has_more);
    assert_eq!(nothing.next, FeedPlace::BEGINNING);
}

/// Pages of any length show the same events, with the bodies that were committed.
pub async fn pages_of_events_follow_each_other(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let mut committed = Vec::new();
    for _ in 0..5 {
        let offer = scene.offer();
        let target = target_of(&offer);
        let loaded = host.store().load_offer(&target).await;
        let loaded = loaded.unwrap().unwrap();
        let commit = draft::opening(&scene, &offer, &loaded, None, scene.now);
        committed.push(FeedEvent {
            id: commit.event.id,
            body: commit.event.body.clone(),
        });
        host.store().commit(commit).await.unwrap();
    }
    for limit in [1, 2, 5, 6] {
        let query = FeedQuery {
            limit,
            ..everything(scene.payer)
        };
        assert_eq!(all(host, &query).await, committed, "{limit}");
    }
}

/// A reader of some types gets those alone, and goes on after the events that it passed over.
pub async fn a_filter_passes_over_the_others(host: &dyn Host) {
    let scene = Scene::new(host).await;
    for n in 0..4 {
        let id = scene.begin(&scene.offer()).await.id;
        if n % 2 == 0 {
            scene.play(id, &[Command::Request]).await;
        }
    }
    let end = page(host, &everything(scene.payer)).await.next;
    for (types, count) in [
        (vec![EventType::AnticipationRequested], 2),
        (
            vec![
                EventType::PaymentOrderPaid,
                EventType::PreAuthorizationCreated,
            ],
            4,
        ),
        (vec![EventType::InvoiceReceived], 0),
    ] {
        let query = FeedQuery {
            types,
            ..everything(scene.payer)
        };
        let found = page(host, &query).await;
        assert_eq!((found.events.len(), found.next), (count, end));
        assert!(!found.has_more);
    }
}

/// A branch reads the events of the records in which it is a party; its head office reads all.
pub async fn a_branch_reads_its_own_events(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.begin(&scene.offer()).await;
    let (received, _) = receipt(&scene, scene.payer).await;
    host.store().commit(received).await.unwrap();
    order(&scene, scene.payer).await;
    let of_head_office = all(host, &everything(scene.payer)).await;
    assert_eq!(of_head_office.len(), 3);
    let branch = FeedQuery {
        company: scene.branch,
        ..everything(scene.payer)
    };
    assert!(all(host, &branch).await.is_empty());

    let advance = scene.advance(scene.branch, None);
    let of_branch = scene.begin_directly(&advance).await.id;
    let (received, _) = receipt(&scene, scene.branch).await;
    let invoice = received.event.id;
    host.store().commit(received).await.unwrap();
    order(&scene, scene.branch).await;
    let seen = all(host, &branch).await;
    let ids: Vec<_> = seen.iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], scene.history(of_branch).await[0].id);
    assert_eq!(ids[1], invoice);
    let office = all(host, &everything(scene.payer)).await;
    assert_eq!(office, [of_head_office, seen].concat());
}

/// An invoice is its payer's alone, and a test is for an endpoint alone.
pub async fn only_the_payer_reads_of_an_invoice_and_nobody_of_a_test(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let (commit, _) = receipt(&scene, scene.payer).await;
    let received = commit.event.id;
    host.store().commit(commit).await.unwrap();
    let write = Write::EventOnly {
        head_office: scene.payer,
    };
    let test = draft::bare(&scene, write, EventType::WebhookTest, scene.now);
    host.store().commit(test).await.unwrap();
    let events = all(host, &everything(scene.payer)).await;
    assert!(events.iter().map(|event| event.id).eq([received]));
    assert!(all(host, &everything(scene.supplier.id)).await.is_empty());
}

/// A commit that is refused leaves no event.
pub async fn a_refused_commit_is_read_by_nobody(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let id = scene.begin(&scene.offer()).await.id;
    let loaded = host.store().load_operation(id).await.unwrap().unwrap();
    let winner = draft::change(&scene, &loaded, &Change::Requested, scene.now);
    let closing = Closing {
        action: Action::Cancel,
        given_reason: None,
    };
    let loser = draft::change(&scene, &loaded, &Change::Closed(closing), scene.now);
    let won = winner.event.id;
    host.store().commit(winner).await.unwrap();
    let refused = host.store().commit(loser).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let events = all(host, &everything(scene.payer)).await;
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!((ids.len(), ids.last()), (2, Some(&won)));
}

/// A place that this history did not assign has expired: that of another event, and one from the future.
pub async fn a_place_of_another_history_has_expired(host: &dyn Host) {
    let scene = Scene::new(host).await;
    scene.begin(&scene.offer()).await;
    let known = page(host, &everything(scene.payer)).await.next;
    let after = |place| FeedQuery {
        after: Some(place),
        ..everything(scene.payer)
    };
    let nothing = page(host, &after(known)).await;
    assert_eq!((nothing.events.len(), nothing.next), (0, known));
    let other_event = FeedPlace {
        event: EventId::new(scene.uuid()),
        ..known
    };
    let ahead = FeedPlace {
        number: known.number + 1_000_000,
        ..known
    };
    for place in [other_event, ahead] {
        let answer = host.feed().events(&after(place)).await.unwrap();
        assert_eq!(answer, FeedAnswer::Expired);
    }
    // What comes later does not make it known.
    scene.begin(&scene.offer()).await;
    let answer = host.feed().events(&after(other_event)).await.unwrap();
    assert_eq!(answer, FeedAnswer::Expired);
}

/// Readers that go on during commits miss none and see none twice, however many commit at once.
pub async fn a_reader_during_commits_misses_none(host: &dyn Host) {
    let scene = Scene::new(host).await;
    let service = Arc::new(scene.another_service());
    let mut tasks: Vec<Task> = Vec::new();
    for _ in 0..AT_ONCE {
        let (service, offer, now) = (Arc::clone(&service), scene.offer(), scene.now);
        tasks.push(Box::pin(async move {
            let offered = service.offer(&offer, Actor::Company, None, now).await;
            let id = created(offered.unwrap()).id;
            let (viewer, command) = (Viewer::Platform, Command::Request);
            let requested = service.command(viewer, id, &command, Actor::Supplier, now);
            requested.await.unwrap();
        }));
    }
    let (feed, mut query) = (host.feed(), everything(scene.payer));
    query.limit = 3;
    let seen: Arc<Mutex<Vec<EventId>>> = Arc::default();
    let found = Arc::clone(&seen);
    tasks.push(Box::pin(async move {
        let mut count = 0;
        // Two events of each.
        while count < 2 * AT_ONCE {
            let answer = feed.events(&query).await.unwrap();
            let FeedAnswer::Page(page) = answer else {
                panic!("expired: {query:?}")
            };
            count += page.events.len();
            query.after = Some(page.next);
            found
                .lock()
                .unwrap()
                .extend(page.events.iter().map(|it| it.id));
        }
    }));
    host.join_all(tasks).await;
    let events = all(host, &everything(scene.payer)).await;
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), 2 * AT_ONCE);
    assert_eq!(*seen.lock().unwrap(), ids);
}

async fn order(scene: &Scene<'_>, payer: CompanyId) {
    let target = OrderTarget {
        payer,
        supplier: scene.supplier.cnpj,
        operation: None,
    };
    let made = scene
        .service
        .create_order(&target, cents(1), None, None, scene.now);
    made.await.unwrap();
}

/// Everything that a head office may read.
const fn everything(head_office: CompanyId) -> FeedQuery {
    FeedQuery {
        head_office,
        company: head_office,
        after: None,
        types: Vec::new(),
        limit: 100,
    }
}

async fn page(host: &dyn Host, query: &FeedQuery) -> FeedPage {
    match host.feed().events(query).await.unwrap() {
        FeedAnswer::Page(page) => page,
        FeedAnswer::Expired => panic!("expired: {query:?}"),
    }
}

/// The events of all pages.
async fn all(host: &dyn Host, query: &FeedQuery) -> Vec<FeedEvent> {
    let mut query = query.clone();
    let mut events = Vec::new();
    loop {
        let page = page(host, &query).await;
        assert!(page.events.len() <= usize::try_from(query.limit).unwrap());
        events.extend(page.events);
        query.after = Some(page.next);
        if !page.has_more {
            return events;
        }
    }
}
