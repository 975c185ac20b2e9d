//! JSON as a small syntax tree that keeps details which a deserializer discards: duplicate keys,
//! the digits of numbers, and the difference between an array and an object.

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::problem::{Defect, Problem};

/// Maximum nesting depth of objects and arrays.
const DEPTH_LIMIT: usize = 32;
/// Maximum number of duplicate keys reported.
const MAX_DUPLICATES_REPORTED: usize = 20;
/// Maximum number of members reported that nobody reads.
const MAX_UNREAD_REPORTED: usize = 20;
/// Maximum number of characters of a key in a report.
const MAX_KEY_CHARACTERS: usize = 40;

/// A JSON value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number's own text.
    Number(String),
    /// A string, unescaped.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object's members in the order written; keys are distinct.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a whole body and ignores a UTF-8 byte order mark; duplicate keys at any level are
    /// problems.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        Self::parse_at(&Place::Body, "body", body)
    }

    /// Parses the part `name` of a form in the same way.
    pub(super) fn parse_part(name: &str, text: &[u8]) -> Result<Self, Vec<Problem>> {
        Self::parse_at(&Place::Member(&Place::Body, name), name, text)
    }

    fn parse_at(place: &Place<'_>, name: &str, text: &[u8]) -> Result<Self, Vec<Problem>> {
        let whole = |defect| vec![Problem::new(name, defect)];
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let raw = json_of(text).map_err(whole)?;
        let mut duplicates = Vec::new();
        let tree = read(raw, place, 0, &mut duplicates).map_err(whole)?;
        if duplicates.is_empty() {
            Ok(tree)
        } else {
            Err(duplicates)
        }
    }

    /// The paths of the first members, at any level of objects, that are not among `known`; not of what these have.
    pub(super) fn members_besides(&self, known: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        self.find_besides(known, &Place::Body, &mut found);
        found
    }

    fn find_besides(&self, known: &[&str], place: &Place<'_>, found: &mut Vec<String>) {
        let Self::Object(members) = self else {
            return;
        };
        for (key, value) in members {
            let here = Place::Member(place, key);
            let path = here.to_string();
            // A key with a dot looks like a path, and is none.
            if known.contains(&path.as_str()) && !key.contains('.') {
                value.find_besides(known, &here, found);
            } else if found.len() < MAX_UNREAD_REPORTED {
                found.push(path);
            }
        }
    }
}

/// Splits the array `name` of a whole body into its elements, each still a text: one that cannot be read is
/// no problem of the others. Duplicates of other members are ignored.
pub(super) fn elements_of<'t>(
    body: &'t [u8],
    name: &str,
) -> Result<Vec<&'t RawValue>, Vec<Problem>> {
    let problem = |field: &str, defect| Err(vec![Problem::new(field, defect)]);
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let raw = json_of(text).map_err(|defect| vec![Problem::new("body", defect)])?;
    let mut members = members_of(raw, "body")?
        .into_iter()
        .filter(|(key, _)| key == name);
    let Some((_, array)) = members.next().filter(|(_, value)| value.get() != "null") else {
        return problem(name, Defect::Required);
    };
    if members.next().is_some() {
        return problem(name, Defect::Duplicate);
    }
    if !array.get().starts_with('[') {
        return problem(name, Defect::NotAnArray);
    }
    let elements = split::<Elements<'t>>(array.get());
    elements
        .map(|it| it.0)
        .or_else(|defect| problem(name, defect))
}

/// Splits the object `place` into its members, each still a text.
pub(super) fn members_of<'t>(
    raw: &'t RawValue,
    place: &str,
) -> Result<Vec<(String, &'t RawValue)>, Vec<Problem>> {
    let problem = |defect| vec![Problem::new(place, defect)];
    if !raw.get().starts_with('{') {
        return Err(problem(Defect::NotAnObject));
    }
    let members = split::<Members<'t>>(raw.get());
    members.map(|it| it.0).map_err(problem)
}

