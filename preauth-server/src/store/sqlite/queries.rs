//! The read side.

use async_trait::async_trait;
use preauth_core::operation::{Actor, Operation};
use preauth_core::port::{
    Filter, HistoryEntry, OperationPage, PageRequest, Queries, Unavailable, Viewer,
};
use preauth_core::value::{
    ApiKeyId, EnumSet, EventId, ExternalReference, OperationId, Status, Timestamp, UserId, Version,
};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{QueryBuilder, Row, SqliteConnection};

use super::SqliteStore;
use super::error::Fault;
use super::operations::{self, select_operations};
use super::rows::{Columns, clamped, count};

#[async_trait]
impl Queries for SqliteStore {
    async fn find(
        &self,
        viewer: Viewer,
        id: OperationId,
    ) -> Result<Option<Operation>, Unavailable> {
        let mut reader = self.reader().await?;
        let found = operations::by_id(&mut reader, id).await?;
        Ok(found.filter(|operation| viewer.sees(operation)))
    }

    async fn list(
        &self,
        viewer: Viewer,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<OperationPage, Unavailable> {
        let mut snapshot = self.snapshot().await?;
        let total = total(&mut snapshot, viewer, filter).await?;
        let operations = rows(&mut snapshot, viewer, filter, Window::of(page, total)).await?;
        Ok(OperationPage { operations, total })
    }

    async fn history(&self, id: OperationId) -> Result<Vec<HistoryEntry>, Unavailable> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "SELECT e.id, e.version, e.type, e.at, e.actor, e.actor_api_key_id, e.actor_user_id,
                    e.body
             FROM operations o
             JOIN events e ON e.head_office_id = o.head_office_id AND e.operation_id = o.id
             WHERE o.id = ?1 ORDER BY e.version",
        )
        .bind(id.get())
        .fetch_all(&mut *reader)
        .await
        .map_err(Fault::from)?;
        let entries: Result<_, Fault> = rows.iter().map(history_entry).collect();
        Ok(entries?)
    }

    async fn overdue(&self, now: Timestamp, limit: u32) -> Result<Vec<OperationId>, Unavailable> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "SELECT id FROM operations WHERE status = 'IN_PRE_AUTH' AND expires_at < ?1
             ORDER BY expires_at, id LIMIT ?2",
        )
        .bind(now.unix_millis())
        .bind(limit)
        .fetch_all(&mut *reader)
        .await
        .map_err(Fault::from)?;
        let id = |row| Columns::of("operations", row).number("id", OperationId::new);
        let ids: Result<_, Fault> = rows.iter().map(id).collect();
        Ok(ids?)
    }
}

/// Which rows of a list to read, counted from its nearer end: the far end would be walked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Window {
    Empty,
    FromNewest { skip: u64, take: u64 },
    FromOldest { skip: u64, take: u64 },
}

impl Window {
    fn of(page: PageRequest, total: u64) -> Self {
        let skip = page.offset();
        let rest = total.saturating_sub(skip);
        let take = rest.min(u64::from(page.limit));
        if take == 0 {
            Self::Empty
        } else if skip <= rest {
            Self::FromNewest { skip, take }
        } else {
            let skip = rest.saturating_sub(take);
            Self::FromOldest { skip, take }
        }
    }
}

async fn total(
    connection: &mut SqliteConnection,
    viewer: Viewer,
    filter: &Filter,
) -> Result<u64, Fault> {
    let mut query = QueryBuilder::new("SELECT count(*) FROM operations WHERE ");
    restrict(&mut query, viewer, filter);
    let row = query.build().fetch_one(connection).await?;
    Ok(count(row.try_get(0)?))
}

/// The ids come from an index alone; only the rows of the page itself are read.
async fn rows(
    connection: &mut SqliteConnection,
    viewer: Viewer,
    filter: &Filter,
    window: Window,
) -> Result<Vec<Operation>, Fault> {
    let (order, skip, take) = match window {
        Window::Empty => return Ok(Vec::new()),
        Window::FromNewest { skip, take } => ("DESC", skip, take),
        Window::FromOldest { skip, take } => ("ASC", skip, take),
    };
    let mut query = QueryBuilder::new(select_operations!(
        "WHERE o.id IN (SELECT id FROM operations WHERE "
    ));
    restrict(&mut query, viewer, filter);
    query.push(format_args!(" ORDER BY id {order} LIMIT "));
    query.push_bind(clamped(take)).push(" OFFSET ");
    query.push_bind(clamped(skip)).push(") ORDER BY o.id DESC");
    let rows = query.build().fetch_all(connection).await?;
    rows.iter().map(operations::operation).collect()
}

