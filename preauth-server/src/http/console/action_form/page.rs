//! The page of a form, and what sending it does.

use askama::Template;
use preauth_core::ErrorCode;
use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::{Method, Request, StatusCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::http::console::PREFIX;
use crate::http::console::cell::Cell;
use crate::http::console::facts::{Named, facts, masked};
use crate::http::console::failure::{Failure, Wanted, audit_log, is_unsure, plight, render};
use crate::http::console::frame::{Frame, Section};
use crate::http::console::guard::{Page, Submit};
use crate::http::console::named_company::NamedCompanies;
use crate::http::console::problems::Problems;
use crate::http::console::visit::{Answer, Visit};
use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::headers;
use crate::http::pages::words::Words;
use crate::http::platform::if_version::IF_VERSION;
use crate::http::platform::resend_range::ResentRangeShape;
use crate::http::reply::Reply;
use crate::ids::random_bytes;
use crate::labels;
use crate::language::{Language, Text};

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
        visit.require(&action.method, action.api)?;
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
        match action.send(visit, &subject, form).await {
            Ok(Sent::Counted(found, mark)) => {
                let outcome = Outcome::Counted(&found, &mark);
                let page = action.form_page(visit, &subject, form, outcome).await?;
                Ok(render(StatusCode::OK, &page)?)
            }
            Ok(Sent::Resent(found, mark)) => action.resent(visit, form, &found, mark),
            Ok(Sent::Done(answer)) => action.done(visit, subject.record.as_ref(), &answer),
            Err(Failure::Api(error)) => action.refused(visit, form, error).await,
            Err(failure) => Err(failure),
        }
    }
}

/// What the API answered.
enum Sent {
    Done(Answer),
    /// What the request would do, and its mark.
    Counted(ResentRangeShape, String),
    /// What such a request did, and its mark.
    Resent(ResentRangeShape, String),
}

/// What became of a form.
#[derive(Clone, Copy)]
enum Outcome<'a> {
    Asked,
    /// The record has changed since the form was shown.
    Stale,
    /// What has to be typed before it is done was not.
    Unconfirmed,
    Refused(&'a ApiError),
    /// What the request would do, and its mark.
    Counted(&'a ResentRangeShape, &'a str),
}

/// The mark of the request that its reader saw counted.
pub(super) const COUNTED: &str = "counted";
/// Where such a request begins, by which it does nothing twice.
pub(super) const AFTER: &str = "after";
/// The idempotency key of the request, made with the form: a form that is sent twice creates once.
pub(super) const ONCE: &str = "once";
/// The version of the record when the form was shown.
pub(super) const VERSION: &str = "version";

