//! The page of one record: its fields, tables and texts.

use askama::Template;
use salvo::http::StatusCode;

use crate::http::reply::Reply;

use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::{Failure, render};
use super::frame::{Frame, Section};
use super::list::{Field, has_numbers};
use super::names::Badge;
use super::plot::Line;
use super::visit::Visit;

/// A record.
#[derive(Template)]
#[template(path = "console/record.html")]
pub(super) struct Record {
    f: Frame,
    title: String,
    /// Where it belongs, and where that leads to.
    crumb: Option<(String, String)>,
    badge: Option<Badge>,
    notices: Vec<Notice>,
    action_links: Vec<ActionLink>,
    parts: Vec<Part>,
    /// Seconds between two looks at what changes by itself.
    live: Option<u32>,
}

/// A sentence that stands out.
pub(super) struct Notice {
    pub(super) tone: &'static str,
    pub(super) text: String,
}

/// A part of the page.
pub(super) enum Part {
    Fields {
        title: Option<String>,
        rows: Vec<(&'static str, Cell)>,
    },
    /// A form that chooses what the page shows.
    Filters {
        fields: Vec<Field>,
        hint: &'static str,
    },
    Table(Table),
    /// A text of machines.
    Text {
        title: String,
        text: String,
    },
    ActionLinks(Vec<ActionLink>),
    /// Pictures; the same stands in a table below them.
    Plots {
        title: String,
        plots: Vec<Plot>,
    },
}

/// A picture that this process drew.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) svg: String,
    /// What it shows, for its legend.
    pub(super) lines: Vec<Line>,
}

/// A short table.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Where the whole list is.
    pub(super) more: Option<(String, &'static str)>,
}

impl Table {
    /// The titles of the columns, and whether numbers stand below them.
    fn heads(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let titles = self.head.iter().zip(0..);
        titles.map(|(title, index)| (*title, has_numbers(&self.rows, index)))
    }
}

impl Record {
    pub(super) fn new(visit: &Visit, section: Section, title: impl Into<String>) -> Self {
        let w = visit.words;
        let done = visit.query.one("done").map(|_| Notice {
            tone: "good",
            text: w.t("Done.", "Feito.").to_owned(),
        });
        Self {
            f: visit.frame(section),
            title: title.into(),
            crumb: None,
            badge: None,
            notices: done.into_iter().collect(),
            action_links: Vec::new(),
            parts: Vec::new(),
            live: None,
        }
    }

    pub(super) fn under(mut self, href: impl Into<String>, text: impl Into<String>) -> Self {
        self.crumb = Some((href.into(), text.into()));
        self
    }

    pub(super) fn badge(mut self, badge: Badge) -> Self {
        self.badge = Some(badge);
        self
    }

    pub(super) fn notice(mut self, tone: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        self.notices.push(Notice { tone, text });
        self
    }

    pub(super) fn action_links(
        mut self,
        action_links: impl IntoIterator<Item = ActionLink>,
    ) -> Self {
        self.action_links.extend(action_links);
        self
    }

    pub(super) fn fields(self, rows: Vec<(&'static str, Cell)>) -> Self {
        self.part(Part::Fields { title: None, rows })
    }

    pub(super) fn table(self, table: Table) -> Self {
        self.part(Part::Table(table))
    }

    /// The forms of the part above.
    pub(super) fn action_links_below(
        self,
        action_links: impl IntoIterator<Item = ActionLink>,
    ) -> Self {
        self.part(Part::ActionLinks(action_links.into_iter().collect()))
    }

    pub(super) fn text(self, title: impl Into<String>, text: impl Into<String>) -> Self {
        let (title, text) = (title.into(), text.into());
        self.part(Part::Text { title, text })
    }

    pub(super) fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Looks again every few seconds while `is_changing`.
    pub(super) fn live(mut self, is_changing: bool) -> Self {
        const SECONDS: u32 = 3;
        self.live = is_changing.then_some(SECONDS);
        self
    }

    pub(super) fn reply(&self) -> Result<Reply, Failure> {
        self.reply_as(StatusCode::OK)
    }

    pub(super) fn reply_as(&self, status: StatusCode) -> Result<Reply, Failure> {
        Ok(render(status, self)?)
    }
}
