//! The deliveries that a group of commits leases at once, for the dispatcher of this process.

use std::collections::{HashMap, HashSet};

use preauth_core::port::{Commit, Leased, NewDelivery, Room};
use preauth_core::value::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::store::addressee::Addressee;

/// A commit with the room that its deliveries have found.
pub(in super::super) struct CommitWithRooms<'a> {
    pub(in super::super) commit: &'a Commit,
    /// One for each of its deliveries.
    rooms: Vec<Option<Box<dyn Room>>>,
}

/// The end of a statement with leases: after the outcomes, a row for each lease, one for each of
/// their endpoints, with the secrets that are in force at the write, and one without a URL for each
/// paused endpoint.
pub(super) const ANSWER: &str = "SELECT n, code, NULL::UUID AS id, NULL::UUID AS endpoint_id,
            NULL::BIGINT AS lease_token, NULL::TEXT AS url, NULL::BYTEA[] AS sealed_secrets,
            NULL::BIGINT AS healthy_at
     FROM outcome
     UNION ALL
     SELECT NULL, NULL, a.id, a.endpoint_id, a.lease_token, NULL, NULL, NULL
     FROM addressed a WHERE a.leased_until IS NOT NULL
     UNION ALL
     SELECT NULL, NULL, NULL, e.id, NULL, e.url, e.sealed_secrets, e.healthy_at
     FROM (SELECT endpoint_id,
               greatest(max(created_at), (SELECT max(leased_at) FROM delivery)) AS at
           FROM addressed
           WHERE leased_until IS NOT NULL GROUP BY endpoint_id) AS a
     CROSS JOIN LATERAL (
         SELECT e.id, e.url, coalesce(e.last_success_at, e.created_at) AS healthy_at,
                ARRAY(SELECT s.sealed FROM endpoint_secrets s
                      WHERE s.endpoint_id = e.id
                        AND (s.valid_until IS NULL OR s.valid_until > a.at)
                      ORDER BY s.number DESC) AS sealed_secrets
         FROM endpoints e WHERE e.id = a.endpoint_id LIMIT 1) AS e
     UNION ALL
     SELECT NULL, NULL, NULL, e.id, NULL, NULL, NULL, NULL
     FROM free_endpoint e WHERE e.is_paused";

/// The deliveries that a statement leased.
#[derive(Default)]
pub(in super::super) struct Leases {
    tokens: HashMap<Uuid, i64>,
    endpoints: HashMap<Uuid, Addressee>,
    /// Endpoints whose deliveries are not due until somebody resumes them.
    paused: HashSet<Uuid>,
}

impl<'a> CommitWithRooms<'a> {
    /// Reserves room for the commit's deliveries.
    pub(in super::super) fn reserve(commit: &'a Commit) -> Self {
        let deliveries = commit.deliveries.iter();
        let reserve = |it: &NewDelivery| commit.intake.reserve(it.endpoint);
        Self {
            commit,
            rooms: deliveries.map(reserve).collect(),
        }
    }

    /// The commit's deliveries with the duration of their leases, and the service's time.
    pub(super) fn deliveries(&self) -> impl Iterator<Item = (NewDelivery, Option<(i64, i64)>)> {
        let leases = self.rooms.iter().map(|room| {
            let room = room.as_ref()?;
            Some((room.lease().num_milliseconds(), room.now().unix_millis()))
        });
        self.commit.deliveries.iter().copied().zip(leases)
    }

    /// Hands the leased deliveries over; returns whether any waits for a claim. Those of a paused endpoint
    /// do not: its resumption calls for one, and where both are written at once, the next poll finds them.
    pub(in super::super) fn hand_over(self, leases: &Leases) -> bool {
        let mut waits = false;
        for (delivery, room) in self.commit.deliveries.iter().zip(self.rooms) {
            let handed = room.and_then(|room| Some((room, leases.of(self.commit, delivery)?)));
            match handed {
                Some((room, handed)) => room.take(handed),
                None => waits |= !leases.paused.contains(delivery.endpoint.as_uuid()),
            }
        }
        waits
    }
}

impl Leases {
    /// Reads a row of [`ANSWER`] that is no outcome. An unreadable delivery is not handed over: the
    /// commit is done, and the claim that finds the delivery after its lease sets it aside.
    pub(super) fn read(&mut self, row: &PgRow) {
        if let Ok(Some(id)) = row.try_get("id") {
            if let Ok(token) = row.try_get("lease_token") {
                self.tokens.insert(id, token);
            }
        } else if let Ok(id) = row.try_get("endpoint_id") {
            match row.try_get::<Option<&str>, _>("url") {
                Ok(None) => {
                    self.paused.insert(id);
                }
                _ => self.endpoints.extend(addressee(row).map(|it| (id, it))),
            }
        }
    }

    fn of(&self, commit: &Commit, delivery: &NewDelivery) -> Option<Leased> {
        let token = *self.tokens.get(delivery.id.as_uuid())?;
        let endpoint = self.endpoints.get(delivery.endpoint.as_uuid())?;
        Some(endpoint.leased(commit, delivery, token))
    }
}

fn addressee(row: &PgRow) -> Option<Addressee> {
    Some(Addressee {
        url: row.try_get("url").ok()?,
        sealed_secrets: row.try_get("sealed_secrets").ok()?,
        healthy_at: Timestamp::from_unix_millis(row.try_get("healthy_at").ok()?)?,
    })
}