#[derive(Template)]
#[template(path = "console/action_form.html")]
struct FormPage {
    f: Frame,
    title: &'static str,
    /// The record that it is about, after the title.
    record: Option<String>,
    /// What the button says.
    button: String,
    about: Option<&'static str>,
    facts: Vec<(&'static str, Cell)>,
    fields: Vec<Field>,
    refusal: Vec<String>,
    /// What helps to go on after the refusal.
    leads_to: Option<(String, &'static str)>,
    is_final: bool,
    /// The mark of the request that was counted, and where it begins.
    counted: Option<(String, String)>,
    /// Whether what it would do stands above.
    is_counted: bool,
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
    /// The request of a form that was filled in, or first what it would do, and the answer.
    async fn send(&self, visit: &Visit, subject: &Subject, form: &Form) -> Result<Sent, Failure> {
        let body = self.body(visit, form).await?;
        let mark = hex::encode(Sha256::digest(body.as_deref().unwrap_or_default()));
        let after = form.one(AFTER).filter(|_| self.counted.is_some());
        let is_seen = form.one(COUNTED) == Some(mark.as_str()) && after.is_some();
        // Whom the role does not permit it, the API refuses, and says so in the audit log.
        let may = visit.permits(&self.method, self.api);
        if let Some(count) = self.counted.filter(|_| may && !is_seen) {
            let path = fill(count, |name| visit.id(name))?;
            let answer = visit.send(Method::POST, path, body, None).await?;
            return Ok(Sent::Counted(answer.parse()?, mark));
        }
        let body = match (body, after) {
            (Some(body), Some(after)) => Some(continued(&body, after)),
            (body, _) => body,
        };
        let mut path = self.api_path(visit, form)?;
        if let Some(version) = subject.own_version().filter(|_| self.binds_version) {
            path = format!("{path}?{IF_VERSION}={version}");
        }
        let once = form.one(ONCE).map(ToOwned::to_owned);
        let answer = visit.send(self.method.clone(), path, body, once).await?;
        Ok(match self.counted {
            Some(_) => Sent::Resent(answer.parse()?, mark),
            None => Sent::Done(answer),
        })
    }

    /// The form again, with the record as it stands now: perhaps another operator was faster. What became of
    /// the request is said even if the database is away by now.
    async fn refused(&self, visit: &Visit, form: &Form, error: ApiError) -> Result<Reply, Failure> {
        let shown = async {
            let subject = self.subject(visit).await?;
            let outcome = Outcome::Refused(&error);
            self.form_page(visit, &subject, form, outcome).await
        };
        match shown.await {
            Ok(page) => Ok(error.add_retry_after(render(error.status(), &page)?)),
            Err(_) if error.status().is_server_error() => Err(error.into()),
            Err(failure) => Err(failure),
        }
    }

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
            // What goes on by itself, such as a long erasure, is not done yet: its page says so.
            if answer.get("completedAt").is_some_and(Value::is_null) {
                return Ok(headers::see_other(&next));
            }
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
        outcome: Outcome<'_>,
    ) -> Result<FormPage, Failure> {
        let w = visit.words;
        let record = subject.record.as_ref();
        let once = outcome.keeps_key().then(|| form.one(ONCE)).flatten();
        let once = once.map(ToOwned::to_owned);
        let named = self.record.zip(record);
        let named = named.and_then(|(route, record)| Named::of(route, record, w));
        let mut facts = self.facts(visit, named.as_ref(), record).await?;
        let mut button = self.title.of(w.0).to_owned();
        let mut counted = None;
        if let Outcome::Counted(found, mark) = outcome {
            facts.extend(found.figures(labels::TO_RESEND, w));
            let first = found.first.clone().filter(|_| !found.is_nothing());
            counted = first.map(|first| (mark.to_owned(), first));
            // Of a range that takes several steps, this is the first one's number.
            if counted.is_some() && found.next.is_none() {
                button = resend(found.count, w);
            }
        }
        let is_counted = counted.is_some();
        // What may have been done is sent again as it was.
        if counted.is_none() && outcome.keeps_key() {
            let sent = form.one(COUNTED).zip(form.one(AFTER));
            counted = sent.map(|(mark, after)| (mark.to_owned(), after.to_owned()));
        }
        let mut problems = match outcome {
            Outcome::Refused(error) => Some(Problems::of(error)),
            _ => None,
        };
        let back = self.back(visit, record)?;
        let mut fields = Vec::new();
        for input in self.inputs {
            let mut field = input.field(form, self.stored(input, subject), w);
            if let InputKind::User = input.kind {
                field.choices = users(visit, &field.value).await?;
            }
            if let Some(defect) = problems
                .as_mut()
                .and_then(|all| all.take(input.name).first().copied())
            {
                field.is_first = !fields.iter().any(|it: &Field| it.error.is_some());
                field.error = Some(input.kind.sentence(defect, w));
            }
            fields.push(field);
        }
        fields.extend(self.confirmation(w, matches!(outcome, Outcome::Unconfirmed)));
        let left = problems.map(|left| left.rest(w)).unwrap_or_default();
        let (refusal, leads_to) = said(outcome, left, &back, w);
        Ok(FormPage {
            f: visit.frame(Section::None),
            title: self.title.of(w.0),
            record: named.map(|it| it.title()),
            button,
            about: self.about.map(|text| text.of(w.0)),
            facts,
            fields,
            refusal,
            leads_to,
            is_final: self.is_final,
            counted,
            is_counted,
            back,
            once: once.unwrap_or_else(|| Uuid::from_bytes(random_bytes()).to_string()),
            version: self.version(subject),
        })
    }
}

impl ResentRangeShape {
    /// Whether nothing was found, and nothing is left to look at.
    pub(super) const fn is_nothing(&self) -> bool {
        self.count == 0 && self.next.is_none()
    }

