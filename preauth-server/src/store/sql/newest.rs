//! Lists over all companies have their newest entries alone, so that neither a total nor a deep page reads a million rows.

use preauth_core::port::PageRequest;
use preauth_core::value::CompanyId;

use crate::directory::NEWEST;
use crate::store::error::Fault;

use super::{Builder, Session};

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

/// The number of rows of `rows`, such as `SELECT 1 FROM a WHERE b`, counted up to [`NEWEST`].
pub(super) async fn total<'q>(
    session: &mut dyn Session,
    rows: impl FnOnce(&mut Builder<'q>),
) -> Result<u64, Fault> {
    let mut count = Builder::new("SELECT count(*) AS total FROM (");
    rows(&mut count);
    count.push(" LIMIT ").bind(NEWEST).push(") AS found");
    Ok(count.build().total(session).await?)
}

#[cfg(test)]
mod tests {
    use super::{PageRequest, within};

    #[test]
    fn the_last_page_ends_with_the_oldest_of_the_newest() {
        let at = |page, limit| within(PageRequest { page, limit });
        assert_eq!(at(1, 100), Some((100, 0)));
        assert_eq!(at(100, 100), Some((100, 9_900)));
        assert_eq!(at(101, 100), None);
        assert_eq!(at(334, 30), Some((10, 9_990)));
        assert_eq!(at(u64::MAX, 30), None);
    }
}
