//! Events on request, beyond the suite for every host: pages of all lengths, retention, and looks.

use chrono::TimeDelta;
use preauth_core::operation::{Actor, Command, DirectAdvance, Operation};
use preauth_core::port::{FeedAnswer, FeedPage, FeedPlace, FeedQuery, Viewer};
use preauth_core::value::{CompanyId, CompanyKind, EventType, Timestamp};
use preauth_server::feed::Look;

use crate::store::fixture::Fixture;

/// Everything that a head office may read.
pub(crate) const fn everything(head_office: CompanyId) -> FeedQuery {
    FeedQuery {
        head_office,
        company: head_office,
        after: None,
        types: Vec::new(),
        limit: 100,
    }
}

/// Numbers what is committed.
pub(crate) async fn number(fixture: &Fixture) {
    let look = Look {
        now: fixture.now,
        kept_since: fixture.later(TimeDelta::days(-30)),
        since: None,
    };
    fixture.stores.numbers.number(look).await.unwrap();
}

/// A page, after everything that is committed has its number.
pub(crate) async fn read(fixture: &Fixture, query: &FeedQuery) -> FeedAnswer {
    number(fixture).await;
    fixture.stores.feed.events(query).await.unwrap()
}

pub(crate) async fn page(fixture: &Fixture, query: &FeedQuery) -> FeedPage {
    match read(fixture, query).await {
        FeedAnswer::Page(page) => page,
        FeedAnswer::Expired => panic!("expired: {query:?}"),
    }
}

/// The bodies of a page.
pub(crate) fn texts(page: &FeedPage) -> Vec<&str> {
    page.events
        .iter()
        .map(|event| event.body.as_str())
        .collect()
}

pub(crate) async fn request(fixture: &Fixture, operation: &Operation) {
    let requested = fixture.service.command(
        Viewer::Platform,
        operation.id,
        &Command::Request,
        Actor::Supplier,
        fixture.now,
    );
    requested.await.unwrap();
}

#[tokio::test]
async fn payer_and_supplier_read_an_operations_events_and_nobody_else() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let first = fixture.offer(payer).await;
    let second = fixture.offer(payer).await;
    fixture.offer(other).await;
    request(&fixture, &first).await;
    let created = |it: &Operation| format!("pre_authorization.created of {}", it.id);
    let requested = format!("anticipation.requested of {}", first.id);
    let seen = page(&fixture, &everything(payer)).await;
    assert_eq!(
        texts(&seen),
        [&*created(&first), &created(&second), &requested]
    );
    assert!(!seen.has_more);
    let supplier = everything(first.supplier.head_office);
    let seen = page(&fixture, &supplier).await;
    assert_eq!(texts(&seen), [&*created(&first), &requested]);
    assert_eq!(texts(&page(&fixture, &everything(other)).await).len(), 1);
    let stranger = fixture.payer().await;
    let nothing = page(&fixture, &everything(stranger)).await;
    assert_eq!(
        (nothing.events.len(), nothing.next),
        (0, FeedPlace::BEGINNING)
    );
}

#[tokio::test]
async fn pages_and_filters_show_each_event_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for n in 0..7 {
        let operation = fixture.offer(payer).await;
        if n % 3 == 0 {
            request(&fixture, &operation).await;
        }
    }
    let all = page(&fixture, &everything(payer)).await;
    assert_eq!(all.events.len(), 10);
    for types in [
        vec![],
        vec![EventType::AnticipationRequested],
        vec![EventType::PaymentOrderPaid],
    ] {
        let expected: Vec<&str> = texts(&all)
            .into_iter()
            .filter(|text| types.is_empty() || types.iter().any(|it| text.starts_with(it.as_str())))
            .collect();
        for limit in [1, 2, 3, 10, 11] {
            let mut query = FeedQuery {
                types: types.clone(),
                limit,
                ..everything(payer)
            };
            let mut seen = Vec::new();
            loop {
                let page = page(&fixture, &query).await;
                assert!(page.events.len() <= usize::try_from(limit).unwrap());
                seen.extend(page.events.into_iter().map(|event| event.body));
                query.after = Some(page.next);
                if !page.has_more {
                    break;
                }
            }
            assert_eq!(seen, expected, "{types:?} {limit}");
            // What comes next begins where the last page ended.
            assert_eq!(query.after, Some(all.next), "{types:?} {limit}");
        }
    }
}

