//! The page of a form, and what sending it does.

use askama::Template;
use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::{Method, Request, StatusCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::http::console::PREFIX;
use crate::http::console::cell::Cell;
use crate::http::console::facts::facts;
use crate::http::console::failure::{Failure, Refused, render};
use crate::http::console::frame::{Frame, Section};
use crate::http::console::guard::{Page, Submit};
use crate::http::console::visit::{Answer, Visit};
use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::headers;
use crate::http::pages::words::Words;
use crate::http::platform::resend_range::ResentRangeShape;
use crate::http::reply::Reply;
use crate::ids::random_bytes;
use crate::labels;

use super::confirmation::unconfirmed;
use super::field::{Field, users};
use super::request::fill;
use super::subject::Subject;
use super::{ActionForm, InputKind};

/// The form of an action, and what it does.
pub(in crate::http::console) struct ActionPage(pub(in crate::http::console) &'static ActionForm);

#[async_trait]
impl Page for ActionPage {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let Self(action) = self;
        if !visit.permits(&action.method, action.api) {
            return Err(ApiError::new(ErrorCode::OperatorForbidden).into());
        }
        let subject = action.subject(visit).await?;
        // Nothing comes from the address: a link that somebody sends fills in nothing.
        let page = action
            .form_page(visit, &subject, &Form::default(), Outcome::Asked)
            .await?;
        Ok(render(StatusCode::OK, &page)?)
    }
}

#[async_trait]
impl Submit for ActionPage {
    async fn submit(&self, visit: &Visit, form: &Form, _req: &Request) -> Result<Reply, Failure> {
        let Self(action) = self;
        let subject = action.subject(visit).await?;
        let seen = form.one(VERSION).unwrap_or_default();
        if action.version(&subject) != seen {
            let page = action
                .form_page(visit, &subject, form, Outcome::Stale)
                .await?;
            return Ok(render(StatusCode::CONFLICT, &page)?);
        }
        // Whom the role does not permit it, the API refuses, and says so in the audit log.
        let may = visit.permits(&action.method, action.api);
        if may && !action.is_confirmed(&subject, form) {
            let page = action
                .form_page(visit, &subject, form, Outcome::Unconfirmed)
                .await?;
            return Ok(render(StatusCode::BAD_REQUEST, &page)?);
        }
        let body = action.body(visit, form).await?;
        let mark = hex::encode(Sha256::digest(body.as_deref().unwrap_or_default()));
        let unseen = action
            .counted
            .filter(|_| form.one(COUNTED) != Some(mark.as_str()));
        let (method, path) = match unseen {
            Some(count) => (
                Method::POST,
                fill(count, |name| visit.id(name).map(ToOwned::to_owned))?,
            ),
            None => (action.method.clone(), action.api_path(visit, form)?),
        };
        let once = form.one(ONCE).map(ToOwned::to_owned);
        match visit.send(method, path, body, once).await {
            Ok(answer) if unseen.is_some() => {
                let outcome = Outcome::Counted(answer.parse()?, mark);
                let page = action.form_page(visit, &subject, form, outcome).await?;
                Ok(render(StatusCode::OK, &page)?)
            }
            Ok(answer) => action.done(visit, subject.record.as_ref(), &answer),
            Err(Failure::Refused(refused)) => {
                // As it stands now: perhaps another operator was faster.
                let subject = action.subject(visit).await?;
                let status = refused.status;
                let outcome = Outcome::Refused(refused);
                let page = action.form_page(visit, &subject, form, outcome).await?;
                Ok(render(status, &page)?)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// What became of a form.
enum Outcome {
    Asked,
    /// The record has changed since the form was shown.
    Stale,
    /// What has to be typed before it is done was not.
    Unconfirmed,
    Refused(Refused),
    /// What the request would do, and its mark.
    Counted(ResentRangeShape, String),
}

/// The mark of the request that its reader saw counted.
const COUNTED: &str = "counted";
/// The idempotency key of the request, made with the form: a form that is sent twice creates once.
const ONCE: &str = "once";
/// The version of the record when the form was shown.
const VERSION: &str = "version";

#[derive(Template)]
#[template(path = "console/action_form.html")]
struct FormPage {
    f: Frame,
    title: &'static str,
    about: Option<&'static str>,
    facts: Vec<(&'static str, Cell)>,
    fields: Vec<Field>,
    refusal: Vec<String>,
    is_stale: bool,
    is_final: bool,
    /// The mark of the request that was counted.
    counted: Option<String>,
    back: String,
    once: String,
    version: String,
}

#[derive(Template)]
#[template(path = "console/revealed.html")]
struct RevealedPage {
    f: Frame,
    title: &'static str,
    secret: Option<String>,
    back: String,
}

impl ActionForm {
    fn done(
        &self,
        visit: &Visit,
        record: Option<&Value>,
        answer: &Answer,
    ) -> Result<Reply, Failure> {
        let answer: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
        let next = fill(self.then, |name| {
            let found = match name.strip_prefix("answer.") {
                Some(name) => answer.get(name),
                None => match record {
                    Some(record) => record.get(name),
                    None => answer.get(name),
                },
            };
            Ok(match found {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => visit.id(name)?.to_owned(),
            })
        })?;
        let next = format!("{PREFIX}/{next}");
        let secret = self
            .reveals
            .map(|member| answer.get(member).and_then(Value::as_str));
        let page = match secret {
            // What is put where it already was has no new secret.
            Some(None) if self.method == Method::PUT => None,
            None => None,
            Some(secret) => Some(RevealedPage {
                f: visit.frame(Section::None),
                title: self.title.of(visit.words.0),
                secret: secret.map(ToOwned::to_owned),
                back: next.clone(),
            }),
        };
        let Some(page) = page else {
            let mark = if next.contains('?') { '&' } else { '?' };
            return Ok(headers::see_other(&format!("{next}{mark}done=1")));
        };
        Ok(render(StatusCode::OK, &page)?)
    }

    async fn form_page(
        &self,
        visit: &Visit,
        subject: &Subject,
        form: &Form,
        outcome: Outcome,
    ) -> Result<FormPage, Failure> {
        let w = visit.words;
        let record = subject.record.as_ref();
        let once = outcome.keeps_key().then(|| form.one(ONCE)).flatten();
        let once = once.map(ToOwned::to_owned);
        let mut facts = record.map(|record| facts(record, w)).unwrap_or_default();
        let mut counted = None;
        let (refusal, is_stale) = match outcome {
            Outcome::Asked => (Vec::new(), false),
            Outcome::Counted(found, _) if found.next.is_some() => {
                (vec![too_many(w).to_owned()], false)
            }
            Outcome::Counted(found, mark) => {
                facts.extend([
                    (labels::TO_RESEND.of(w.0), Cell::number(found.count, w)),
                    (
                        labels::WAIT_FOR_ENDPOINT.of(w.0),
                        Cell::number(found.paused, w),
                    ),
                    (
                        labels::OF_REMOVED_ENDPOINT.of(w.0),
                        Cell::number(found.endpoint_removed, w),
                    ),
                ]);
                counted = Some(mark).filter(|_| found.count > 0);
                (Vec::new(), false)
            }
            Outcome::Stale => (vec![stale(w).to_owned()], true),
            Outcome::Unconfirmed => (vec![unconfirmed(w).to_owned()], false),
            Outcome::Refused(refused) => {
                let is_conflict = refused.status == StatusCode::CONFLICT;
                let meaning = self.conflict;
                let meaning = meaning.filter(|_| refused.has(ErrorCode::ResourceConflict));
                let sentences = meaning.map(|text| vec![text.of(w.0).to_owned()]);
                (
                    sentences.unwrap_or_else(|| refused.sentences(w)),
                    is_conflict,
                )
            }
        };
        let back = fill(self.then, |name| {
            Ok(match record.and_then(|it| it.get(name)) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                // What this creates has no id yet.
                None => visit.id(name).unwrap_or_default().to_owned(),
            })
        })?;
        let mut fields = Vec::new();
        for input in self.inputs {
            let mut field = input.field(form, self.stored(input, subject), w);
            if let InputKind::User = input.kind {
                field.choices = users(visit, &field.value).await?;
            }
            fields.push(field);
        }
        fields.extend(self.confirmation(w));
        Ok(FormPage {
            f: visit.frame(Section::None),
            title: self.title.of(w.0),
            about: self.about.map(|text| text.of(w.0)),
            facts,
            fields,
            refusal,
            is_stale,
            is_final: self.is_final,
            counted,
            back: format!("{PREFIX}/{}", back.trim_end_matches('/')),
            once: once.unwrap_or_else(|| Uuid::from_bytes(random_bytes()).to_string()),
            version: self.version(subject),
        })
    }
}

impl Outcome {
    /// Whether the request may have been done, or may yet be: then the form is sent again under the same key,
    /// and does nothing twice.
    fn keeps_key(&self) -> bool {
        match self {
            Self::Asked | Self::Stale | Self::Unconfirmed | Self::Counted(..) => false,
            Self::Refused(refused) => {
                refused.status.is_server_error() || refused.has(ErrorCode::IdempotencyInProgress)
            }
        }
    }
}

fn stale(w: Words) -> &'static str {
    w.t(
        "Somebody else was faster: this record has changed since you opened the form. Nothing was done. Below is how it stands now.",
        "Alguém foi mais rápido: este registro mudou desde que você abriu o formulário. Nada foi feito. Abaixo, a situação atual.",
    )
}

fn too_many(w: Words) -> &'static str {
    w.t(
        "There are more deliveries in this range than one request walks over. Nothing was done. Choose a shorter one, or use the command `delivery resend --company`.",
        "Há mais entregas neste intervalo do que uma requisição percorre. Nada foi feito. Escolha um menor, ou use o comando `delivery resend --company`.",
    )
}
