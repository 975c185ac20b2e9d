//! Forms: each sends one request of the platform API, whose refusals it shows.
//!
//! A GET shows the form with the record as it stands; what cannot be undone is confirmed there. The form
//! repeats the version that its reader saw: when another operator was faster, it says so instead.

use std::collections::BTreeMap;

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use preauth_core::ErrorCode;
use preauth_core::value::Cnpj;
use salvo::async_trait;
use salvo::http::{Method, Request, StatusCode};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::headers;
use crate::http::pages::words::Words;
use crate::http::platform::Listed;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::users::User;
use crate::http::reply::Reply;
use crate::ids::random_bytes;
use crate::language::{Language, Text};

use super::PREFIX;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::facts::facts;
use super::failure::{Failure, Refused, render};
use super::frame::{Frame, Section};
use super::guard::{Page, Submit};
use super::visit::{Answer, Visit};

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
}

/// A field of the form.
pub(super) struct Input {
    /// The member of the body; a point leads into an object.
    pub(super) name: &'static str,
    pub(super) label: Text,
    pub(super) kind: InputKind,
    pub(super) is_required: bool,
}

#[derive(Clone, Copy)]
pub(super) enum InputKind {
    Text,
    Money,
    Day,
    /// A moment, typed in São Paulo's time.
    Moment,
    Whole,
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
            record: None,
            edits: None,
            filled: &[],
            then,
            reveals: None,
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
        }
    }

    pub(super) const fn kind(mut self, kind: InputKind) -> Self {
        self.kind = kind;
        self
    }

    pub(super) const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }
}

/// A field as the form shows it.
struct Field {
    name: &'static str,
    label: &'static str,
    is_required: bool,
    value: String,
    /// `text`, `date`, `datetime-local` or `number`.
    input: &'static str,
    /// Code, name, whether it is chosen.
    choices: Vec<(String, String, bool)>,
    is_many: bool,
    hint: &'static str,
}

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