/// The one JSON value of a text, not yet read, or where the text stops being one.
fn json_of(text: &[u8]) -> Result<&RawValue, Defect> {
    let text = std::str::from_utf8(text).map_err(|_| Defect::NotUtf8)?;
    if text.trim().is_empty() {
        return Err(Defect::Empty);
    }
    serde_json::from_str(text).map_err(|error| {
        let line = text.split('\n').nth(error.line().saturating_sub(1));
        let bytes = line.unwrap_or_default().char_indices();
        Defect::NotJson {
            line: error.line(),
            // The parser counts bytes.
            column: bytes
                .take_while(|(byte, _)| *byte < error.column())
                .count()
                .max(1),
        }
    })
}

fn read(
    raw: &RawValue,
    place: &Place<'_>,
    depth: usize,
    duplicates: &mut Vec<Problem>,
) -> Result<Json, Defect> {
    let text = raw.get();
    let inner = depth.saturating_add(1);
    if inner > DEPTH_LIMIT && text.starts_with(['{', '[']) {
        return Err(Defect::TooDeep);
    }
    match text.as_bytes().first() {
        Some(b'{') => {
            let members = split::<Members<'_>>(text)?.0;
            let mut seen = HashSet::with_capacity(members.len());
            let mut object = Vec::with_capacity(members.len());
            for (key, value) in members {
                let here = Place::Member(place, &key);
                let value = read(value, &here, inner, duplicates)?;
                if !seen.insert(key.clone()) {
                    // The answer must not grow with the request; the first duplicates are enough.
                    if duplicates.len() < MAX_DUPLICATES_REPORTED {
                        duplicates.push(Problem::new(here.to_string(), Defect::Duplicate));
                    }
                    continue;
                }
                object.push((key, value));
            }
            Ok(Json::Object(object))
        }
        Some(b'[') => {
            let elements = split::<Elements<'_>>(text)?.0;
            let array = elements
                .into_iter()
                .map(|element| read(element, place, inner, duplicates));
            array.collect::<Result<_, _>>().map(Json::Array)
        }
        Some(b'"') => serde_json::from_str(text)
            .map(Json::Text)
            .map_err(|_| Defect::LoneSurrogate),
        Some(b't') => Ok(Json::Bool(true)),
        Some(b'f') => Ok(Json::Bool(false)),
        Some(b'n') => Ok(Json::Null),
        Some(_) => Ok(Json::Number(text.to_owned())),
        None => Err(Defect::Empty),
    }
}

/// The path of a value; formatted only when a problem is reported.
enum Place<'a> {
    Body,
    Member(&'a Place<'a>, &'a str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => Ok(()),
            Self::Member(Self::Body, key) => write_key(f, key),
            Self::Member(outer, key) => {
                write!(f, "{outer}.")?;
                write_key(f, key)
            }
        }
    }
}

/// A key comes from the caller and may have any length.
fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    match key.char_indices().nth(MAX_KEY_CHARACTERS) {
        None => f.write_str(key),
        Some((end, _)) => write!(f, "{}…", key.get(..end).unwrap_or_default()),
    }
}

/// Parses one level of valid JSON and leaves the values unparsed: only a key can be unreadable.
fn split<'de, T: serde::Deserialize<'de>>(text: &'de str) -> Result<T, Defect> {
    serde_json::from_str(text).map_err(|_| Defect::LoneSurrogate)
}

