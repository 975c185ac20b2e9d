//! The fields of a form, and what was typed into them.

use preauth_core::value::Cnpj;
use serde_json::Value;

use crate::http::console::failure::Failure;
use crate::http::console::names;
use crate::http::console::problems::beside;
use crate::http::console::visit::Visit;
use crate::http::pages::form::Form;
use crate::http::pages::words::Words;
use crate::http::platform::Listed;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::users::User;
use crate::http::problem::Defect;
use crate::language::Language;

use super::typed::{SECONDS_PER_HOUR, amount, moment, number, seconds_of_hours};
use super::{Input, InputKind};

/// A field as the form shows it.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) is_required: bool,
    pub(super) value: String,
    /// `text`, `date`, `datetime-local` or `number`.
    pub(super) input: &'static str,
    /// Code, name, whether it is chosen.
    pub(super) choices: Vec<(String, String, bool)>,
    /// What stands for no choice.
    pub(super) unchosen: &'static str,
    pub(super) is_many: bool,
    pub(super) hint: &'static str,
    /// What is wrong with it.
    pub(super) error: Option<String>,
    /// Whether it is the first with something wrong, where the reader continues.
    pub(super) is_first: bool,
}

impl Field {
    /// The ids of what describes it to a screen reader.
    pub(super) fn described_by(&self) -> Option<String> {
        let name = self.name;
        match (&self.error, self.hint) {
            (Some(_), "") => Some(format!("error-{name}")),
            (Some(_), _) => Some(format!("error-{name} hint-{name}")),
            (None, "") => None,
            (None, _) => Some(format!("hint-{name}")),
        }
    }
}

impl Input {
    /// The member of the body that was typed; `None` when nothing was.
    pub(super) async fn value(&self, visit: &Visit, form: &Form) -> Result<Option<Value>, Failure> {
        let typed = form.one(self.name);
        Ok(match self.kind {
            InputKind::Text | InputKind::Day | InputKind::User => typed.map(Value::from),
            // What is no amount must not reach the API as a text, of which it would read some.
            InputKind::Money => {
                typed.map(|text| amount(text, visit.words).unwrap_or(Value::Bool(false)))
            }
            InputKind::Whole | InputKind::Choice(_) => typed.map(number),
            InputKind::Hours => typed.map(|text| {
                let seconds = seconds_of_hours(text);
                seconds.map_or(Value::Bool(false), Value::from)
            }),
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

    pub(super) fn field(&self, form: &Form, stored: Option<&Value>, w: Words) -> Field {
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
            | InputKind::Hours
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
            (code.to_owned(), names::name(code, w), is_chosen)
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
            unchosen: self.unchosen.of(w.0),
            is_many,
            hint: match self.kind {
                InputKind::Money => w.t("In reais, such as 12500.50.", "Em reais, como 12.500,50."),
                InputKind::Hours => w.t(
                    "24 are a day, 0.5 is half an hour.",
                    "24 são um dia, 0,5 é meia hora.",
                ),
                InputKind::Moment => w.t("São Paulo time.", "Horário de São Paulo."),
                InputKind::Company => w.t("Its CNPJ or id.", "O CNPJ ou o id."),
                _ => "",
            },
            error: None,
            is_first: false,
        }
    }
}

impl InputKind {
    /// What is wrong with a field, in the words of what was typed.
    pub(super) fn sentence(self, defect: &Defect, w: Words) -> String {
        let own = match (self, defect) {
            (Self::Company, Defect::NotAnId) => w.t(
                "No company has this CNPJ or id.",
                "Nenhuma empresa tem este CNPJ ou id.",
            ),
            (Self::Money, Defect::NotANumber | Defect::Decimal(_)) => w.t(
                "This is not an amount, or could be read in two ways.",
                "Isto não é um valor, ou pode ser lido de duas formas.",
            ),
            (Self::Moment, Defect::NotATimestamp) => w.t(
                "This is not a day with a time.",
                "Isto não é um dia com horário.",
            ),
            (Self::Hours, Defect::WholeNumber { max, .. }) => {
                let max = max.div_euclid(SECONDS_PER_HOUR);
                return match w.0 {
                    Language::English => {
                        format!("From 0 to {max} hours, with two decimals at most.")
                    }
                    Language::Portuguese => {
                        format!("De 0 a {max} horas, com no máximo duas casas decimais.")
                    }
                };
            }
            _ => return beside(defect, w),
        };
        own.to_owned()
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
pub(super) async fn users(
    visit: &Visit,
    chosen: &str,
) -> Result<Vec<(String, String, bool)>, Failure> {
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
