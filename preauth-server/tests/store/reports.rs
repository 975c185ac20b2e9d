//! Reports agree with the operations themselves, whoever counted them and whatever was removed since.
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::Policy;
use preauth_core::memory::CountingIds;
use preauth_core::operation::{Actor, Command, DirectAdvance, Operation, ReprovedBy, State};
use preauth_core::port::{Filter, PageRequest, Recorded, Verdict, Viewer};
use preauth_core::service::{OfferOutcome, Operations};
use preauth_core::value::{
    CompanyId, CompanyKind, DueDate, EventType, Money, Origin, Timestamp, calendar,
};
use preauth_server::directory::{
    Activity, Company, Period, ReportQuery, ReportRow, ReportScope, ReportUnit, Volume,
};
use preauth_server::http::WireRender;

use super::deliveries::{claim_one, fail};
use super::feed::number;
use crate::store::fixture::{Fixture, cents};

const HISTORIES: u64 = 3;
const OPERATIONS: u64 = 40;

/// The same numbers for a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

fn moment(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// A moment about the end of a month in São Paulo, often its last or the first one of the next.
fn some_moment(dice: &mut Dice) -> Timestamp {
    let midnight = moment("2026-12-01T03:00:00.000Z");
    let millis = match dice.below(4) {
        0 => -1,
        1 => 0,
        _ => i64::try_from(dice.below(172_800_000)).unwrap() - 86_400_000,
    };
    midnight.saturating_add(TimeDelta::milliseconds(millis))
}

/// Periods whose bounds are worked out by the calendar alone.
fn periods(unit: ReportUnit, names: &[&str]) -> Vec<Period> {
    let period = |name: &&str| {
        let (first, last) = match unit {
            ReportUnit::Day => ((*name).to_owned(), (*name).to_owned()),
            ReportUnit::Month => {
                let days = if name.ends_with("11") { 30 } else { 31 };
                (format!("{name}-01"), format!("{name}-{days}"))
            }
        };
        let end = |day: &str| {
            let end = calendar::end_of_day(day.parse().unwrap());
            end.saturating_add(TimeDelta::milliseconds(1))
        };
        let before = first
            .parse::<chrono::NaiveDate>()
            .unwrap()
            .pred_opt()
            .unwrap();
        Period {
            name: (*name).to_owned(),
            begin: end(&before.to_string()),
            end: end(&last),
        }
    };
    names.iter().map(period).collect()
}

const DAYS: [&str; 8] = [
    "2026-11-29",
    "2026-11-30",
    "2026-12-01",
    "2026-12-02",
    "2026-12-03",
    "2026-12-04",
    "2026-12-05",
    "2026-12-06",
];
const MONTHS: [&str; 2] = ["2026-11", "2026-12"];

async fn count_all(fixture: &Fixture) {
    number(fixture).await;
    while fixture.directory().count_activity().await.unwrap() > 0 {}
}

async fn report(fixture: &Fixture, unit: ReportUnit, scope: ReportScope) -> Vec<ReportRow> {
    let names: &[&str] = match unit {
        ReportUnit::Day => &DAYS,
        ReportUnit::Month => &MONTHS,
    };
    let periods = periods(unit, names);
    let query = ReportQuery {
        unit,
        periods,
        scope,
    };
    fixture.directory().report(&query).await.unwrap()
}

struct World {
    fixture: Fixture,
    /// Writes the bodies that the server writes.
    service: Operations,
    payers: Vec<CompanyId>,
    supplier: Company,
}

impl World {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let service = Operations::new(
            Arc::clone(&fixture.stores.store),
            Arc::new(CountingIds::in_namespace(9)),
            Arc::new(WireRender),
            Policy::default(),
        );
        let payers = vec![
            fixture.payer().await,
            fixture.payer().await,
            fixture.payer().await,
        ];
        let supplier = fixture.company(CompanyKind::Supplier);
        fixture.add(supplier.clone()).await;
        fixture.add_endpoint(payers[0]).await;
        fixture.add_endpoint(supplier.id).await;
        Self {
            fixture,
            service,
            payers,
            supplier,
        }
    }

    async fn begin(&self, dice: &mut Dice, at: Timestamp) -> Operation {
        // The last one never does anything.
        let payer = self.payers[usize::try_from(dice.below(2)).unwrap()];
        let mut offer = self.fixture.new_offer(payer);
        let day = calendar::today(at)
            .checked_add_days(chrono::Days::new(60))
            .unwrap();
        offer.invoice.due_date = DueDate::from_date(day).unwrap();
        let begun = if dice.below(4) == 0 {
            let advance = DirectAdvance {
                payer,
                supplier: self.supplier.cnpj,
                invoice: offer.invoice,
                external_reference: None,
            };
            self.service
                .advance_directly(&advance, Actor::Supplier, None, at)
                .await
        } else {
            self.service.offer(&offer, Actor::Company, None, at).await
        };
        match begun.unwrap() {
            OfferOutcome::Created { operation, .. } => *operation,
            OfferOutcome::Replayed { body } => panic!("replayed: {body}"),
        }
    }

    /// One permitted step; none when the operation has ended.
    fn step(operation: &Operation, dice: &mut Dice) -> Option<(Command, Actor)> {
        let reprove = Command::Reprove {
            by: ReprovedBy::Platform,
            reason: None,
        };
        let is_harsh = dice.below(5) == 0;
        Some(match operation.state {
            State::InPreAuth => match dice.below(6) {
                0 => (Command::Decline { reason: None }, Actor::Supplier),
                1 => (Command::Withdraw { reason: None }, Actor::Company),
                _ => (Command::Request, Actor::Supplier),
            },
            State::InVerification if !is_harsh => (Command::Verify, Actor::Platform),
            State::ToApprove if !is_harsh => (Command::Approve, Actor::Company),
            State::InAnalysis if !is_harsh => {
                let net = 1_000_000 + i64::try_from(dice.below(9_999)).unwrap();
                (
                    Command::Release {
                        net_amount: cents(net),
                    },
                    Actor::Platform,
                )
            }
            State::ToPay if !is_harsh => (Command::Pay, Actor::Platform),
            State::InVerification | State::ToApprove | State::InAnalysis | State::ToPay => {
                (reprove, Actor::Platform)
            }
            State::ToBill if dice.below(2) == 0 => (Command::ReturnPayout, Actor::Platform),
            _ => return None,
        })
    }

    async fn live(&self, dice: &mut Dice) {
        let mut at = some_moment(dice);
        let mut operation = self.begin(dice, at).await;
        if operation.origin == Origin::PreAuth && dice.below(8) == 0 {
            let overdue = operation
                .expires_at
                .unwrap()
                .saturating_add(TimeDelta::minutes(1));
            assert!(self.service.expire(operation.id, overdue).await.unwrap());
            return;
        }
        for _ in 0..dice.below(9) {
            let Some((command, actor)) = Self::step(&operation, dice) else {
                break;
            };
            let hours = i64::try_from(dice.below(9)).unwrap();
            at = at.saturating_add(TimeDelta::hours(hours));
            let done = self
                .service
                .command(Viewer::Platform, operation.id, &command, actor, at);
            operation = done.await.unwrap().operation;
        }
    }

    /// The same sums, from the list of operations and the history of each.
    async fn recounted(&self, unit: ReportUnit) -> BTreeMap<(String, CompanyId), Activity> {
        let mut found: BTreeMap<(String, CompanyId), Activity> = BTreeMap::new();
        let queries = &self.fixture.stores.queries;
        let everything = Filter::default();
        for page in 1.. {
            let page = PageRequest { page, limit: 25 };
            let listed = queries.list(Viewer::Platform, &everything, page);
            let operations = listed.await.unwrap().operations;
            if operations.is_empty() {
                return found;
            }
            for operation in &operations {
                for entry in queries.history(operation.id).await.unwrap() {
                    let day = calendar::today(entry.at);
                    let period = match unit {
                        ReportUnit::Day => day.to_string(),
                        ReportUnit::Month => day.to_string()[..7].to_owned(),
                    };
                    let key = (period, operation.payer.head_office);
                    let Recorded::Known(event_type) = entry.event_type else {
                        panic!("{entry:?}");
                    };
                    let body: serde_json::Value = serde_json::from_str(&entry.body).unwrap();
                    let net = body["data"]["netAmount"].to_string();
                    let net = Money::parse(&net).map_or(0, Money::cents).unsigned_abs();
                    let activity = found.entry(key.clone()).or_default();
                    note(activity, event_type, operation, net);
                    if operation.payer.head_office == self.payers[0] {
                        activity.deliveries += 1;
                    }
                    if operation.supplier.head_office == self.supplier.id {
                        let key = (key.0, self.supplier.id);
                        found.entry(key).or_default().deliveries += 1;
                    }
                }
            }
        }
        unreachable!()
    }
}

