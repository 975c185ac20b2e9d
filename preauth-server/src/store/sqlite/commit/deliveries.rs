//! The deliveries of a commit, and the leases of those whose endpoints have room.

use std::collections::{HashMap, HashSet};

use preauth_core::port::{Commit, Leased, NewDelivery, Room};
use preauth_core::value::EndpointId;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::store::addressee::Addressee;
use crate::store::error::WriteError;
use crate::store::sql::id_list;

use super::super::rows::{Columns, clamped};
use super::chunks::chunks;

/// The deliveries that a commit wrote.
#[derive(Default)]
pub(in super::super) struct InsertedDeliveries {
    handed: Vec<(Box<dyn Room>, Leased)>,
    /// Whether any of them waits for a claim.
    waits: bool,
}

impl InsertedDeliveries {
    /// Hands the leased deliveries over; returns whether any waits for a claim.
    pub(in super::super) fn hand_over(&mut self) -> bool {
        for (room, leased) in self.handed.drain(..) {
            room.take(leased);
        }
        self.waits
    }
}

/// A delivery to be inserted.
struct NewRow<'c> {
    /// The place of its commit.
    place: usize,
    commit: &'c Commit,
    delivery: &'c NewDelivery,
    /// The room for its first attempt, and the token of its lease.
    lease: Option<(Box<dyn Room>, i64)>,
}

/// Adds a delivery to each endpoint of each commit, due now; a deleted endpoint gets none.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    commits: &[&Commit],
) -> Result<Vec<InsertedDeliveries>, WriteError> {
    let mut rows = Vec::new();
    for (place, commit) in commits.iter().enumerate() {
        rows.extend(commit.deliveries.iter().map(|delivery| {
            NewRow {
                place,
                commit,
                delivery,
                lease: commit
                    .intake
                    .reserve(delivery.endpoint)
                    .map(|room| (room, 0)),
            }
        }));
    }
    let Endpoints { ready, paused } = endpoints(connection, &rows).await?;
    for row in &mut rows {
        row.lease
            .take_if(|_| !ready.contains_key(&row.delivery.endpoint));
    }
    set_tokens(connection, &mut rows).await?;
    for chunk in chunks(&rows) {
        add(connection, chunk).await?;
    }
    let mut inserted: Vec<_> = commits
        .iter()
        .map(|_| InsertedDeliveries::default())
        .collect();
    for row in rows {
        let Some(inserted) = inserted.get_mut(row.place) else {
            continue;
        };
        match (row.lease, ready.get(&row.delivery.endpoint)) {
            (Some((room, token)), Some(endpoint)) => {
                let leased = endpoint.leased(row.commit, row.delivery, token);
                inserted.handed.push((room, leased));
            }
            // Those of a paused endpoint wait for its resumption.
            _ => inserted.waits |= !paused.contains(&row.delivery.endpoint),
        }
    }
    Ok(inserted)
}

/// Adds deliveries, under their leases.
async fn add(connection: &mut SqliteConnection, rows: &[NewRow<'_>]) -> Result<(), WriteError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
             next_attempt_at, created_at, lease_token, leased_until)
         SELECT v.column1, e.head_office_id, e.id, v.column3, v.column4, 'PENDING', v.column5,
             v.column5, coalesce(v.column6, 0),
             CAST(unixepoch('subsec') * 1000 AS INTEGER) + v.column7
         FROM (",
    );
    query.push_values(rows, |mut row, new| {
        let (event, delivery) = (&new.commit.event, new.delivery);
        let lease = new.lease.as_ref();
        row.push_bind(delivery.id.as_uuid().as_bytes().as_slice())
            .push_bind(delivery.endpoint.as_uuid().as_bytes().as_slice())
            .push_bind(event.id.as_uuid().as_bytes().as_slice())
            .push_bind(event.event_type.as_str())
            .push_bind(event.at.unix_millis())
            .push_bind(lease.map(|(_, token)| *token))
            .push_bind(lease.map(|(room, _)| room.lease().num_milliseconds()));
    });
    query.push(") AS v CROSS JOIN endpoints e ON e.id = v.column2 WHERE e.deleted_at IS NULL");
    query.build().execute(connection).await?;
    Ok(())
}