/// What the viewer may see and the filter lets pass, in words that SQLite finds an index for.
fn restrict(query: &mut QueryBuilder<Sqlite>, viewer: Viewer, filter: &Filter) {
    let Filter {
        external_reference,
        statuses,
    } = filter;
    match viewer {
        Viewer::HeadOffice(company) => {
            query.push("head_office_id = ");
            query.push_bind(company.as_uuid().as_bytes().as_slice());
        }
        Viewer::Branch(company) => {
            let id = company.as_uuid().as_bytes().as_slice();
            query.push("head_office_id = (SELECT head_office_id FROM companies WHERE id = ");
            query.push_bind(id).push(") AND payer_id = ").push_bind(id);
        }
        Viewer::Platform => {
            query.push("TRUE");
        }
    }
    if let Some(reference) = external_reference {
        query.push(" AND external_reference = ");
        query.push_bind(ExternalReference::as_str(reference));
    }
    if !statuses.is_empty() {
        query.push(" AND status IN (");
        let mut list = query.separated(", ");
        // A set: repeated statuses would only make more statements.
        for status in statuses.iter().copied().collect::<EnumSet<Status>>().iter() {
            list.push_bind(status.as_str());
        }
        query.push(")");
    }
}

fn history_entry(row: &SqliteRow) -> Result<HistoryEntry, Fault> {
    let columns = Columns::of("events", row);
    Ok(HistoryEntry {
        id: EventId::new(columns.uuid("id")?),
        version: columns.number("version", Version::new)?,
        event_type: columns.parsed("type")?,
        at: columns.timestamp("at")?,
        actor: actor(columns)?,
        body: columns.raw("body")?,
    })
}

fn actor(columns: Columns<'_>) -> Result<Actor, Fault> {
    Ok(match columns.raw("actor")? {
        "API_KEY" => Actor::ApiKey {
            key: ApiKeyId::new(columns.uuid("actor_api_key_id")?),
            user: UserId::new(columns.uuid("actor_user_id")?),
        },
        "COMPANY" => Actor::Company,
        "SUPPLIER" => Actor::Supplier,
        "PLATFORM" => Actor::Platform,
        "SYSTEM" => Actor::System,
        _ => return Err(columns.corrupt("actor")),
    })
}

#[cfg(test)]
mod tests {
    use preauth_core::port::PageRequest;

    use super::Window;

    fn window(page: u64, limit: u32, total: u64) -> Window {
        Window::of(PageRequest { page, limit }, total)
    }

    #[test]
    fn the_first_half_is_read_from_the_newest() {
        let (skip, take) = (0, 20);
        assert_eq!(window(1, 20, 100), Window::FromNewest { skip, take });
        assert_eq!(window(1, 20, 20), Window::FromNewest { skip, take });
        let (skip, take) = (40, 20);
        assert_eq!(window(3, 20, 100), Window::FromNewest { skip, take });
    }

    #[test]
    fn the_second_half_is_read_from_the_oldest() {
        let (skip, take) = (20, 20);
        assert_eq!(window(4, 20, 100), Window::FromOldest { skip, take });
        let (skip, take) = (0, 5);
        assert_eq!(window(6, 20, 105), Window::FromOldest { skip, take });
    }

    #[test]
    fn a_page_beyond_the_end_is_empty() {
        assert_eq!(window(6, 20, 100), Window::Empty);
        assert_eq!(window(1, 20, 0), Window::Empty);
        assert_eq!(window(u64::MAX, 100, u64::MAX - 1), Window::Empty);
    }

    #[test]
    fn every_page_together_shows_every_row_once() {
        for total in 0..30 {
            let mut seen = [0; 30];
            for page in 1..=16 {
                let (first, take) = match window(page, 2, total) {
                    Window::Empty => (0, 0),
                    Window::FromNewest { skip, take } => (skip, take),
                    Window::FromOldest { skip, take } => (total - skip - take, take),
                };
                for n in first..first + take {
                    seen[usize::try_from(n).unwrap()] += 1;
                }
            }
            let expected = |n| u32::from(u64::try_from(n).unwrap() < total);
            assert!((0..30).all(|n| seen[n] == expected(n)), "{total}");
        }
    }
}
