//! Query strings, read strictly: anything unknown or ambiguous is a problem.

use std::str::FromStr;

use percent_encoding::percent_decode_str;

use super::fields::Problems;
use super::problem::Defect;

/// The parameters of a query string, decoded, in the order written.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, Result<String, Defect>)>);

impl Query {
    /// Splits and decodes a query string.
    #[must_use]
    pub(super) fn parse(text: Option<&str>) -> Self {
        let pairs = text
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty());
        Self(pairs.map(parameter).collect())
    }

    /// A parameter that may be given once, read by `parse`.
    pub(super) fn one<T, E: Into<Defect>>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        let mut values = self.values(name);
        let value = values.next()?;
        if values.next().is_some() {
            problems.add(name, Defect::Repeated);
            return None;
        }
        read(name, value, parse, problems)
    }

    /// A parameter that may be repeated, each value read by `parse`.
    pub(super) fn many<T, E: Into<Defect>>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
        problems: &mut Problems,
    ) -> Vec<T> {
        if self
            .0
            .iter()
            .any(|(key, _)| key.strip_suffix("[]") == Some(name))
        {
            problems.add(name, Defect::Brackets { plain: name });
        }
        self.values(name)
            .filter_map(|value| read(name, value, &parse, problems))
            .collect()
    }

    /// A whole number within bounds that may be given once.
    pub(super) fn whole<N: FromStr + Into<u64> + Copy>(
        &self,
        name: &str,
        min: N,
        max: N,
        problems: &mut Problems,
    ) -> Option<N> {
        let defect = Defect::WholeNumber {
            min: min.into(),
            max: max.into(),
        };
        let parse = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.then(|| text.parse::<N>().ok()).flatten();
            number
                .filter(|number| (min.into()..=max.into()).contains(&(*number).into()))
                .ok_or(defect)
        };
        self.one(name, parse, problems)
    }

    /// Reports every parameter but this one.
    pub(super) fn refuse_others(&self, name: &str, problems: &mut Problems) {
        for (other, _) in self.0.iter().filter(|(key, _)| key != name) {
            problems.add(other, Defect::UnknownParameter);
        }
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &Result<String, Defect>> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

fn parameter(pair: &str) -> (String, Result<String, Defect>) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (decode(name).unwrap_or_default(), decode(value))
}

fn decode(text: &str) -> Result<String, Defect> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| Defect::NotUtf8)
}

fn read<T, E: Into<Defect>>(
    name: &str,
    value: &Result<String, Defect>,
    parse: impl FnOnce(&str) -> Result<T, E>,
    problems: &mut Problems,
) -> Option<T> {
    let parsed = match value {
        Ok(text) => parse(text).map_err(Into::into),
        Err(defect) => Err(defect.clone()),
    };
    parsed.map_err(|defect| problems.add(name, defect)).ok()
}

#[cfg(test)]
mod tests {
    use super::{Problems, Query};
    use preauth_core::value::ExternalReference;

    fn page(query: &str) -> Option<u64> {
        let mut problems = Problems::default();
        let page =
            Query::parse(Some(query)).whole("page", 1, i64::MAX.unsigned_abs(), &mut problems);
        problems.unless_any(page).ok()
    }

    #[test]
    fn whole_numbers_are_plain_digits_within_their_bounds() {
        assert_eq!(page("page=1"), Some(1));
        assert_eq!(page("page=01"), Some(1));
        assert_eq!(
            page("page=9223372036854775807"),
            Some(9_223_372_036_854_775_807)
        );
        for refused in [
            "0",
            "-1",
            "1.5",
            "abc",
            "",
            "1e2",
            "+1",
            "%2B1",
            "0x1",
            "9223372036854775808",
            "1&page=1",
        ] {
            assert_eq!(page(&format!("page={refused}")), None, "{refused}");
        }
    }

    #[test]
    fn texts_are_decoded_exactly_or_refused() {
        let reference = |query: &str| {
            let mut problems = Problems::default();
            let found = Query::parse(Some(query)).one("r", ExternalReference::parse, &mut problems);
            problems
                .unless_any(found)
                .ok()
                .map(|found| found.as_str().to_owned())
        };
        assert_eq!(reference("r=a%20b+c").as_deref(), Some("a b c"));
        assert_eq!(reference("r=%FF"), None);
        assert_eq!(reference("r=a%00b"), None);
        assert_eq!(reference("r="), None);
    }
}
