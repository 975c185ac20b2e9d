//! The CSV file of a list.

use std::collections::HashSet;

use preauth_core::wire::Pagination;
use salvo::async_trait;
use salvo::http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::csv;
use crate::http::pages::headers::harmless;
use crate::http::platform::Listed;
use crate::http::reply::Reply;

use super::cell::Cell;
use super::failure::Failure;
use super::guard::Page;
use super::list::{List, api_query, own_titles, rows};
use super::named_company::NamedCompanies;
use super::visit::Visit;

/// Rows of one request.
const LIMIT: u32 = 100;
/// Maximum number of requests.
const REQUESTS: u64 = 100;
/// How often a list is read that changes meanwhile.
const READINGS: u32 = 3;

/// The CSV file of a list: the newest 10,000 rows. A list that changed while it was read is read again; one that does so all
/// the time has each row once, and may lack some that left it.
pub(super) struct Csv<L>(pub(super) L);

/// What was read, and whether nothing moved from one page to the next.
struct Reading<R> {
    rows: Vec<R>,
    is_steady: bool,
}

/// What distinguishes a row from others.
#[derive(Deserialize)]
struct Identity {
    id: Option<Value>,
}

#[async_trait]
impl<L: List> Page for Csv<L> {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let Self(list) = self;
        let w = visit.words;
        let source = list.source(visit)?;
        let path = format!("{source}?{}", api_query(list, visit));
        let mut reading = read::<L>(visit, &path).await?;
        for _ in 1..READINGS {
            if reading.is_steady {
                break;
            }
            reading = read::<L>(visit, &path).await?;
        }
        let titles = own_titles(list, w).into_iter().map(ToOwned::to_owned);
        let mut file = format!("{}{}", csv::MARK, csv::line(titles, w.0));
        let mut named = NamedCompanies::default();
        for row in rows(list, &reading.rows, visit, &mut named).await? {
            file.push_str(&csv::line(row.iter().map(Cell::plain), w.0));
        }
        Ok(csv_file(&source.replace('/', "-"), file))
    }
}

async fn read<L: List>(visit: &Visit, path: &str) -> Result<Reading<L::Row>, Failure> {
    let (mut rows, mut is_steady) = (Vec::new(), true);
    let (mut seen, mut total) = (HashSet::new(), None);
    for number in 1..=REQUESTS {
        let page = format!("{path}page={number}&limit={LIMIT}");
        let answer = visit.send(Method::GET, page, None, None).await?;
        let identities: Listed<Identity> = answer.parse()?;
        let found: Listed<L::Row> = answer.parse()?;
        let Pagination {
            total: present,
            total_pages,
            ..
        } = found.pagination;
        is_steady &= *total.get_or_insert(present) == present;
        for (row, identity) in found.data.into_iter().zip(identities.data) {
            let is_new = identity.id.is_none_or(|id| seen.insert(id.to_string()));
            // Otherwise a newer row has pushed it to this page.
            is_steady &= is_new;
            rows.extend(is_new.then_some(row));
        }
        if number >= total_pages {
            break;
        }
    }
    Ok(Reading { rows, is_steady })
}

/// The answer with a CSV file of this name.
pub(super) fn csv_file(name: &str, text: String) -> Reply {
    let reply = Reply::text(StatusCode::OK, "text/csv; charset=utf-8", text);
    harmless(reply).header("cache-control", "no-store").header(
        "content-disposition",
        &format!("attachment; filename=\"{name}.csv\""),
    )
}
