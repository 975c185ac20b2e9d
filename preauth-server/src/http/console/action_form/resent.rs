//! What a resend of a range of time did, and how it goes on.

use askama::Template;
use salvo::http::StatusCode;
use uuid::Uuid;

use crate::http::console::PREFIX;
use crate::http::console::cell::Cell;
use crate::http::console::failure::{Failure, render};
use crate::http::console::frame::{Frame, Section};
use crate::http::console::visit::Visit;
use crate::http::pages::form::Form;
use crate::http::platform::resend_range::ResentRangeShape;
use crate::http::reply::Reply;
use crate::ids::random_bytes;
use crate::labels;

use super::ActionForm;
use super::page::{AFTER, COUNTED, ONCE, VERSION};
use super::request::fill;

#[derive(Template)]
#[template(path = "console/resent.html")]
struct ResentPage {
    f: Frame,
    title: &'static str,
    back: String,
    tone: &'static str,
    text: &'static str,
    facts: [(&'static str, Cell); 3],
    /// The fields of the next step, if anything is left.
    next: Option<Vec<(String, String)>>,
}

impl ActionForm {
    /// The page after a step. It is no redirection: sent again, the same step queues nothing twice.
    pub(super) fn resent(
        &self,
        visit: &Visit,
        form: &Form,
        found: &ResentRangeShape,
        mark: String,
    ) -> Result<Reply, Failure> {
        let w = visit.words;
        let (tone, text) = match (found.count, &found.next) {
            (0, None) => (
                "wait",
                w.t(
                    "Nothing was queued: nothing more matches, or it was queued before.",
                    "Nada entrou na fila: nada mais corresponde, ou já tinha entrado antes.",
                ),
            ),
            (_, None) => (
                "good",
                w.t(
                    "Done: nothing is left in this range.",
                    "Feito: nada resta neste intervalo.",
                ),
            ),
            (_, Some(_)) => (
                "wait",
                w.t(
                    "This step is done, and more is left in this range.",
                    "Esta etapa está feita, e ainda resta parte do intervalo.",
                ),
            ),
        };
        let back = fill(self.then, |name| visit.id(name).map(ToOwned::to_owned))?;
        let page = ResentPage {
            f: visit.frame(Section::Deliveries),
            title: self.title.of(w.0),
            back: format!("{PREFIX}/{back}"),
            tone,
            text,
            facts: found.figures(labels::QUEUED_AGAIN, w),
            next: found.next.as_ref().map(|next| self.step(form, mark, next)),
        };
        Ok(render(StatusCode::OK, &page)?)
    }

    /// The fields of the same request from a place on.
    fn step(&self, form: &Form, mark: String, next: &str) -> Vec<(String, String)> {
        let typed = self.inputs.iter().flat_map(|input| {
            let values = form.all(input.name);
            values.map(|value| (input.name.to_owned(), value.to_owned()))
        });
        let version = form.one(VERSION).unwrap_or_default().to_owned();
        let once = Uuid::from_bytes(random_bytes()).to_string();
        let own = [
            (VERSION, version),
            (ONCE, once),
            (COUNTED, mark),
            (AFTER, next.to_owned()),
        ];
        typed
            .chain(own.map(|(name, value)| (name.to_owned(), value)))
            .collect()
    }
}
