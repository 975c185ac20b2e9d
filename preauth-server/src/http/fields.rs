//! Reads the fields of a JSON object into values and collects every problem.

use preauth_core::value::{Decimal, EnumSet, Money, TextEnum};

use super::json::Json;
use super::problem::{Defect, Problem};

/// Maximum amount of money on the platform, in cents.
const MAX_MONEY_CENTS: i64 = 100_000_000_000;
/// Maximum number of elements of a list.
const LIST_LIMIT: usize = 100;

/// Maximum number of problems reported; a create has fewer fields than that.
const MAX_PROBLEMS: usize = 50;

/// The problems found so far in one request.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub(super) fn add(&mut self, field: impl Into<String>, defect: Defect) {
        // The answer must not grow with the request; the first problems are enough.
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(Problem::new(field, defect));
        }
    }

    /// `value`, if there are no problems.
    pub(super) fn unless_any<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}

/// An object and its path in the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    path: &'a str,
    members: &'a [(String, Json)],
}

impl<'a> Fields<'a> {
    /// The request's body as an object.
    pub(super) fn body(tree: &'a Json, problems: &mut Problems) -> Option<Self> {
        Self::object_of(tree, "", "body", problems)
    }

    /// A required object; `path` is its full name, e.g. `invoice`.
    pub(super) fn object(self, path: &'a str, problems: &mut Problems) -> Option<Self> {
        let Some(value) = self.value(path) else {
            problems.add(path, Defect::Required);
            return None;
        };
        Self::object_of(value, path, path, problems)
    }

    /// A required text, read by `parse`.
    pub(super) fn text<T, E: Into<Defect>>(
        self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        self.required(name, problems)?;
        self.optional_text(name, parse, problems)
    }

    /// A text that may be absent or null, read by `parse`.
    pub(super) fn optional_text<T, E: Into<Defect>>(
        self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        match self.value(name)? {
            Json::Text(text) => match parse(text) {
                Ok(value) => return Some(value),
                Err(error) => problems.add(self.full(name), error.into()),
            },
            _ => problems.add(self.full(name), Defect::NotAString),
        }
        None
    }

    /// A required number; a plain decimal in a string is accepted as well.
    pub(super) fn amount(self, name: &str, problems: &mut Problems) -> Option<Decimal> {
        let parsed = match self.required(name, problems)? {
            Json::Number(text) => Decimal::parse_json_number(text),
            Json::Text(text) => Decimal::parse_plain(text),
            _ => {
                problems.add(self.full(name), Defect::NotANumber);
                return None;
            }
        };
        parsed
            .map_err(|error| problems.add(self.full(name), error.into()))
            .ok()
    }

    /// A required amount above zero, checked before it is rounded to cents.
    pub(super) fn money(self, name: &str, problems: &mut Problems) -> Option<Money> {
        let exact = self.amount(name, problems)?;
        let is_within = exact <= Decimal::from_cents(MAX_MONEY_CENTS);
        let rounded = exact.round_to_cents().filter(|money| *money > Money::ZERO);
        let money = rounded.filter(|_| is_within);
        if money.is_none() {
            problems.add(self.full(name), Defect::MoneyOutOfRange);
        }
        money
    }

    /// A number that may be absent or null; a string is not accepted here.
    pub(super) fn optional_number(self, name: &str, problems: &mut Problems) -> Option<Decimal> {
        let Json::Number(text) = self.value(name)? else {
            problems.add(self.full(name), Defect::NotANumber);
            return None;
        };
        Decimal::parse_json_number(text)
            .map_err(|error| problems.add(self.full(name), error.into()))
            .ok()
    }

    /// A required whole number within bounds.
    pub(super) fn whole(
        self,
        name: &str,
        min: u64,
        max: u64,
        problems: &mut Problems,
    ) -> Option<u64> {
        let number = match self.required(name, problems)? {
            Json::Number(text) => text
                .parse()
                .ok()
                .filter(|number| (min..=max).contains(number)),
            _ => None,
        };
        if number.is_none() {
            problems.add(self.full(name), Defect::WholeNumber { min, max });
        }
        number
    }

    /// One of the allowed numbers, required; one beyond the greatest is reported with its bounds.
    pub(super) fn whole_among(
        self,
        name: &str,
        allowed: &'static [u16],
        problems: &mut Problems,
    ) -> Option<u16> {
        let max = allowed.iter().copied().max().unwrap_or_default();
        let number = self.whole(name, 1, max.into(), problems)?;
        let mut allowed_numbers = allowed.iter().copied();
        let found = allowed_numbers.find(|allowed| u64::from(*allowed) == number);
        if found.is_none() {
            problems.add(self.full(name), Defect::NotAmongNumbers(allowed));
        }
        found
    }

    /// A required boolean.
    pub(super) fn boolean(self, name: &str, problems: &mut Problems) -> Option<bool> {
        let Json::Bool(value) = self.required(name, problems)? else {
            problems.add(self.full(name), Defect::NotABoolean);
            return None;
        };
        Some(*value)
    }

