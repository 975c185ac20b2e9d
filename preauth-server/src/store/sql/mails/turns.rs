//! Lists the mails that are due. Head offices take turns, so that the mails of one do not delay those of
//! another.

use std::collections::{HashMap, HashSet};

use preauth_core::value::Timestamp;
use uuid::Uuid;

use crate::store::error::WriteError;
use crate::store::rows::{Columns, Corrupt};

use super::super::{Row, Session, Sql, query, sql};

/// A mail's place in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::store) struct Position {
    pub(in crate::store) due: i64,
    pub(in crate::store) id: Uuid,
}

/// Mails that are due.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct DueList {
    /// In the order of sending.
    pub(in crate::store) mails: Vec<Position>,
    /// The mail that has been due for longest.
    pub(in crate::store) first: Option<Position>,
    /// The mail that has been due for the shortest time, if all due mails are listed.
    pub(in crate::store) last: Option<Position>,
    /// The head office after which the next list begins.
    pub(in crate::store) office: Uuid,
}

/// The mails that have been due for longest.
const OLDEST: Sql = sql!(
    "SELECT id, next_attempt_at, head_office_id FROM notices "
    { sqlite: "INDEXED BY notices_due", postgres: "" } "
     WHERE status = 'PENDING' AND (next_attempt_at, id) >= ($2, $3) AND next_attempt_at <= $1
       AND joined_to IS NULL
       AND (leased_until IS NULL OR leased_until <= " NOW ")
     ORDER BY next_attempt_at, id LIMIT $4"
);

/// The oldest due mails of each of the next head offices that have any: as many of each as fit in the
/// list. The work depends on the number of head offices, not on that of their mails.
const OF_OFFICES: Sql = sql!(
    "WITH offices AS MATERIALIZED (
         SELECT c.id FROM companies c "
         {
             sqlite: "INDEXED BY companies_head_offices",
             postgres: ""
         } "
         WHERE c.kind = 'CONSTRUCTION' AND c.head_office_id = c.id AND " HEAD_OFFICE " > $3
           AND (SELECT 1 FROM notices n " WAITING_OF " = c.id
                  AND " DUE " >= $2 AND " DUE " <= $1
                  AND (n.leased_until IS NULL OR n.leased_until <= " NOW ")
                LIMIT 1) IS NOT NULL
         ORDER BY " HEAD_OFFICE " LIMIT $4)
     SELECT d.id, d.next_attempt_at, o.id AS head_office_id
     FROM offices o CROSS JOIN "
     { sqlite: "notices d WHERE d.id IN (SELECT n.id", postgres: "LATERAL (SELECT n.id, n.next_attempt_at" } "
         FROM notices n " WAITING_OF " = o.id
           AND " DUE " >= $2 AND " DUE " <= $1
           AND (n.leased_until IS NULL OR n.leased_until <= " NOW ")
         ORDER BY " DUE ", n.id LIMIT (SELECT $4 / (count(*) + 1) + 1 FROM offices)) "
     { sqlite: "", postgres: "AS d " } "
     ORDER BY o.id, d.next_attempt_at, d.id"
);

/// Lists at most `limit` mails that are due by `now`, beginning at the position `from`. If more are due,
/// head offices take turns, beginning after `office`.
pub(in crate::store) async fn list(
    session: &mut dyn Session,
    now: Timestamp,
    from: Position,
    office: Uuid,
    limit: usize,
) -> Result<DueList, WriteError> {
    let max_rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query(OLDEST)
        .bind(now.unix_millis())
        .bind(from.due)
        .bind(from.id)
        .bind(max_rows)
        .fetch_all(session)
        .await?;
    let oldest = listed(&rows)?;
    let first = oldest.first().map(|(mail, _)| *mail);
    let Some(Position { due, .. }) = first.filter(|_| oldest.len() >= limit) else {
        return Ok(DueList {
            first,
            last: oldest.last().map(|(mail, _)| *mail),
            mails: in_turns(oldest),
            office,
        });
    };
    let rows = query(OF_OFFICES)
        .bind(now.unix_millis())
        .bind(due)
        .bind(office)
        .bind(max_rows)
        .fetch_all(session)
        .await?;
    let mut mails = listed(&rows)?;
    let offices: HashSet<_> = mails.iter().map(|(_, office)| *office).collect();
    // After the last head office the next list begins with the first one.
    let last = offices.iter().max().filter(|_| offices.len() >= limit);
    let known: HashSet<_> = mails.iter().map(|(mail, _)| *mail).collect();
    mails.extend(oldest.into_iter().filter(|(mail, _)| !known.contains(mail)));
    let mut mails = in_turns(mails);
    mails.truncate(limit);
    Ok(DueList {
        mails,
        first,
        last: None,
        office: last.copied().unwrap_or_default(),
    })
}

/// The first mail of each head office, then the second of each, and so on, in the given order.
fn in_turns(mails: Vec<(Position, Uuid)>) -> Vec<Position> {
    let mut turns: HashMap<Uuid, u32> = HashMap::new();
    let mut placed: Vec<_> = mails
        .into_iter()
        .map(|(mail, head_office)| {
            let turn = turns.entry(head_office).or_default();
            *turn = turn.saturating_add(1);
            (*turn, mail)
        })
        .collect();
    placed.sort_by_key(|(turn, _)| *turn);
    placed.into_iter().map(|(_, mail)| mail).collect()
}

/// Mails and their head offices.
fn listed(rows: &[Row]) -> Result<Vec<(Position, Uuid)>, Corrupt> {
    let listed = rows.iter().map(|row| {
        let columns = Columns::of("notices", row);
        let mail = Position {
            due: columns.raw("next_attempt_at")?,
            id: columns.uuid("id")?,
        };
        Ok((mail, columns.uuid("head_office_id")?))
    });
    listed.collect()
}

/// The first due mail of each mailbox, and the ids of the others.
pub(in crate::store) fn one_for_each_mailbox(
    mails: Vec<Row>,
) -> Result<(Vec<Row>, Vec<Uuid>), Corrupt> {
    let (mut mailboxes, mut others) = (HashSet::new(), Vec::new());
    let mut first = Vec::with_capacity(mails.len());
    for mail in mails {
        let columns = Columns::of("notices", &mail);
        let mailbox: String = columns.raw("mailbox")?;
        if mailboxes.insert(mailbox) {
            first.push(mail);
        } else {
            others.push(columns.uuid("id")?);
        }
    }
    Ok((first, others))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Position, in_turns};

    #[test]
    fn head_offices_take_turns_and_each_goes_on_in_its_own_order() {
        let id = Uuid::from_u128;
        let mail = |(due, office)| (Position { due, id: id(0) }, id(office));
        let mails = [(11, 1), (12, 1), (13, 1), (24, 2), (35, 3), (26, 2)];
        let turns = in_turns(mails.map(mail).to_vec());
        let order: Vec<_> = turns.into_iter().map(|mail| mail.due).collect();
        assert_eq!(order, [11, 24, 35, 12, 26, 13]);
    }
}