#[tokio::test]
async fn after_their_retention_events_are_gone_and_only_who_missed_some_is_told() {
    let fixture = Fixture::new().await;
    let (payer, idle) = (fixture.payer().await, fixture.payer().await);
    for _ in 0..3 {
        fixture.offer(payer).await;
    }
    fixture.offer(idle).await;
    let first = page(
        &fixture,
        &FeedQuery {
            limit: 1,
            ..everything(payer)
        },
    )
    .await;
    let all = page(&fixture, &everything(payer)).await;
    let idle_place = page(&fixture, &everything(idle)).await.next;
    let later = fixture.later(TimeDelta::days(31));
    let forget = |before: Timestamp| {
        let housekeeping = &fixture.stores.housekeeping;
        async move { while housekeeping.forget_event_numbers(before, 2).await.unwrap() > 0 {} }
    };
    // Not yet.
    forget(fixture.now).await;
    assert_eq!(page(&fixture, &everything(payer)).await, all);
    // On PostgreSQL the latest batch stays until there is another.
    let late = fixture.offer_at(payer, later).await;
    number_at(&fixture, later).await;
    forget(later).await;
    let after = |after| FeedQuery {
        after: Some(after),
        ..everything(payer)
    };
    let text = format!("pre_authorization.created of {}", late.id);
    let begin = page(&fixture, &everything(payer)).await;
    assert_eq!(texts(&begin), [&*text]);
    assert_eq!(texts(&page(&fixture, &after(all.next)).await), [&*text]);
    assert_eq!(
        read(&fixture, &after(first.next)).await,
        FeedAnswer::Expired
    );
    // Whoever had read everything missed nothing, although the event of its place is gone.
    let idle_reader = FeedQuery {
        after: Some(idle_place),
        ..everything(idle)
    };
    assert_eq!(page(&fixture, &idle_reader).await.events, []);
    let events: i64 = sqlx::query_scalar("SELECT count(*) FROM events")
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    assert_eq!(events, 5, "histories need them");
}

#[tokio::test]
async fn a_branch_misses_only_events_that_it_may_see() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(payer)).await;
    let supplier = fixture.company(CompanyKind::Supplier);
    let supplier_cnpj = supplier.cnpj;
    fixture.add(supplier).await;
    fixture.offer(payer).await;
    for _ in 0..2 {
        let advance = DirectAdvance {
            payer: branch,
            supplier: supplier_cnpj,
            invoice: fixture.new_offer(payer).invoice,
            external_reference: None,
        };
        let service = &fixture.service;
        let made = service.advance_directly(&advance, Actor::Supplier, None, fixture.now);
        made.await.unwrap();
    }
    let reader = FeedQuery {
        company: branch,
        ..everything(payer)
    };
    let first = FeedQuery {
        limit: 1,
        ..reader.clone()
    };
    let first = page(&fixture, &first).await;
    let both = page(&fixture, &reader).await;
    assert_eq!((first.events.len(), both.events.len()), (1, 2));
    fixture.offer(payer).await;
    number(&fixture).await;

    let later = fixture.later(TimeDelta::days(31));
    fixture.offer_at(payer, later).await;
    number_at(&fixture, later).await;
    let housekeeping = &fixture.stores.housekeeping;
    while housekeeping.forget_event_numbers(later, 2).await.unwrap() > 0 {}
    let after = |place| FeedQuery {
        after: Some(place),
        ..reader.clone()
    };
    assert_eq!(
        read(&fixture, &after(first.next)).await,
        FeedAnswer::Expired,
        "it had a second one"
    );
    let nothing = page(&fixture, &after(both.next)).await;
    assert_eq!(nothing.events, [], "the rest was the head office's");
    let everything = FeedQuery {
        after: Some(both.next),
        ..everything(payer)
    };
    assert_eq!(read(&fixture, &everything).await, FeedAnswer::Expired);
}

async fn number_at(fixture: &Fixture, now: Timestamp) {
    let look = Look {
        now,
        kept_since: now.saturating_sub(TimeDelta::days(30)),
        since: None,
    };
    fixture.stores.numbers.number(look).await.unwrap();
}

#[tokio::test]
async fn a_look_reports_who_has_new_events_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    let look = |since| Look {
        now: fixture.now,
        kept_since: fixture.now,
        since,
    };
    let numbers = &fixture.stores.numbers;
    let first = numbers.number(look(None)).await.unwrap();
    assert_eq!(first.head_offices, []);
    let operation = fixture.offer(payer).await;
    let second = numbers.number(look(Some(first.upto))).await.unwrap();
    assert!(second.head_offices.contains(&payer));
    assert!(
        second
            .head_offices
            .contains(&operation.supplier.head_office)
    );
    let third = numbers.number(look(Some(second.upto))).await.unwrap();
    assert_eq!(third.head_offices, []);
    assert_eq!(third.upto, second.upto);
}