/// The form of a action, and what it does.
pub(super) struct ActionPage(pub(super) &'static ActionForm);

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
        let path = action.api_path(visit, form)?;
        let body = action.body(visit, form).await?;
        let once = form.one(ONCE).map(ToOwned::to_owned);
        match visit.send(action.method.clone(), path, body, once).await {
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
    Refused(Refused),
}

/// The idempotency key of the request, made with the form: a form that is sent twice creates once.
const ONCE: &str = "once";
/// The version of the record when the form was shown.
const VERSION: &str = "version";

/// What a form is about, as it stands now.
struct Subject {
    record: Option<Value>,
    /// What the form changes.
    current: Option<Value>,
}

impl ActionForm {
    async fn subject(&self, visit: &Visit) -> Result<Subject, Failure> {
        let mut record = None;
        if let Some(route) = self.record {
            record = Some(visit.get(fill(route, |name| visit.id(name))?).await?);
        }
        let mut current = None;
        if let Some(route) = self.edits {
            let found = visit.get(fill(route, |name| visit.id(name))?).await;
            current = match found {
                Ok(found) => Some(found),
                Err(Failure::Refused(refused)) if refused.status == StatusCode::NOT_FOUND => None,
                Err(failure) => return Err(failure),
            };
        }
        Ok(Subject { record, current })
    }

    /// The version of what the form is about: the record's own and what the form would change.
    fn version(&self, subject: &Subject) -> String {
        let own = subject.record.as_ref().and_then(|it| it.get("version"));
        let own = own.map(Value::to_string).unwrap_or_default();
        let Some(current) = &subject.current else {
            return own;
        };
        let members = self.inputs.iter();
        let members: Vec<_> = members.map(|input| member(current, input.name)).collect();
        let digest = Sha256::digest(format!("{members:?}"));
        format!("{own}-{}", hex::encode(digest))
    }

    /// The request's path; what its form has for it comes before what its own path has.
    fn api_path(&self, visit: &Visit, form: &Form) -> Result<String, Failure> {
        fill(self.api, |name| {
            let typed = self.inputs.iter().find(|input| input.name == name);
            let Some(Input {
                kind: InputKind::Path,
                ..
            }) = typed
            else {
                return visit.id(name).map(ToOwned::to_owned);
            };
            let typed = form.one(name).unwrap_or_default();
            Ok(utf8_percent_encode(typed, NON_ALPHANUMERIC).to_string())
        })
    }

    /// The body; `None` when the request has none.
    async fn body(&self, visit: &Visit, form: &Form) -> Result<Option<String>, Failure> {
        let inputs = self.inputs.iter();
        let inputs = inputs.filter(|input| !matches!(input.kind, InputKind::Path));
        let mut body = Map::new();
        for (name, value) in self.fixed {
            // A word of JSON, or a text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(*value));
            insert(&mut body, name, value);
        }
        let mut is_empty = self.fixed.is_empty();
        for input in inputs {
            is_empty = false;
            if let Some(value) = input.value(visit, form).await? {
                insert(&mut body, input.name, value);
            }
        }
        Ok((!is_empty).then(|| Value::Object(body).to_string()))
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
        let (refusal, is_stale) = match outcome {
            Outcome::Asked => (Vec::new(), false),
            Outcome::Stale => (vec![stale(w).to_owned()], true),
            Outcome::Refused(refused) => {
                let is_conflict = refused.status == StatusCode::CONFLICT;
                (refused.sentences(w), is_conflict)
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
        Ok(FormPage {
            f: visit.frame(Section::None),
            title: self.title.of(w.0),
            about: self.about.map(|text| text.of(w.0)),
            facts: record.map(|record| facts(record, w)).unwrap_or_default(),
            fields,
            refusal,
            is_stale,
            is_final: self.is_final,
            back: format!("{PREFIX}/{}", back.trim_end_matches('/')),
            once: once.unwrap_or_else(|| Uuid::from_bytes(random_bytes()).to_string()),
            version: self.version(subject),
        })
    }

    /// What a field holds before anything was typed.
    fn stored<'a>(&self, input: &Input, subject: &'a Subject) -> Option<&'a Value> {
        let filled = self.filled.iter().find(|(name, _)| *name == input.name);
        match (filled, &subject.record) {
            (Some((_, path)), Some(record)) => member(record, path),
            _ => member(subject.current.as_ref()?, input.name),
        }
    }
}

impl Outcome {
    /// Whether the request may have been done, or may yet be: then the form is sent again under the same key,
    /// and does nothing twice.
    fn keeps_key(&self) -> bool {
        match self {
            Self::Asked | Self::Stale => false,
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

impl Input {
    /// The member of the body that was typed; `None` when nothing was.
    async fn value(&self, visit: &Visit, form: &Form) -> Result<Option<Value>, Failure> {
        let typed = form.one(self.name);
        Ok(match self.kind {
            InputKind::Text | InputKind::Day | InputKind::User => typed.map(Value::from),
            InputKind::Money => typed.map(|text| amount(text, visit.words)),
            InputKind::Whole | InputKind::Choice(_) => typed.map(number),
            InputKind::Moment => typed.map(|text| Value::from(moment(text))),
            InputKind::Words(_) => {
                let chosen: Vec<_> = form.all(self.name).map(Value::from).collect();
                let is_left_out = chosen.is_empty() && !self.is_required;
                (!is_left_out).then_some(Value::Array(chosen))
            }
            InputKind::Company => match typed {
                Some(text) => Some(Value::from(company(visit, text).await?)),
                None => None,
            },
            InputKind::Path => None,
        })
    }

    fn field(&self, form: &Form, stored: Option<&Value>, w: Words) -> Field {
        let typed = form.one(self.name).map(ToOwned::to_owned);
        let value = typed.unwrap_or_else(|| match stored {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => shown(number, self.kind, w),
            _ => String::new(),
        });
        let chosen: Vec<String> = match stored {
            _ if form.all(self.name).next().is_some() => {
                form.all(self.name).map(ToOwned::to_owned).collect()
            }
            Some(Value::Array(words)) => {
                let words = words.iter().filter_map(Value::as_str);
                words.map(ToOwned::to_owned).collect()
            }
            _ => vec![value.clone()],
        };
        let (input, words, is_many) = match self.kind {
            InputKind::Text
            | InputKind::Money
            | InputKind::Company
            | InputKind::User
            | InputKind::Path => ("text", None, false),
            InputKind::Whole => ("number", None, false),
            InputKind::Day => ("date", None, false),
            InputKind::Moment => ("datetime-local", None, false),
            InputKind::Choice(words) => ("text", Some(words), false),
            InputKind::Words(words) => ("text", Some(words), true),
        };
        let choice = |code: &'static str| {
            let is_chosen = chosen.iter().any(|each| each == code);
            (code.to_owned(), super::names::name(code, w), is_chosen)
        };
        Field {
            name: self.name,
            label: self.label.of(w.0),
            is_required: self.is_required,
            value,
            input,
            choices: words
                .map(|words| words())
                .unwrap_or_default()
                .into_iter()
                .map(choice)
                .collect(),
            is_many,
            hint: match self.kind {
                InputKind::Money => w.t("In reais, such as 12500.50.", "Em reais, como 12.500,50."),
                InputKind::Moment => w.t("São Paulo time.", "Horário de São Paulo."),
                InputKind::Company => w.t("Its CNPJ or id.", "O CNPJ ou o id."),
                _ => "",
            },
        }
    }
}

/// The id of the company that was typed as CNPJ; another text stays, and is refused with the field's name.
async fn company(visit: &Visit, typed: &str) -> Result<String, Failure> {
    let Ok(cnpj) = Cnpj::parse(typed) else {
        return Ok(typed.to_owned());
    };
    let path = format!("companies?cnpj={}", cnpj.as_str());
    let found: Listed<CompanyShape> = visit.get(path).await?;
    let id = found.data.first().map(|company| company.id.to_string());
    Ok(id.unwrap_or_else(|| typed.to_owned()))
}

/// The users of the company that the path names, as choices.
async fn users(visit: &Visit, chosen: &str) -> Result<Vec<(String, String, bool)>, Failure> {
    let path = format!("companies/{}/users?limit=100", visit.id("id")?);
    let found: Listed<User> = visit.get(path).await?;
    let choice = |user: &User| {
        let id = user.id.to_string();
        let is_chosen = id == chosen;
        (
            id,
            format!("{} <{}>", user.name.as_str(), user.email.as_str()),
            is_chosen,
        )
    };
    Ok(found.data.iter().map(choice).collect())
}

/// A number as the form shows it.
fn shown(number: &serde_json::Number, kind: InputKind, w: Words) -> String {
    let text = number.to_string();
    match (kind, w.0) {
        (InputKind::Money, Language::Portuguese) => text.replace('.', ","),
        _ => text,
    }
}

/// An amount as its reader writes it: in Portuguese points separate thousands and a comma the cents, in English
/// it is the other way round. What could be read in two ways, or has more than cents, stays a text, which the
/// API refuses with the field's name.
fn amount(text: &str, w: Words) -> Value {
    let (thousands, cents) = match w.0 {
        Language::Portuguese => ('.', ','),
        Language::English => (',', '.'),
    };
    let (whole, fraction) = text.split_once(cents).unwrap_or((text, ""));
    let groups: Vec<_> = whole.split(thousands).collect();
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = match groups.as_slice() {
        [] => false,
        [single] => are_digits(single),
        [first, rest @ ..] => {
            (1..=3).contains(&first.len())
                && are_digits(first)
                && rest
                    .iter()
                    .all(|group| group.len() == 3 && are_digits(group))
        }
    };
    // 12500.50 is what programs write, and can mean nothing else.
    let is_plain = w.0 == Language::Portuguese
        && matches!(groups.as_slice(), [_, end] if (1..=2).contains(&end.len()) && are_digits(end))
        && fraction.is_empty();
    if is_plain {
        return number(text);
    }
    if !is_grouped || fraction.len() > 2 || !are_digits(fraction) {
        return Value::from(text);
    }
    let whole = groups.concat();
    number(&match fraction {
        "" => whole,
        fraction => format!("{whole}.{fraction}"),
    })
}

/// A JSON number, if the text is one; otherwise the text, which the API refuses with the field's name.
fn number(text: &str) -> Value {
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = is_number.then(|| serde_json::from_str::<serde_json::Number>(text).ok());
    number
        .flatten()
        .map_or_else(|| Value::from(text), Value::Number)
}

/// A moment that was typed in São Paulo's time, as the API reads it.
fn moment(text: &str) -> String {
    use preauth_core::value::calendar;
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let Ok(date) = date.parse::<chrono::NaiveDate>() else {
        return text.to_owned();
    };
    let time = chrono::NaiveTime::parse_from_str(time, "%H:%M")
        .or_else(|_| chrono::NaiveTime::parse_from_str(time, "%H:%M:%S"));
    let (Ok(time), Some(before)) = (time, date.pred_opt()) else {
        return text.to_owned();
    };
    let since_midnight = time.signed_duration_since(chrono::NaiveTime::MIN);
    let midnight = calendar::end_of_day(before);
    let midnight = midnight.saturating_add(chrono::TimeDelta::milliseconds(1));
    midnight.saturating_add(since_midnight).to_string()
}

/// Puts a member into an object, which a point leads into.
fn insert(body: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            body.insert(name.to_owned(), value);
        }
        Some((object, rest)) => {
            let inner = body
                .entry(object)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// A path with its names replaced.
fn fill<T: AsRef<str>>(
    template: &str,
    value: impl Fn(&str) -> Result<T, Failure>,
) -> Result<String, Failure> {
    let mut values = BTreeMap::new();
    for part in template.split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        values.insert(name.to_owned(), value(name)?);
    }
    let filled = values
        .iter()
        .fold(template.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value.as_ref())
        });
    Ok(filled)
}

/// A member of an object; a point leads into an inner one.
fn member<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |value, it| value.get(it))
}