fn note(activity: &mut Activity, event_type: EventType, operation: &Operation, net_cents: u64) {
    let volume = match event_type {
        EventType::PreAuthorizationCreated => &mut activity.offers,
        EventType::AnticipationCreated => &mut activity.direct_advances,
        EventType::AnticipationRequested if operation.origin == Origin::PreAuth => {
            &mut activity.requests
        }
        EventType::PreAuthorizationDeclined => &mut activity.declined,
        EventType::PreAuthorizationRevoked => &mut activity.revoked,
        EventType::PreAuthorizationExpired => &mut activity.expired,
        EventType::AnticipationReproved => &mut activity.reproved,
        EventType::AnticipationPaid => &mut activity.paid,
        EventType::AnticipationPayoutReturned => &mut activity.returned,
        _ => return,
    };
    let is_payout = matches!(
        event_type,
        EventType::AnticipationPaid | EventType::AnticipationPayoutReturned
    );
    volume.count += 1;
    volume.cents += operation.invoice.amounts.amount().cents().unsigned_abs();
    if is_payout {
        volume.net_cents += net_cents;
    }
}

fn sum(rows: &BTreeMap<(String, CompanyId), Activity>, period: &str) -> Activity {
    let mut total = Activity::default();
    let add = |to: &mut Volume, more: Volume| {
        to.count += more.count;
        to.cents += more.cents;
        to.net_cents += more.net_cents;
    };
    for ((_, _), it) in rows.iter().filter(|((name, _), _)| name == period) {
        add(&mut total.offers, it.offers);
        add(&mut total.direct_advances, it.direct_advances);
        add(&mut total.requests, it.requests);
        add(&mut total.declined, it.declined);
        add(&mut total.revoked, it.revoked);
        add(&mut total.expired, it.expired);
        add(&mut total.reproved, it.reproved);
        add(&mut total.paid, it.paid);
        add(&mut total.returned, it.returned);
        total.deliveries += it.deliveries;
    }
    total
}

