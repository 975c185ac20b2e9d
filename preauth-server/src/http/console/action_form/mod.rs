//! Forms: each sends one request of the platform API, whose refusals it shows.
//!
//! A GET shows the form with the record as it stands; what cannot be undone is confirmed there. The form
//! repeats the version that its reader saw: when another operator was faster, it says so instead.

mod confirmation;
mod field;
mod page;
mod request;
mod resent;
mod subject;
mod typed;

use salvo::http::Method;

use crate::language::Text;

use super::PREFIX;
use super::action_link::ActionLink;
use super::visit::Visit;

pub(super) use page::ActionPage;

/// What a form does.
pub(super) struct ActionForm {
    /// The path of the form below the console's, with the names of its parameters.
    pub(super) page: &'static str,
    pub(super) method: Method,
    /// The route of the API below its prefix.
    pub(super) api: &'static str,
    pub(super) title: Text,
    /// What follows from it, where that is not plain.
    pub(super) about: Option<Text>,
    pub(super) inputs: &'static [Input],
    /// Constant members of the body.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    /// Whether it cannot be undone.
    pub(super) is_final: bool,
    /// Where the API counts what the request would send again: the form shows that first, and sends the request
    /// when it comes once more, unchanged.
    pub(super) counted: Option<&'static str>,
    /// The record that it is about: its route in the API, which stands above the form.
    pub(super) record: Option<&'static str>,
    /// What it changes: its route in the API, whose members fill the fields. There may be nothing yet.
    pub(super) edits: Option<&'static str>,
    /// Fields that are filled with members of the record.
    pub(super) filled: &'static [(&'static str, &'static str)],
    /// Where to go afterwards, below the console's path. In `{}` stand members of the record, or of the
    /// answer when there is no record, and after `answer.` always those of the answer.
    pub(super) then: &'static str,
    /// The member of the answer that is shown once.
    pub(super) reveals: Option<&'static str>,
    /// What has to be typed before it is done.
    pub(super) typed: Option<Typed>,
    /// Whether the server's time stands above the form.
    pub(super) shows_clock: bool,
    /// Members of the record that the request changes: when one is not as the form showed it, nothing is done.
    pub(super) watched: &'static [&'static str],
    /// Whether the request names the version that the form showed, so that nobody is faster between the look at the
    /// record and the request.
    pub(super) binds_version: bool,
}

/// A member of the record that has to be typed, so that nothing is done by mistake.
#[derive(Clone, Copy)]
pub(super) struct Typed {
    pub(super) member: &'static str,
    pub(super) label: Text,
}

/// A field of the form.
pub(super) struct Input {
    /// The member of the body; a point leads into an object.
    pub(super) name: &'static str,
    pub(super) label: Text,
    pub(super) kind: InputKind,
    pub(super) is_required: bool,
    /// What applies where nothing is chosen.
    pub(super) unchosen: Text,
}

/// Stands for a choice that was not made.
const NOTHING: Text = Text::new("–", "–");

#[derive(Clone, Copy)]
pub(super) enum InputKind {
    Text,
    Money,
    Day,
    /// A moment, typed in São Paulo's time.
    Moment,
    Whole,
    /// Seconds, typed as hours.
    Hours,
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// Any of these words.
    Words(fn() -> Vec<&'static str>),
    /// A company, by its CNPJ or id.
    Company,
    /// A user of the company that the path names.
    User,
    /// The path's parameter, not a member of the body.
    Path,
}

impl ActionForm {
    pub(super) const fn new(
        page: &'static str,
        method: Method,
        api: &'static str,
        title: Text,
        then: &'static str,
    ) -> Self {
        Self {
            page,
            method,
            api,
            title,
            about: None,
            inputs: &[],
            fixed: &[],
            is_final: false,
            counted: None,
            record: None,
            edits: None,
            filled: &[],
            then,
            reveals: None,
            typed: None,
            shows_clock: false,
            watched: &[],
            binds_version: false,
        }
    }

    pub(super) const fn about(mut self, en: &'static str, pt: &'static str) -> Self {
        self.about = Some(Text::new(en, pt));
        self
    }

    pub(super) const fn on(mut self, record: &'static str) -> Self {
        self.record = Some(record);
        self
    }

    pub(super) const fn edits(mut self, current: &'static str) -> Self {
        self.edits = Some(current);
        self
    }

    pub(super) const fn filled(mut self, filled: &'static [(&'static str, &'static str)]) -> Self {
        self.filled = filled;
        self
    }

    pub(super) const fn with(mut self, inputs: &'static [Input]) -> Self {
        self.inputs = inputs;
        self
    }

    pub(super) const fn fixed(mut self, fixed: &'static [(&'static str, &'static str)]) -> Self {
        self.fixed = fixed;
        self
    }

    pub(super) const fn final_step(mut self) -> Self {
        self.is_final = true;
        self
    }

    pub(super) const fn counted(mut self, api: &'static str) -> Self {
        self.counted = Some(api);
        self
    }

    pub(super) const fn showing_clock(mut self) -> Self {
        self.shows_clock = true;
        self
    }

    pub(super) const fn typed(mut self, typed: Typed) -> Self {
        self.typed = Some(typed);
        self
    }

    pub(super) const fn watching(mut self, members: &'static [&'static str]) -> Self {
        self.watched = members;
        self
    }

    pub(super) const fn binding_version(mut self) -> Self {
        self.binds_version = true;
        self
    }

    pub(super) const fn reveals(mut self, member: &'static str) -> Self {
        self.reveals = Some(member);
        self
    }

    /// The link to the form of a record, if the operator's role permits what it does.
    pub(super) fn link(&self, visit: &Visit, ids: &[(&str, &str)]) -> Option<ActionLink> {
        if !visit.permits(&self.method, self.api) {
            return None;
        }
        let href = ids.iter().fold(self.page.to_owned(), |path, (name, id)| {
            path.replace(&format!("{{{name}}}"), id)
        });
        Some(ActionLink {
            href: format!("{PREFIX}/{href}"),
            title: self.title.of(visit.words.0),
            is_final: self.is_final,
        })
    }
}

impl Input {
    pub(super) const fn new(name: &'static str, en: &'static str, pt: &'static str) -> Self {
        Self {
            name,
            label: Text::new(en, pt),
            kind: InputKind::Text,
            is_required: true,
            unchosen: NOTHING,
        }
    }

    pub(super) const fn kind(mut self, kind: InputKind) -> Self {
        self.kind = kind;
        self
    }

    pub(super) const fn unchosen(mut self, en: &'static str, pt: &'static str) -> Self {
        self.unchosen = Text::new(en, pt);
        self
    }

    pub(super) const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }
}