    /// Its numbers, of which the first stands under this label.
    pub(super) fn figures(&self, counted: Text, w: Words) -> [(&'static str, Cell); 3] {
        [
            (counted, self.count),
            (labels::WAIT_FOR_ENDPOINT, self.paused),
            (labels::OF_REMOVED_ENDPOINT, self.endpoint_removed),
        ]
        .map(|(label, count)| (label.of(w.0), Cell::number(count, w)))
    }
}

/// The body of a request that goes on at a place, or begins at one.
fn continued(body: &str, after: &str) -> String {
    let body = serde_json::from_str(body);
    let mut body: serde_json::Map<String, Value> = body.unwrap_or_default();
    body.insert(AFTER.to_owned(), Value::from(after));
    Value::Object(body).to_string()
}

impl ActionForm {
    /// What stands above the form: which record it is about, whose it is, and how it stands.
    async fn facts(
        &self,
        visit: &Visit,
        named: Option<&Named>,
        record: Option<&Value>,
    ) -> Result<Vec<(&'static str, Cell)>, Failure> {
        let w = visit.words;
        let mut found = record.map_or_else(Vec::new, |record| facts(named, record, w));
        let company = record.and_then(|record| record.get("companyId")?.as_str());
        if let Some(id) = company.and_then(|id| CompanyId::parse(id).ok()) {
            let company = NamedCompanies::default().cell(visit, Some(id)).await?;
            found.insert(found.len().min(1), (labels::COMPANY.of(w.0), company));
        }
        // The other company that the path names.
        if let Ok(cnpj) = visit.id("cnpj")
            && self.record.is_some_and(|route| !route.contains("{cnpj}"))
        {
            found.push((labels::SUPPLIER_CNPJ.of(w.0), Cell::code(masked(cnpj))));
        }
        if self.shows_clock {
            let now = Cell::time(visit.console.api.clock.now(), w);
            found.push((w.t("the sandbox's time", "hora da sandbox"), now));
        }
        Ok(found)
    }

    /// Where the form leads back to.
    fn back(&self, visit: &Visit, record: Option<&Value>) -> Result<String, Failure> {
        let back = fill(self.then, |name| {
            Ok(match record.and_then(|it| it.get(name)) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                // What this creates has no id yet.
                None => visit.id(name).unwrap_or_default().to_owned(),
            })
        })?;
        Ok(format!("{PREFIX}/{}", back.trim_end_matches('/')))
    }
}

/// What is said above the form, and what helps to go on; `left` is what no field says.
fn said(
    outcome: Outcome<'_>,
    left: Vec<String>,
    back: &str,
    w: Words,
) -> (Vec<String>, Option<(String, &'static str)>) {
    let happened = || {
        let text = w.t("See what happened", "Ver o que aconteceu");
        Some((back.to_owned(), text))
    };
    match outcome {
        Outcome::Counted(found, _) if found.is_nothing() => {
            (vec![nothing_matches(w).to_owned()], None)
        }
        Outcome::Counted(found, _) if found.next.is_some() => (vec![in_steps(w).to_owned()], None),
        Outcome::Asked | Outcome::Counted(..) => (Vec::new(), None),
        Outcome::Stale => (vec![changed(w).to_owned()], happened()),
        Outcome::Unconfirmed => (vec![unconfirmed(w).to_owned()], None),
        Outcome::Refused(error) => {
            if let Some(plight) = plight(error, Wanted::Form, w) {
                (plight, is_unsure(error, Wanted::Form).then(|| audit_log(w)))
            } else {
                let is_conflict = error.status() == StatusCode::CONFLICT;
                (left, is_conflict.then(happened).flatten())
            }
        }
    }
}

impl Outcome<'_> {
    /// Whether the request may have been done, or may yet be: then the form is sent again under the same key,
    /// and does nothing twice.
    fn keeps_key(self) -> bool {
        match self {
            Self::Asked | Self::Stale | Self::Unconfirmed | Self::Counted(..) => false,
            Self::Refused(error) => {
                error.status().is_server_error() || error.code == ErrorCode::IdempotencyInProgress
            }
        }
    }
}

fn changed(w: Words) -> &'static str {
    w.t(
        "This has changed since you opened the form, by somebody else or by the same form that was sent before. Nothing was done now. Below is how it stands.",
        "Isto mudou desde que você abriu o formulário, por outra pessoa ou pelo mesmo formulário enviado antes. Nada foi feito agora. Abaixo, a situação atual.",
    )
}

fn resend(count: u64, w: Words) -> String {
    let number = w.number(&count);
    match (count, w.0) {
        (1, _) => w
            .t("Send 1 delivery again", "Enviar 1 entrega de novo")
            .to_owned(),
        (_, Language::English) => format!("Send {number} deliveries again"),
        (_, Language::Portuguese) => format!("Enviar {number} entregas de novo"),
    }
}

fn nothing_matches(w: Words) -> &'static str {
    w.t(
        "Nothing matches: no delivery of this company ended so in this range of time. Nothing was done.",
        "Nada corresponde: nenhuma entrega desta empresa terminou assim neste intervalo. Nada foi feito.",
    )
}

fn in_steps(w: Words) -> &'static str {
    w.t(
        "There are more deliveries in this range than one step walks over: below are those of the first step. After each step a button goes on.",
        "Há mais entregas neste intervalo do que uma etapa percorre: abaixo estão as da primeira. Depois de cada etapa, um botão continua.",
    )
}