#[tokio::test]
async fn a_report_agrees_with_the_operations_after_any_history() {
    for seed in 1..=HISTORIES {
        let world = World::new().await;
        let fixture = &world.fixture;
        let mut dice = Dice(seed);
        for n in 0..OPERATIONS {
            world.live(&mut dice).await;
            // Counted in parts.
            if n % 7 == 0 {
                count_all(fixture).await;
            }
        }
        count_all(fixture).await;
        for unit in [ReportUnit::Day, ReportUnit::Month] {
            let names: &[&str] = if unit == ReportUnit::Day {
                &DAYS
            } else {
                &MONTHS
            };
            let mut expected = world.recounted(unit).await;
            expected.retain(|(period, _), _| names.contains(&period.as_str()));
            let together = report(fixture, unit, ReportScope::Everybody).await;
            let shown: Vec<_> = together.iter().map(|it| it.period.as_str()).collect();
            assert_eq!(shown, names, "every period, with or without activity");
            for row in &together {
                assert_eq!(
                    row.activity,
                    sum(&expected, &row.period),
                    "{seed} {}",
                    row.period
                );
            }
            for payer in &world.payers {
                for row in report(fixture, unit, ReportScope::HeadOffice(*payer)).await {
                    let key = (row.period.clone(), *payer);
                    let own = expected.get(&key).copied().unwrap_or_default();
                    assert_eq!(row.activity, own, "{seed} {}", row.period);
                }
            }
            let mut each = BTreeMap::new();
            let mut after = None;
            loop {
                let page = report(fixture, unit, ReportScope::Each { after, limit: 2 }).await;
                let Some(last) = page.last() else { break };
                let (id, _) = last.company.clone().unwrap();
                after = Some((last.period.clone(), id));
                for row in page {
                    let (id, name) = row.company.unwrap();
                    assert_eq!(name, "Empresa Ação & Cia");
                    assert!(each.insert((row.period, id), row.activity).is_none());
                }
            }
            assert_eq!(each, expected, "{seed} {unit:?}");
        }
    }
}

#[tokio::test]
async fn deliveries_given_up_are_reported_before_and_after_they_are_removed() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    let at = moment("2026-12-01T02:59:59.999Z");
    fixture.offer_at(payer, at).await;
    let verdict = Verdict::Failed {
        pause_endpoint: false,
    };
    let later = fixture.later(TimeDelta::days(20));
    fail(&fixture, &claim_one(&fixture, later).await, verdict).await;
    count_all(&fixture).await;
    let failed = async || {
        let of = |rows: Vec<ReportRow>| -> Vec<_> {
            let some = rows
                .into_iter()
                .filter(|it| it.activity.failed_deliveries > 0);
            some.map(|it| (it.period, it.activity.failed_deliveries))
                .collect()
        };
        let day = report(&fixture, ReportUnit::Day, ReportScope::HeadOffice(payer)).await;
        let month = report(&fixture, ReportUnit::Month, ReportScope::Everybody).await;
        (of(day), of(month))
    };
    let expected = (
        vec![("2026-11-30".to_owned(), 1)],
        vec![("2026-11".to_owned(), 1)],
    );
    assert_eq!(failed().await, expected);
    let house = &fixture.stores.housekeeping;
    let much_later = fixture.later(TimeDelta::days(90));
    assert_eq!(
        house.forget_ended_deliveries(much_later, 10).await.unwrap(),
        1
    );
    assert_eq!(failed().await, expected);
}

#[tokio::test]
async fn instances_that_count_at_once_count_each_event_once() {
    let first = Arc::new(Fixture::new().await);
    let payer = first.payer().await;
    for _ in 0..30 {
        first.offer(payer).await;
    }
    number(&first).await;
    let mut work = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let fixture = Arc::clone(&first);
        work.spawn(async move { while fixture.directory().count_activity().await.unwrap() > 0 {} });
    }
    work.join_all().await;
    let today = calendar::today(first.now).to_string();
    let query = ReportQuery {
        unit: ReportUnit::Day,
        periods: periods(ReportUnit::Day, &[&today]),
        scope: ReportScope::Everybody,
    };
    let rows = first.directory().report(&query).await.unwrap();
    assert_eq!(rows[0].activity.offers.count, 30);
}
