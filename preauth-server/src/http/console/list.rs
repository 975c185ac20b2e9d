//! Lists: their filters, pages and CSV files, over any list of the platform API.

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use preauth_core::ErrorCode;
use preauth_core::value::{CompanyId, calendar};
use preauth_core::wire::Pagination;
use salvo::async_trait;
use salvo::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::http::pages::headers;
use crate::http::pages::words::Words;
use crate::http::platform::Listed;
use crate::http::problem::Defect;
use crate::http::reply::Reply;
use crate::language::Text;

use super::PREFIX;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::{Failure, render};
use super::frame::{Frame, Section};
use super::guard::Page;
use super::named_company::NamedCompanies;
use super::problems::{Problems, beside};
use super::ticks::{Tick, TickForm};
use super::visit::Visit;

/// Rows of a page.
pub(super) const LIMIT: u32 = 25;

/// A list of the platform API on a page.
pub(super) trait List: Send + Sync + 'static {
    type Row: DeserializeOwned + Send + Sync;

    const SECTION: Section;
    /// The path of the page, with the names of its parameters.
    const PATH: &'static str;
    /// Whether rows have forms.
    const HAS_ROW_LINKS: bool = false;

    /// A column that names the company of each row: its place among the columns, and its title.
    const COMPANY: Option<(usize, Text)> = None;

    fn title(&self, w: Words) -> String;

    /// The list in the API: its path below the prefix.
    fn source(&self, visit: &Visit) -> Result<String, Failure>;

    /// The parameters that it shares with the page: none unless it has filters.
    fn filters(&self) -> &'static [Filter] {
        &[]
    }

    fn columns(&self) -> &'static [Column<Self::Row>];

    /// The company of a row, which a column names by [`List::COMPANY`].
    fn company(&self, _row: &Self::Row) -> Option<CompanyId> {
        None
    }

    /// What is done with ticked rows, if there is anything that the operator may do.
    fn tick_form(&self, _visit: &Visit) -> Option<TickForm> {
        None
    }

    /// The tick of a row of such a list.
    fn tick(&self, _row: &Self::Row, _w: Words) -> Option<Tick> {
        None
    }

    /// What leads to forms, beside the title.
    fn action_links(&self, _visit: &Visit) -> Vec<ActionLink> {
        Vec::new()
    }

    /// What leads to the forms of a row, in a last column; only those that the operator's role permits.
    fn row_links(&self, _row: &Self::Row, _visit: &Visit) -> Vec<ActionLink> {
        Vec::new()
    }

    /// What stands above the list, and where it leads to.
    fn crumb(&self, _visit: &Visit) -> Option<(String, String)> {
        None
    }
}

/// A column of a list.
pub(super) struct Column<T> {
    pub(super) title: Text,
    pub(super) cell: fn(&T, Words) -> Cell,
}

impl<T> Column<T> {
    pub(super) const fn new(title: Text, cell: fn(&T, Words) -> Cell) -> Self {
        Self { title, cell }
    }
}

/// A parameter of a list.
pub(super) struct Filter {
    pub(super) name: &'static str,
    pub(super) label: Text,
    pub(super) kind: FilterKind,
}

pub(super) enum FilterKind {
    Text,
    /// The id of a record, whose page is shown instead of the list.
    Id,
    /// A day in São Paulo, which the API gets as its first moment, or the first one after it.
    Day {
        is_end: bool,
    },
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// One of these words, with names of its own.
    Named(
        fn() -> Vec<&'static str>,
        fn(code: &str, w: Words) -> String,
    ),
}

impl Filter {
    /// What is wrong with it, in the words of what was typed.
    fn sentence(&self, defect: &Defect, w: Words) -> String {
        match (&self.kind, defect) {
            (FilterKind::Day { .. }, Defect::NotATimestamp) => {
                w.t("This is not a day.", "Isto não é um dia.").to_owned()
            }
            _ => beside(defect, w),
        }
    }
}

/// A filter as the form shows it.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) is_day: bool,
    pub(super) is_hidden: bool,
    /// Code, name, whether it is chosen; empty for what is typed.
    pub(super) choices: Vec<(&'static str, String, bool)>,
    /// What stands for no choice; otherwise one has to be made.
    pub(super) all: Option<&'static str>,
    /// What is wrong with it.
    pub(super) error: Option<String>,
}

impl Field {
    /// A field in which something is typed.
    pub(super) const fn new(name: &'static str, label: &'static str, value: String) -> Self {
        Self {
            name,
            label,
            value,
            is_day: false,
            is_hidden: false,
            choices: Vec::new(),
            all: None,
            error: None,
        }
    }
}

