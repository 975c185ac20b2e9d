//! A value on a page, which templates write and CSV files contain as text.

use askama::Template;
use askama::filters::HtmlSafe;
use preauth_core::value::{DueDate, Money, TextEnum, Timestamp};
use preauth_core::wire::Open;

use crate::http::pages::words::{Moment, Words};

use crate::language::Language;
use crate::printable::reais;

use super::action_link::ActionLink;
use super::names::{self, Badge};

/// A value.
#[derive(Debug, Template)]
#[template(path = "console/cell.html")]
pub(super) enum Cell {
    None,
    Text(String),
    /// A text that stays on one line.
    Short(String),
    /// The day or month of a report, as it is shown, and as a program reads it.
    Period(String, String),
    /// An id, a URL, or another text of machines.
    Code(String),
    /// Words of the API: their codes, and their names.
    Coded {
        code: String,
        name: String,
    },
    /// A number as it is shown, and as a program reads it.
    Number(String, String),
    /// An amount as it is shown, and as a spreadsheet of the language reads it.
    Amount(String, String),
    Badge(Badge),
    Time(Timestamp, Moment),
    Link {
        href: String,
        text: String,
    },
    /// A link with what files have instead of its text.
    CodedLink {
        href: String,
        code: String,
        text: String,
    },
    /// Forms.
    ActionLinks(Vec<ActionLink>),
    /// A name and what tells it from others.
    Pair(Box<Cell>, String),
}

// Its template escapes what it contains.
impl HtmlSafe for Cell {}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() {
            Self::None
        } else {
            Self::Text(text)
        }
    }

    pub(super) fn maybe(text: Option<&str>) -> Self {
        text.map_or(Self::None, Self::text)
    }

    pub(super) fn short(self) -> Self {
        match self {
            Self::Text(text) => Self::Short(text),
            other => other,
        }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers have ids, numbers and texts"
    )]
    pub(super) fn code(text: impl ToString) -> Self {
        Self::Code(text.to_string())
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers have ids, numbers and texts"
    )]
    pub(super) fn link(href: impl Into<String>, text: impl ToString) -> Self {
        Self::Link {
            href: href.into(),
            text: text.to_string(),
        }
    }

    pub(super) fn time(at: impl Into<Option<Timestamp>>, w: Words) -> Self {
        at.into()
            .map_or(Self::None, |at| Self::Time(at, w.time(&at)))
    }

    pub(super) fn money(amount: impl Into<Option<Money>>, w: Words) -> Self {
        let amount = amount.into();
        amount.map_or(Self::None, |amount| {
            let (point, comma) = (reais(amount), reais(amount).replace('.', ","));
            let plain = if w.0 == Language::Portuguese {
                comma
            } else {
                point
            };
            Self::Amount(w.money(amount), plain)
        })
    }

    pub(super) fn day(day: impl Into<Option<DueDate>>, w: Words) -> Self {
        day.into().map_or(Self::None, |day| Self::Short(w.due(day)))
    }

    pub(super) fn number(number: u64, w: Words) -> Self {
        Self::Number(w.number(&number), number.to_string())
    }

    pub(super) fn badge<T: TextEnum>(status: &Open<T>, w: Words) -> Self {
        Self::Badge(names::badge(status.as_str(), w))
    }

    /// A status of a mail, an operator or an endpoint: in Portuguese these are masculine.
    pub(super) fn masculine_badge<T: TextEnum>(status: &Open<T>, w: Words) -> Self {
        Self::Badge(names::masculine_badge(status.as_str(), w))
    }

    pub(super) fn name(code: &str, w: Words) -> Self {
        Self::text(names::name(code, w))
    }

    /// A name with the API's own word for those who hover over it, which files have.
    pub(super) fn coded(code: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Coded {
            code: code.into(),
            name: name.into(),
        }
    }

    pub(super) fn coded_link(
        href: impl Into<String>,
        code: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::CodedLink {
            href: href.into(),
            code: code.into(),
            text: text.into(),
        }
    }

    /// The words of a list.
    pub(super) fn words<T: TextEnum>(words: &[Open<T>], w: Words) -> Self {
        if words.is_empty() {
            return Self::None;
        }
        let codes: Vec<_> = words.iter().map(Open::as_str).collect();
        let named: Vec<_> = codes.iter().map(|code| names::name(code, w)).collect();
        Self::coded(codes.join(", "), named.join(", "))
    }

    pub(super) fn and(self, more: impl Into<String>) -> Self {
        Self::Pair(Box::new(self), more.into())
    }

    pub(super) fn yes_or_no(is_so: bool, w: Words) -> Self {
        Self::text(if is_so {
            w.t("yes", "sim")
        } else {
            w.t("no", "não")
        })
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Amount(..))
    }

    /// The value as a CSV file has it.
    pub(super) fn plain(&self) -> String {
        match self {
            Self::None | Self::ActionLinks(_) => String::new(),
            Self::Text(text)
            | Self::Short(text)
            | Self::Code(text)
            | Self::Number(_, text)
            | Self::Amount(_, text)
            | Self::Period(_, text)
            | Self::Link { text, .. } => text.clone(),
            Self::Coded { code, .. } | Self::CodedLink { code, .. } => code.clone(),
            Self::Badge(badge) => badge.code.clone(),
            Self::Time(at, _) => at.to_string(),
            Self::Pair(cell, more) => format!("{} ({more})", cell.plain()),
        }
    }
}