    /// A required list of known members; duplicates are ignored.
    pub(super) fn set<T: TextEnum>(
        self,
        name: &str,
        offered: &'static [T],
        problems: &mut Problems,
    ) -> Option<EnumSet<T>> {
        let Json::Array(elements) = self.required(name, problems)? else {
            problems.add(self.full(name), Defect::NotAnArray);
            return None;
        };
        if elements.len() > LIST_LIMIT {
            problems.add(self.full(name), Defect::ListTooLong { max: LIST_LIMIT });
            return None;
        }
        let mut members = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            let read = match element {
                Json::Text(text) => one_of(offered)(text),
                _ => Err(Defect::NotAString),
            };
            match read {
                Ok(member) => members.push(member),
                Err(defect) => problems.add(format!("{}[{index}]", self.full(name)), defect),
            }
        }
        Some(members.into_iter().collect())
    }

    /// A required list of one known member or more.
    pub(super) fn filled_set<T: TextEnum>(
        self,
        name: &str,
        offered: &'static [T],
        problems: &mut Problems,
    ) -> Option<EnumSet<T>> {
        match self.required(name, problems)? {
            Json::Array(elements) if elements.is_empty() => {
                problems.add(self.full(name), Defect::EmptyList);
                None
            }
            _ => self.set(name, offered, problems),
        }
    }

    /// Whether it has the field; null counts as absent.
    pub(super) fn has(self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Reports a required field that is missing and returns `None`.
    pub(super) fn required(self, name: &str, problems: &mut Problems) -> Option<&'a Json> {
        let value = self.value(name);
        if value.is_none() {
            problems.add(self.full(name), Defect::Required);
        }
        value
    }

    fn object_of(
        value: &'a Json,
        path: &'a str,
        name: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Json::Object(members) = value else {
            problems.add(name, Defect::NotAnObject);
            return None;
        };
        Some(Self { path, members })
    }

    /// The field's value; null counts as absent.
    fn value(self, name: &str) -> Option<&'a Json> {
        let member = self.members.iter().find(|(key, _)| key == name);
        member
            .map(|(_, value)| value)
            .filter(|value| **value != Json::Null)
    }

    fn full(self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

/// Reads one of the allowed values, or reports which are allowed.
pub(super) fn one_of<T: TextEnum>(offered: &'static [T]) -> impl Fn(&str) -> Result<T, Defect> {
    move |text| {
        let member = offered
            .iter()
            .copied()
            .find(|member| member.as_str() == text);
        member.ok_or_else(|| Defect::NotAmong(offered.iter().map(|each| each.as_str()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Json, Problems};
    use crate::http::problem::{Defect, Problem};
    use preauth_core::value::{Money, Scope};

    fn read<T>(
        body: &str,
        read: impl FnOnce(Fields<'_>, &mut Problems) -> Option<T>,
    ) -> Result<T, Vec<Problem>> {
        let tree = Json::parse(body.as_bytes()).unwrap();
        let mut problems = Problems::default();
        let value =
            Fields::body(&tree, &mut problems).and_then(|fields| read(fields, &mut problems));
        problems.unless_any(value)
    }

    // Contract: operation/invoice.amount
    #[test]
    fn money_is_validated_as_sent_and_rounded_to_cents() {
        let money = |text: &str| {
            let body = format!(r#"{{"amount": {text}}}"#);
            read(&body, |fields, problems| fields.money("amount", problems)).map(Money::cents)
        };
        assert_eq!(money("0.005"), Ok(1));
        assert_eq!(money("\"1000000000.00\""), Ok(100_000_000_000));
        for refused in ["0", "0.004", "-1", "1000000000.001", "1e30"] {
            let expected = vec![Problem::new("amount", Defect::MoneyOutOfRange)];
            assert_eq!(money(refused), Err(expected), "{refused}");
        }
    }

    #[test]
    fn a_set_names_every_element_that_is_not_on_offer() {
        let scopes = |list: &str| {
            let body = format!(r#"{{"scopes": {list}}}"#);
            read(&body, |fields, problems| {
                fields.filled_set("scopes", Scope::OFFERED, problems)
            })
        };
        let found = scopes(r#"["preauth:read", "preauth:read"]"#).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [Scope::PreauthRead]);
        assert_eq!(
            scopes(r#"["preauth:write", "notes:read", 1]"#),
            Err(vec![
                Problem::new(
                    "scopes[1]",
                    Defect::NotAmong(vec!["preauth:read", "preauth:write"])
                ),
                Problem::new("scopes[2]", Defect::NotAString),
            ])
        );
        assert_eq!(
            scopes("[]"),
            Err(vec![Problem::new("scopes", Defect::EmptyList)])
        );
        assert_eq!(
            scopes(&format!("[{}0]", "0,".repeat(100))),
            Err(vec![Problem::new(
                "scopes",
                Defect::ListTooLong { max: 100 }
            )])
        );
    }
}
