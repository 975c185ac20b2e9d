//! Lists over all companies have their newest entries alone, so that neither a total nor a deep page reads a million rows.

use preauth_core::port::PageRequest;
use preauth_core::value::CompanyId;

use crate::directory::{NEWEST, Page};
use crate::store::error::Fault;

use super::{Builder, Dialect, Session};

/// A page of a list, which is whole if it is of one head office: how many entries, after how many; `None` beyond them.
pub(super) fn window(page: PageRequest, company: Option<CompanyId>) -> Option<(u32, u64)> {
    match company {
        Some(_) => Some((page.limit, page.offset())),
        None => within(page),
    }
}

/// A page of the newest: how many entries, after how many; `None` beyond them.
pub(super) fn within(page: PageRequest) -> Option<(u32, u64)> {
    let skip = page.offset();
    let left = u64::from(NEWEST).checked_sub(skip).filter(|it| *it > 0)?;
    let take = u64::from(page.limit).min(left);
    Some((take.try_into().unwrap_or(page.limit), skip))
}

/// The number of a list's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Those that the list has.
    pub(super) total: u64,
    /// Whether older ones match, too, which the list does not have.
    pub(super) is_cut: bool,
}

impl Counted {
    /// Of a list that has every entry.
    pub(super) const fn whole(total: u64) -> Self {
        Self {
            total,
            is_cut: false,
        }
    }

    /// Of the newest of so many, which were counted up to one more than the list has.
    pub(super) fn newest(found: u64) -> Self {
        let max = u64::from(NEWEST);
        Self {
            total: found.min(max),
            is_cut: found > max,
        }
    }

    pub(super) const fn page<T>(self, items: Vec<T>) -> Page<T> {
        Page {
            items,
            total: self.total,
            is_cut: self.is_cut,
        }
    }
}

/// Where counting stops: one more than the list has shows that it is cut.
pub(super) const COUNT_LIMIT: u32 = NEWEST + 1;

/// The number of entries of a list, which is whole if it is of one head office; `rows` is what follows the selected columns.
pub(super) async fn count<'q>(
    session: &mut dyn Session,
    company: Option<CompanyId>,
    rows: impl FnOnce(&mut Builder<'q>),
) -> Result<Counted, Fault> {
    if company.is_none() {
        return total(session, |query| {
            query.push("SELECT 1");
            rows(query);
        })
        .await;
    }
    let mut query = Builder::new("SELECT count(*) AS total");
    rows(&mut query);
    Ok(Counted::whole(query.build().total(session).await?))
}

/// The number of rows of `rows`, such as `SELECT 1 FROM a WHERE b`, of which the newest are listed.
pub(super) async fn total<'q>(
    session: &mut dyn Session,
    rows: impl FnOnce(&mut Builder<'q>),
) -> Result<Counted, Fault> {
    Ok(Counted::newest(found(session, rows).await?))
}

/// The number of rows of `rows`, counted up to [`COUNT_LIMIT`].
pub(super) async fn found<'q>(
    session: &mut dyn Session,
    rows: impl FnOnce(&mut Builder<'q>),
) -> Result<u64, Fault> {
    let mut count = Builder::new("SELECT count(*) AS total FROM (");
    rows(&mut count);
    count.push(" LIMIT ").bind(COUNT_LIMIT).push(") AS found");
    Ok(count.build().total(session).await?)
}

/// Adds `select`, which ends with a key to compare, for the keys that `keys` selects, each once: the rows of a page alone are
/// read by what joins them. What follows calls them `name`. On PostgreSQL each is found by a subquery with a limit, which has
/// only one plan, whatever the statistics.
pub(super) fn among<'q>(
    query: &mut Builder<'q>,
    dialect: Dialect,
    (select, name): (&str, &str),
    keys: impl FnOnce(&mut Builder<'q>),
) {
    match dialect {
        Dialect::Sqlite => {
            query.push(select).push(" IN (");
            keys(query);
            query.push(")");
        }
        Dialect::Postgres => {
            query.push("SELECT ").push(name);
            query.push(".* FROM unnest(ARRAY(");
            keys(query);
            query.push(")) AS listed (key) CROSS JOIN LATERAL (");
            query
                .push(select)
                .push(" = listed.key LIMIT 1) AS ")
                .push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, NEWEST, PageRequest, within};

    #[test]
    fn the_last_page_ends_with_the_oldest_of_the_newest() {
        let at = |page, limit| within(PageRequest { page, limit });
        assert_eq!(at(1, 100), Some((100, 0)));
        assert_eq!(at(100, 100), Some((100, 9_900)));
        assert_eq!(at(101, 100), None);
        assert_eq!(at(334, 30), Some((10, 9_990)));
        assert_eq!(at(u64::MAX, 30), None);
    }

    #[test]
    fn a_list_is_cut_when_there_is_one_more_than_it_has() {
        let max = u64::from(NEWEST);
        assert_eq!(Counted::newest(max), Counted::whole(max));
        let cut = Counted::newest(max + 1);
        assert_eq!((cut.total, cut.is_cut), (max, true));
    }
}
