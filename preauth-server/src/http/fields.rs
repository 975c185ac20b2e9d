//! Reads the fields of a JSON object into values, collecting every problem on the way.

use preauth_core::value::Decimal;

use super::json::Json;
use super::problem::{Defect, Problem};

/// The problems found so far in one request.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub fn add(&mut self, field: impl Into<String>, defect: Defect) {
        self.0.push(Problem::new(field, defect));
    }

    /// `value`, unless anything was wrong.
    pub fn unless_any<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}

/// An object and where it stands in the request.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    path: &'a str,
    members: &'a [(String, Json)],
}

impl<'a> Fields<'a> {
    /// The request's body as an object.
    pub fn body(tree: &'a Json, problems: &mut Problems) -> Option<Self> {
        Self::object_of(tree, "", "body", problems)
    }

    /// A required object; `path` is its full name, e.g. `invoice`.
    pub fn object(self, path: &'a str, problems: &mut Problems) -> Option<Self> {
        let Some(value) = self.value(path) else {
            problems.add(path, Defect::Required);
            return None;
        };
        Self::object_of(value, path, path, problems)
    }

    /// A required text, read by `parse`.
    pub fn text<T, E: Into<Defect>>(
        self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        self.required(name, problems)?;
        self.optional_text(name, parse, problems)
    }

    /// A text that may be absent or null, read by `parse`.
    pub fn optional_text<T, E: Into<Defect>>(
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
    pub fn amount(self, name: &str, problems: &mut Problems) -> Option<Decimal> {
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

    /// A number that may be absent or null; a string is no number here.
    pub fn optional_number(self, name: &str, problems: &mut Problems) -> Option<Decimal> {
        let Json::Number(text) = self.value(name)? else {
            problems.add(self.full(name), Defect::NotANumber);
            return None;
        };
        Decimal::parse_json_number(text)
            .map_err(|error| problems.add(self.full(name), error.into()))
            .ok()
    }

    /// A whole number within bounds that may be absent or null.
    pub fn optional_whole(
        self,
        name: &str,
        min: u64,
        max: u64,
        problems: &mut Problems,
    ) -> Option<u64> {
        let number = match self.value(name)? {
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

    /// A boolean that may be absent or null.
    pub fn optional_bool(self, name: &str, problems: &mut Problems) -> Option<bool> {
        match self.value(name)? {
            Json::Bool(value) => Some(*value),
            _ => {
                problems.add(self.full(name), Defect::NotABoolean);
                None
            }
        }
    }

    /// A list of texts that may be absent or null, each read by `parse`.
    pub fn optional_list<T, E: Into<Defect>>(
        self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<Vec<T>> {
        let Json::Array(elements) = self.value(name)? else {
            problems.add(self.full(name), Defect::NotAnArray);
            return None;
        };
        let mut list = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            let field = || format!("{}[{index}]", self.full(name));
            match element {
                Json::Text(text) => match parse(text) {
                    Ok(value) => list.push(value),
                    Err(error) => problems.add(field(), error.into()),
                },
                _ => problems.add(field(), Defect::NotAString),
            }
        }
        Some(list)
    }

    /// Whether the field is there and not null.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Notes that a required field is missing; `None` then.
    pub fn required(self, name: &str, problems: &mut Problems) -> Option<&'a Json> {
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
        match value {
            Json::Object(members) => Some(Self { path, members }),
            _ => {
                problems.add(name, Defect::NotAnObject);
                None
            }
        }
    }

    /// The field's value; null is as good as absent.
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