#[derive(Template)]
#[template(path = "console/list.html")]
struct ListPage {
    f: Frame,
    title: String,
    crumb: Option<(String, String)>,
    action_links: Vec<ActionLink>,
    fields: Vec<Field>,
    refusal: Vec<String>,
    /// Title, and whether numbers stand below it.
    columns: Vec<(&'static str, bool)>,
    /// Each with its tick.
    rows: Vec<(Option<Tick>, Vec<Cell>)>,
    tick_form: Option<TickForm>,
    total: u64,
    /// Whether older ones may match, too.
    is_cut: bool,
    /// Whether a form led here.
    is_done: bool,
    page: u64,
    pages: u64,
    previous: Option<String>,
    next: Option<String>,
    csv: String,
}

/// The page of a list.
pub(super) struct Shown<L>(pub(super) L);

#[async_trait]
impl<L: List> Page for Shown<L> {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let Self(list) = self;
        let w = visit.words;
        if let Some(page) = sought(list, visit) {
            return Ok(headers::see_other(&page));
        }
        let number = visit
            .query
            .one("page")
            .and_then(|it| it.parse::<u64>().ok());
        let number = number.unwrap_or(1).max(1);
        let query = api_query(list, visit);
        let path = format!("{}?{query}page={number}&limit={LIMIT}", list.source(visit)?);
        let (found, refused) = match visit.get::<Listed<L::Row>>(path).await {
            Ok(found) => (found, None),
            // A filter that was mistyped.
            Err(Failure::Api(error)) if error.code == ErrorCode::ValidationError => {
                (none(), Some(error))
            }
            Err(failure) => return Err(failure),
        };
        let mut problems = refused.as_ref().map(Problems::of);
        let fields = fields(list, visit, problems.as_mut());
        let base = visit.here.split('?').next().unwrap_or_default().to_owned();
        let own = page_query(list, visit);
        let at = |number: u64| format!("{base}?{own}page={number}");
        let pages = found.pagination.total_pages;
        let named = NamedCompanies::default();
        let rows = linked_rows(list, &found.data, visit, named).await?;
        let columns = titles(list, w)
            .into_iter()
            .zip(0..)
            .map(|(title, index)| (title, has_numbers(&rows, index)));
        let columns = columns.collect();
        let tick_form = list.tick_form(visit).filter(|_| !rows.is_empty());
        let ticks = found.data.iter().map(|row| list.tick(row, w));
        let page = ListPage {
            f: visit.frame(L::SECTION),
            title: list.title(w),
            crumb: list.crumb(visit),
            action_links: list.action_links(visit),
            fields,
            refusal: problems.map_or_else(Vec::new, |it| it.rest(w)),
            columns,
            rows: ticks.zip(rows).collect(),
            tick_form,
            total: found.pagination.total,
            is_cut: found.has_older,
            is_done: visit.query.one("done").is_some(),
            page: number,
            pages,
            previous: (number > 1).then(|| at(number.saturating_sub(1))),
            next: (number < pages).then(|| at(number.saturating_add(1))),
            csv: format!("{base}.csv?{own}"),
        };
        Ok(render(StatusCode::OK, &page)?)
    }
}

/// The page of the record whose id was typed.
fn sought<L: List>(list: &L, visit: &Visit) -> Option<String> {
    let mut filters = list.filters().iter();
    let filter = filters.find(|it| matches!(it.kind, FilterKind::Id))?;
    let id = visit.query.one(filter.name)?;
    let is_plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_plain.then(|| format!("{PREFIX}{}/{id}", L::PATH))
}

/// Whether a column of a table has numbers.
pub(super) fn has_numbers(rows: &[Vec<Cell>], column: usize) -> bool {
    rows.iter()
        .any(|row| row.get(column).is_some_and(Cell::is_number))
}

fn none<T>() -> Listed<T> {
    Listed {
        data: Vec::new(),
        pagination: Pagination::new(1, LIMIT, 0),
        has_older: false,
    }
}

/// The titles of the columns on a page.
pub(super) fn titles<L: List>(list: &L, w: Words) -> Vec<&'static str> {
    let actions = L::HAS_ROW_LINKS.then(|| w.t("actions", "ações"));
    own_titles(list, w).into_iter().chain(actions).collect()
}

/// The titles of the columns in a CSV file.
pub(super) fn own_titles<L: List>(list: &L, w: Words) -> Vec<&'static str> {
    let titles = list.columns().iter().map(|it| it.title.of(w.0));
    let mut titles: Vec<_> = titles.collect();
    if let Some((place, title)) = L::COMPANY {
        titles.insert(place.min(titles.len()), title.of(w.0));
    }
    titles
}