struct Members<'de>(Vec<(String, &'de RawValue)>);
struct Elements<'de>(Vec<&'de RawValue>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'de> serde::Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementsVisitor;
        impl<'de> Visitor<'de> for ElementsVisitor {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Elements<'de>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(ElementsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{Defect, Json, Problem};

    fn problems(body: &str) -> Vec<Problem> {
        Json::parse(body.as_bytes()).unwrap_err()
    }

    #[test]
    fn numbers_keep_their_own_digits() {
        let tree = Json::parse(br#"{"a": 1e400, "b": -0.10}"#).unwrap();
        let number = |text: &str| Json::Number(text.to_owned());
        let expected = vec![
            ("a".to_owned(), number("1e400")),
            ("b".to_owned(), number("-0.10")),
        ];
        assert_eq!(tree, Json::Object(expected));
    }

    #[test]
    fn duplicate_keys_are_found_at_any_level_and_through_escapes() {
        assert_eq!(
            problems(r#"{"x": {"amount": 1, "\u0061mount": 2}, "x": 3}"#),
            [
                Problem::new("x.amount", Defect::Duplicate),
                Problem::new("x", Defect::Duplicate)
            ]
        );
    }

    #[test]
    fn members_that_nobody_reads_are_found_by_their_paths() {
        let besides = |body: &str| {
            let tree = Json::parse(body.as_bytes()).unwrap();
            tree.members_besides(&["a", "b", "b.c"])
        };
        assert!(besides(r#"{"a": 1, "b": {"c": {}}}"#).is_empty());
        assert_eq!(
            besides(r#"{"A": 1, "b": {"d": {"e": 1}, "c": 1}, "b.c": 2, "c": null}"#),
            ["A", "b.d", "b.c", "c"]
        );
        assert!(besides("[{\"x\": 1}]").is_empty());
        let many: Vec<_> = (0..30).map(|it| format!("\"x{it}\": 1")).collect();
        assert_eq!(besides(&format!("{{{}}}", many.join(","))).len(), 20);
        let long = "é".repeat(41);
        let cut = format!("{}…", "é".repeat(40));
        assert_eq!(besides(&format!("{{\"{long}\": 1}}")), [cut]);
    }

    #[test]
    fn malformed_json_is_one_problem_of_the_body_with_its_place() {
        let at = |line, column| Defect::NotJson { line, column };
        for (body, defect) in [
            ("", Defect::Empty),
            (" \r\n", Defect::Empty),
            ("{", at(1, 1)),
            ("{}x", at(1, 3)),
            ("nul", at(1, 3)),
            ("{\"a\":\"\u{1}\"}", at(1, 6)),
            ("[1,]", at(1, 4)),
            ("[\n  \"é\" 1\n]", at(2, 7)),
            ("+1", at(1, 1)),
            ("NaN", at(1, 1)),
            (r#"{"a": "\ud800"}"#, Defect::LoneSurrogate),
            (r#"{"\ud800": 1}"#, Defect::LoneSurrogate),
        ] {
            assert_eq!(problems(body), [Problem::new("body", defect)], "{body:?}");
        }
        let latin_1 = Json::parse(b"{\"a\":\"\xE9\"}").unwrap_err();
        assert_eq!(latin_1, [Problem::new("body", Defect::NotUtf8)]);
    }

    #[test]
    fn a_byte_order_mark_is_ignored() {
        assert_eq!(Json::parse(b"\xEF\xBB\xBFnull"), Ok(Json::Null));
    }

    #[test]
    fn nesting_ends_at_its_limit_however_deep_it_goes() {
        for depth in [33, 100_000] {
            let body = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let found = problems(&body);
            assert_eq!(found, [Problem::new("body", Defect::TooDeep)], "{depth}");
        }
        let body = format!("{}{}", "[".repeat(32), "]".repeat(32));
        assert!(Json::parse(body.as_bytes()).is_ok());
    }

    #[test]
    fn the_report_of_duplicates_does_not_grow_with_the_request() {
        let body = format!(
            r#"{{"{}":{{{}"x":1}}}}"#,
            "k".repeat(100_000),
            r#""a":1,"#.repeat(9_000)
        );
        let found = problems(&body);
        assert_eq!(found.len(), 20);
        assert_eq!(found[0].field, format!("{}….a", "k".repeat(40)));
    }
}