/// The endpoints of some deliveries.
#[derive(Default)]
struct Endpoints {
    /// With their secrets in force. Not among them are deleted, paused, slow and unreadable ones, whose
    /// deliveries wait for a claim.
    ready: HashMap<EndpointId, Addressee>,
    paused: HashSet<EndpointId>,
}

async fn endpoints(
    connection: &mut SqliteConnection,
    rows: &[NewRow<'_>],
) -> Result<Endpoints, WriteError> {
    let times = rows.iter().map(|row| {
        let at = row.commit.event.at;
        row.lease
            .as_ref()
            .map_or(at, |(room, _)| at.max(room.now()))
    });
    let Some(now) = times.max() else {
        return Ok(Endpoints::default());
    };
    let ids: HashSet<Uuid> = rows
        .iter()
        .map(|row| *row.delivery.endpoint.as_uuid())
        .collect();
    let ids: Vec<Uuid> = ids.into_iter().collect();
    let found = sqlx::query(
        "SELECT e.id, e.url, e.paused_at IS NOT NULL AS is_paused,
                coalesce(e.last_success_at, e.created_at) AS healthy_at, s.sealed
         FROM endpoints e LEFT JOIN endpoint_secrets s
             ON s.endpoint_id = e.id AND (s.valid_until IS NULL OR s.valid_until > ?2)
         WHERE e.id IN (SELECT unhex(value) FROM json_each(?1)) AND e.deleted_at IS NULL
           AND (e.paused_at IS NOT NULL OR NOT e.is_slow)
         ORDER BY e.id, s.number DESC",
    )
    .bind(id_list(&ids))
    .bind(now.unix_millis())
    .fetch_all(connection)
    .await?;
    let (mut ready, mut paused) = (HashMap::new(), HashSet::new());
    for row in &found {
        let columns = Columns::of("endpoints", row);
        let id = EndpointId::new(columns.uuid("id")?);
        if columns.raw("is_paused")? {
            paused.insert(id);
            continue;
        }
        let (Ok(url), Ok(healthy_at), Ok(sealed)) = (
            columns.raw("url"),
            columns.timestamp("healthy_at"),
            row.try_get("sealed"),
        ) else {
            ready.insert(id, None);
            continue;
        };
        let addressee = ready.entry(id).or_insert_with(|| {
            Some(Addressee {
                url,
                sealed_secrets: Vec::new(),
                healthy_at,
            })
        });
        if let Some(addressee) = addressee {
            addressee.sealed_secrets.push(sealed);
        }
    }
    let readable = ready.into_iter();
    Ok(Endpoints {
        ready: readable.filter_map(|(id, it)| Some((id, it?))).collect(),
        paused,
    })
}

/// The last token is stored separately, because the janitor removes deliveries.
async fn set_tokens(
    connection: &mut SqliteConnection,
    rows: &mut [NewRow<'_>],
) -> Result<(), WriteError> {
    let leases = rows.iter_mut().filter_map(|row| row.lease.as_mut());
    let tokens: Vec<&mut i64> = leases.map(|(_, token)| token).collect();
    if tokens.is_empty() {
        return Ok(());
    }
    let row =
        sqlx::query("UPDATE sequences SET last = last + ?1 WHERE name = 'lease' RETURNING last")
            .bind(clamped(u64::try_from(tokens.len()).unwrap_or(u64::MAX)))
            .fetch_one(connection)
            .await?;
    let last: i64 = row.try_get(0)?;
    for (token, before) in tokens.into_iter().zip(0..) {
        *token = last.saturating_sub(before);
    }
    Ok(())
}