/// The cells of the rows on a page: a CSV file leads to no forms.
pub(super) async fn linked_rows<L: List>(
    list: &L,
    found: &[L::Row],
    visit: &Visit,
    mut named: NamedCompanies,
) -> Result<Vec<Vec<Cell>>, Failure> {
    let mut cells = rows(list, found, visit, &mut named).await?;
    if L::HAS_ROW_LINKS {
        for (row, cells) in found.iter().zip(&mut cells) {
            cells.push(Cell::ActionLinks(list.row_links(row, visit)));
        }
    }
    Ok(cells)
}

/// The cells of the rows.
pub(super) async fn rows<L: List>(
    list: &L,
    found: &[L::Row],
    visit: &Visit,
    named: &mut NamedCompanies,
) -> Result<Vec<Vec<Cell>>, Failure> {
    let mut rows = Vec::with_capacity(found.len());
    for row in found {
        let columns = list.columns().iter();
        let cells = columns.map(|column| (column.cell)(row, visit.words));
        let mut cells: Vec<_> = cells.collect();
        if let Some((place, _)) = L::COMPANY {
            let cell = named.cell(visit, list.company(row)).await?;
            cells.insert(place.min(cells.len()), cell);
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// The filters as the page's own links have them, with an `&` at the end.
fn page_query<L: List>(list: &L, visit: &Visit) -> String {
    let filters = list.filters().iter();
    filters
        .flat_map(|filter| {
            let values = visit.query.all(filter.name);
            values.map(|value| pair(filter.name, value))
        })
        .collect()
}

/// The filters as the API reads them, with an `&` at the end.
pub(super) fn api_query<L: List>(list: &L, visit: &Visit) -> String {
    let filters = list.filters().iter();
    filters
        .flat_map(|filter| {
            let values = visit.query.all(filter.name);
            values.map(|value| match filter.kind {
                FilterKind::Id => String::new(),
                FilterKind::Text | FilterKind::Choice(_) | FilterKind::Named(..) => {
                    pair(filter.name, value)
                }
                FilterKind::Day { is_end } => pair(filter.name, &moment(value, is_end)),
            })
        })
        .collect()
}

/// The first moment of a day in São Paulo, or the first one after it; another text stays, and is refused.
fn moment(day: &str, is_end: bool) -> String {
    let Ok(date) = day.parse::<chrono::NaiveDate>() else {
        return day.to_owned();
    };
    let before = if is_end { Some(date) } else { date.pred_opt() };
    let last = before.map(calendar::end_of_day);
    last.map_or_else(String::new, |last| {
        last.saturating_add(chrono::TimeDelta::milliseconds(1))
            .to_string()
    })
}

pub(super) fn pair(name: &str, value: &str) -> String {
    format!("{name}={}&", utf8_percent_encode(value, NON_ALPHANUMERIC))
}

fn fields<L: List>(list: &L, visit: &Visit, mut problems: Option<&mut Problems<'_>>) -> Vec<Field> {
    let w = visit.words;
    let field = |filter: &Filter| {
        let value = visit.query.one(filter.name).unwrap_or_default().to_owned();
        let choices = match filter.kind {
            FilterKind::Text | FilterKind::Id | FilterKind::Day { .. } => Vec::new(),
            FilterKind::Choice(words) => choices(words(), super::names::name, &value, w),
            FilterKind::Named(words, name) => choices(words(), name, &value, w),
        };
        Field {
            is_day: matches!(filter.kind, FilterKind::Day { .. }),
            choices,
            all: Some(w.t("any", "qualquer")),
            error: problems.as_mut().and_then(|all| {
                let defects = all.take(filter.name);
                defects.first().map(|defect| filter.sentence(defect, w))
            }),
            ..Field::new(filter.name, filter.label.of(w.0), value)
        }
    };
    list.filters().iter().map(field).collect()
}

/// Code, name, whether it is chosen.
fn choices(
    codes: Vec<&'static str>,
    name: fn(&str, Words) -> String,
    chosen: &str,
    w: Words,
) -> Vec<(&'static str, String, bool)> {
    let codes = codes.into_iter();
    codes
        .map(|code| (code, name(code, w), code == chosen))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{moment, pair};

    #[test]
    fn a_day_is_that_of_sao_paulo() {
        assert_eq!(moment("2026-11-21", false), "2026-11-21T03:00:00.000Z");
        assert_eq!(moment("2026-11-21", true), "2026-11-22T03:00:00.000Z");
        assert_eq!(moment("tomorrow", true), "tomorrow");
    }

    #[test]
    fn a_value_cannot_add_parameters() {
        assert_eq!(pair("a", "b&c=d"), "a=b%26c%3Dd&");
    }
}
