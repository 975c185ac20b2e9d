//! Reads the rows of a report.

use std::collections::{BTreeMap, HashMap};

use preauth_core::value::{CompanyId, EventType};
use uuid::Uuid;

use crate::directory::{Activity, Period, ReportQuery, ReportRow, ReportScope, Volume};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt, count};

use super::super::planner::read_in_index_order;
use super::super::{Builder, Row, Session, query, sql};
use super::EVERYBODY;
use super::counts::{DELIVERY, FAILED_DELIVERY};

/// Maximum number of kinds of one head office in a period: the types of events, and two of deliveries. A newer build may
/// know some more.
const MAX_KINDS: u32 = 64;

/// What happened, by period and head office.
type Found = BTreeMap<(String, Uuid), Activity>;

pub(super) async fn rows(
    session: &mut dyn Session,
    query: &ReportQuery,
) -> Result<Vec<ReportRow>, Fault> {
    let mut found = match &query.scope {
        ReportScope::Everybody => of_one(session, query, EVERYBODY).await?,
        ReportScope::HeadOffice(id) => of_one(session, query, *id.as_uuid()).await?,
        ReportScope::Each { after, limit } => {
            of_each(session, query, after.as_ref(), *limit).await?
        }
    };
    add_failures(session, &query.periods, &mut found).await?;
    let ids = found
        .keys()
        .map(|(_, id)| *id)
        .filter(|id| *id != EVERYBODY);
    let names = names(session, ids.collect()).await?;
    let row = |((period, id), activity): ((String, Uuid), Activity)| {
        let name = names.get(&id).cloned();
        ReportRow {
            period,
            company: (id != EVERYBODY).then(|| (CompanyId::new(id), name.unwrap_or_default())),
            activity,
        }
    };
    Ok(found.into_iter().map(row).collect())
}

/// Every period of one head office, or of all together.
async fn of_one(session: &mut dyn Session, report: &ReportQuery, id: Uuid) -> Result<Found, Fault> {
    let (first, last) = ends(&report.periods);
    let rows = query(
        "SELECT period, head_office_id, kind, count, amount_cents, net_amount_cents
         FROM activity_counts
         WHERE unit = $1 AND head_office_id = $2 AND period >= $3 AND period <= $4",
    )
    .bind(report.unit.as_str())
    .bind(id)
    .bind(first)
    .bind(last)
    .fetch_all(session)
    .await?;
    let mut found: Found = report
        .periods
        .iter()
        .map(|period| ((period.name.clone(), id), Activity::default()))
        .collect();
    add(&rows, &mut found)?;
    Ok(found)
}

/// The next head offices in the order of the index; a period without anything has none.
async fn of_each(
    session: &mut dyn Session,
    report: &ReportQuery,
    after: Option<&(String, CompanyId)>,
    limit: u32,
) -> Result<Found, Fault> {
    let (first, last) = ends(&report.periods);
    let mut statement = Builder::new(
        "SELECT period, head_office_id, kind, count, amount_cents, net_amount_cents
         FROM activity_counts WHERE unit = ",
    );
    statement.bind(report.unit.as_str());
    statement.push(" AND period >= ").bind(first);
    statement.push(" AND period <= ").bind(last);
    statement.push(" AND head_office_id > ").bind(EVERYBODY);
    if let Some((period, id)) = after {
        statement.push(" AND (period, head_office_id) > (");
        statement
            .bind(period)
            .push(", ")
            .bind(*id.as_uuid())
            .push(")");
    }
    statement.push(" ORDER BY unit, period, head_office_id, kind LIMIT ");
    statement.bind(limit.saturating_add(1).saturating_mul(MAX_KINDS));
    let rows = statement.build().fetch_all(session).await?;
    let mut found = Found::new();
    add(&rows, &mut found)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    while found.len() > limit {
        found.pop_last();
    }
    Ok(found)
}

fn ends(periods: &[Period]) -> (&str, &str) {
    let first = periods.first().map_or("", |it| it.name.as_str());
    let last = periods.last().map_or("", |it| it.name.as_str());
    (first, last)
}

fn add(rows: &[Row], found: &mut Found) -> Result<(), Corrupt> {
    for row in rows {
        let columns = Columns::of("activity_counts", row);
        let period: &str = columns.raw("period")?;
        let key = (period.to_owned(), columns.uuid("head_office_id")?);
        let number = |column| columns.raw::<i64>(column).map(count);
        let more = Volume {
            count: number("count")?,
            cents: number("amount_cents")?,
            net_cents: number("net_amount_cents")?,
        };
        let activity = found.entry(key).or_default();
        activity.add(columns.raw("kind")?, more);
    }
    Ok(())
}

