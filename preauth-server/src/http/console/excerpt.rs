//! The beginning of a list, on the page of the record that it belongs to.

use crate::http::platform::Listed;

use super::PREFIX;
use super::failure::Failure;
use super::list::{List, linked_rows, titles};
use super::named_company::NamedCompanies;
use super::record::Table;
use super::visit::Visit;

/// Rows of it.
const LIMIT: u32 = 10;

/// The newest rows of a list of one record, for that record's page.
pub(super) async fn excerpt<L: List>(list: &L, visit: &Visit) -> Result<Table, Failure> {
    let w = visit.words;
    let path = format!("{}?limit={LIMIT}", list.source(visit)?);
    let found: Listed<L::Row> = visit.get(path).await?;
    let whole = format!("{PREFIX}{}", L::PATH).replace("{id}", visit.id("id")?);
    Ok(Table {
        title: list.title(w),
        head: titles(list, w),
        rows: linked_rows(list, &found.data, visit, NamedCompanies::default()).await?,
        more: Some((whole, w.t("The whole list", "A lista inteira"))),
    })
}