#[cfg(test)]
mod tests {
    use super::{Language, Map, Value, Words, amount, insert, moment, number};

    #[test]
    fn amounts_are_read_as_the_reader_writes_them() {
        let (pt, en) = (Words(Language::Portuguese), Words(Language::English));
        for (text, w, expected) in [
            ("12.500,50", pt, 12_500.5),
            ("12500,5", pt, 12_500.5),
            ("12500.50", pt, 12_500.5),
            ("12500.5", pt, 12_500.5),
            ("12.000", pt, 12_000.0),
            ("1.234.567", pt, 1_234_567.0),
            ("12000", pt, 12_000.0),
            ("12500.50", en, 12_500.5),
            ("12,500.50", en, 12_500.5),
            ("12,000", en, 12_000.0),
        ] {
            let read = amount(text, w).as_f64();
            assert!(
                read.is_some_and(|read| (read - expected).abs() < 1e-9),
                "{text}: {read:?}"
            );
        }
        for (text, w) in [
            ("12.000", en),
            ("12.5000", en),
            ("12,50", en),
            ("1,2,3", en),
            ("12.00.00", pt),
            ("12.5000", pt),
            ("1.23.456", pt),
            ("12,500.50", pt),
            ("12,000", pt),
            (".500", pt),
            ("1.500,", en),
            ("-5", pt),
            ("1e9", pt),
            ("", pt),
            (",50", pt),
        ] {
            assert!(amount(text, w).is_string(), "{text}");
        }
        assert!(number("12500.50").is_number());
        for text in ["12,500.50", "", "-1", "1e9", "x"] {
            assert!(number(text).is_string(), "{text}");
        }
    }

    #[test]
    fn moments_are_those_of_sao_paulo() {
        assert_eq!(moment("2026-11-21T10:30"), "2026-11-21T13:30:00.000Z");
        assert_eq!(moment("2026-11-21"), "2026-11-21T03:00:00.000Z");
        assert_eq!(moment("soon"), "soon");
    }

    #[test]
    fn a_point_leads_into_an_object() {
        let mut body = Map::new();
        insert(&mut body, "contact.name", Value::from("Ana"));
        insert(&mut body, "contact.email", Value::from("a@b.co"));
        let text = Value::Object(body).to_string();
        assert_eq!(text, r#"{"contact":{"email":"a@b.co","name":"Ana"}}"#);
    }
}