impl Activity {
    fn add(&mut self, kind: &str, more: Volume) {
        let volume = match kind {
            DELIVERY => {
                self.deliveries = self.deliveries.saturating_add(more.count);
                return;
            }
            FAILED_DELIVERY => {
                self.failed_deliveries = self.failed_deliveries.saturating_add(more.count);
                return;
            }
            _ => self.volume(kind),
        };
        if let Some(volume) = volume {
            *volume = volume.plus(more);
        }
    }

    /// The figure that counts events of a type.
    fn volume(&mut self, kind: &str) -> Option<&mut Volume> {
        match kind.parse().ok()? {
            EventType::PreAuthorizationCreated => Some(&mut self.offers),
            EventType::AnticipationCreated => Some(&mut self.direct_advances),
            EventType::AnticipationRequested => Some(&mut self.requests),
            EventType::PreAuthorizationDeclined => Some(&mut self.declined),
            EventType::PreAuthorizationRevoked => Some(&mut self.revoked),
            EventType::PreAuthorizationExpired => Some(&mut self.expired),
            EventType::AnticipationReproved => Some(&mut self.reproved),
            EventType::AnticipationPaid => Some(&mut self.paid),
            EventType::AnticipationPayoutReturned => Some(&mut self.returned),
            EventType::PaymentOrderPaid => Some(&mut self.paid_orders),
            EventType::AnticipationApproved
            | EventType::AnticipationAnalysisApproved
            | EventType::AnticipationReopened
            | EventType::AnticipationBilled
            | EventType::AnticipationConcluded
            | EventType::AnticipationExtensionCreated
            | EventType::AnticipationExtensionConcluded
            | EventType::AnticipationExtensionCanceled
            | EventType::InvoiceReceived
            | EventType::PaymentOrderCreated
            | EventType::PaymentOrderUnderReview
            | EventType::PaymentOrderScheduled
            | EventType::PaymentOrderCanceled
            | EventType::PaymentOrderReproved
            | EventType::WebhookTest => None,
        }
    }
}

/// Adds the deliveries that were given up and are still there, period by period.
async fn add_failures(
    session: &mut dyn Session,
    periods: &[Period],
    found: &mut Found,
) -> Result<(), Fault> {
    // Several indexes have those that failed, and of a few rows each looks as good; one has their times.
    read_in_index_order(session).await?;
    for period in periods {
        let is_shown = |(name, _): &(String, Uuid)| *name == period.name;
        if !found.keys().any(is_shown) {
            continue;
        }
        let rows = query(sql!(
            "SELECT head_office_id, count(*) AS failed "
            {
                sqlite: "FROM deliveries
                         WHERE status = 'FAILED' AND event_type <> 'webhook.test'
                           AND created_at >= $1 AND created_at < $2 ",
                postgres: "FROM (SELECT head_office_id FROM deliveries
                                 WHERE status = 'FAILED' AND event_type <> 'webhook.test'
                                   AND created_at >= $1 AND created_at < $2
                                 ORDER BY created_at, head_office_id OFFSET 0) AS d "
            }
            "GROUP BY head_office_id"
        ))
        .bind(period.begin.unix_millis())
        .bind(period.end.unix_millis())
        .fetch_all(session)
        .await?;
        for row in &rows {
            let columns = Columns::of("deliveries", row);
            let failed = Volume {
                count: columns.raw::<i64>("failed").map(count)?,
                ..Volume::default()
            };
            for id in [columns.uuid("head_office_id")?, EVERYBODY] {
                if let Some(activity) = found.get_mut(&(period.name.clone(), id)) {
                    activity.add(FAILED_DELIVERY, failed);
                }
            }
        }
    }
    Ok(())
}

async fn names(session: &mut dyn Session, ids: Vec<Uuid>) -> Result<HashMap<Uuid, String>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query(sql!("SELECT id, name FROM companies WHERE id " (is_one_of "$1")))
        .bind(ids)
        .fetch_all(session)
        .await?;
    let name = |row: &Row| -> Result<_, Corrupt> {
        let columns = Columns::of("companies", row);
        Ok((columns.uuid("id")?, columns.raw::<&str>("name")?.to_owned()))
    };
    Ok(rows.iter().map(name).collect::<Result<_, _>>()?)
}
