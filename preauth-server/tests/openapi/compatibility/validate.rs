//! Compares two descriptions. A change that breaks a caller of the first is a breach; prose is not
//! compared, except where only prose defines a status or a code.

use serde_json::{Value, json};

use crate::description::members;

/// Who writes a value, and so who is affected when its schema changes.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Caller,
    Service,
}

/// Members of a schema that are compared separately, or that no program depends on.
const NOT_COMPARED_AS_THEY_ARE: [&str; 7] = [
    "$ref",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "x-enum-values",
];

/// Rules of requests that held from the beginning, but were described later; the test
/// `the_description_allows_what_the_api_accepts` holds them against the API.
const DESCRIBED_LATER: [(&str, &str); 9] = [
    (".externalReference", "pattern"),
    (".invoice.number", "pattern"),
    (".invoice.withheldTaxAmount", "maximum"),
    (".supplier.cnpj", "pattern"),
    (".supplier.contactName", "pattern"),
    (".supplier.email", "pattern"),
    (".supplier.name", "pattern"),
    (".supplier.phone", "pattern"),
    ("parameter \"externalReference\"", "pattern"),
];

/// Changes in `next` that break callers of the `released` API.
pub(super) fn breaches(released: &Value, next: &Value) -> Vec<String> {
    let mut comparison = Comparison {
        released,
        next,
        found: Vec::new(),
    };
    comparison.operations("paths", Writer::Caller);
    comparison.operations("webhooks", Writer::Service);
    comparison.unreferred_schemas();
    comparison.found
}

struct Comparison<'a> {
    released: &'a Value,
    next: &'a Value,
    found: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn breach(&mut self, place: &str, what: &str) {
        self.found.push(format!("{place}: {what}"));
    }

    /// The target of the references, in each document.
    fn resolve(&self, was: &'a Value, is: &'a Value) -> (&'a Value, &'a Value) {
        let follow = |document: &'a Value, value: &'a Value| match value["$ref"].as_str() {
            Some(target) => document.pointer(&target[1..]).unwrap(),
            None => value,
        };
        (follow(self.released, was), follow(self.next, is))
    }

    /// A member that must not be removed.
    fn kept(&mut self, place: &str, is: &'a Value, name: &str) -> Option<&'a Value> {
        let found = is.get(name);
        if found.is_none() {
            self.breach(place, "was removed");
        }
        found
    }

    fn same(&mut self, place: &str, was: &Value, is: &Value) {
        if was != is {
            self.breach(place, &format!("was {was} and is {is}"));
        }
    }

    fn operations(&mut self, section: &str, writer: Writer) {
        for (path, was) in members(&self.released[section]) {
            for (method, was) in members(was) {
                let place = format!("{} {path}", method.to_uppercase());
                let is = &self.next[section][path];
                if let Some(is) = self.kept(&place, is, method) {
                    self.operation(&place, was, is, writer);
                }
            }
        }
    }

    fn operation(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        for name in ["operationId", "security"] {
            self.same(&format!("{place}: {name}"), &was[name], &is[name]);
        }
        self.parameters(place, &was["parameters"], &is["parameters"], writer);
        self.request_body(place, &was["requestBody"], &is["requestBody"], writer);
        for (status, was) in members(&was["responses"]) {
            let place = format!("{place}: {status}");
            if let Some(is) = self.kept(&place, &is["responses"], status) {
                let (was, is) = self.resolve(was, is);
                self.response(&place, was, is);
            }
        }
        for (status, _) in members(&is["responses"]) {
            if was["responses"][status].is_null() && !status.starts_with(['4', '5']) {
                self.breach(&format!("{place}: {status}"), "is another success");
            }
        }
    }

    fn parameters(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        let of = |value: &'a Value| value.as_array().into_iter().flatten();
        let is_same =
            |one: &Value, other: &Value| one["name"] == other["name"] && one["in"] == other["in"];
        for was in of(was) {
            let place = format!("{place}: parameter {}", was["name"]);
            let Some(is) = of(is).find(|is| is_same(was, is)) else {
                self.breach(&place, "was removed");
                continue;
            };
            match writer {
                Writer::Caller if was["required"] == false && is["required"] == true => {
                    self.breach(&place, "is required now");
                }
                Writer::Service if was["required"] == true && is["required"] == false => {
                    self.breach(&place, "may be absent now");
                }
                _ => {}
            }
            self.schema(&place, &was["schema"], &is["schema"], writer);
        }
        for is in of(is).filter(|is| is["required"] == true && writer == Writer::Caller) {
            if !of(was).any(|was| is_same(was, is)) {
                let place = format!("{place}: parameter {}", is["name"]);
                self.breach(&place, "is new and required");
            }
        }
    }

    fn request_body(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        if is["required"] == true && was["required"] != true {
            self.breach(place, "a body is required now");
        }
        self.contents(&format!("{place}: body"), was, is, writer);
    }

    fn response(&mut self, place: &str, was: &'a Value, is: &'a Value) {
        for (name, was) in members(&was["headers"]) {
            let place = format!("{place}: header {name}");
            if let Some(is) = self.kept(&place, &is["headers"], name) {
                let (was, is) = self.resolve(was, is);
                self.schema(&place, &was["schema"], &is["schema"], Writer::Service);
            }
        }
        if was["x-error-codes"].is_null() {
            let place = format!("{place}: what it means");
            self.same(&place, &was["description"], &is["description"]);
        } else {
            self.codes(place, was, is);
        }
        self.contents(place, was, is, Writer::Service);
    }

    /// Each line of the description defines one code.
    fn codes(&mut self, place: &str, was: &Value, is: &Value) {
        for code in strings(&was["x-error-codes"]) {
            let place = format!("{place}: {code}");
            if !strings(&is["x-error-codes"]).any(|each| each == code) {
                self.breach(&place, "was removed");
                continue;
            }
            let line = |response: &Value| {
                let text = response["description"].as_str().unwrap_or_default();
                let of_code = format!("- `{code}`: ");
                let mut lines = text.lines().filter_map(|line| line.strip_prefix(&of_code));
                Value::from(lines.next())
            };
            self.same(&format!("{place}: what it means"), &line(was), &line(is));
        }
    }

    fn contents(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        for (media_type, was) in members(&was["content"]) {
            let place = format!("{place}: {media_type}");
            if let Some(is) = self.kept(&place, &is["content"], media_type) {
                self.schema(&place, &was["schema"], &is["schema"], writer);
            }
        }
    }

    fn schema(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        let (was, is) = self.resolve(was, is);
        let names = members(was).chain(members(is)).map(|(name, _)| name);
        let mut names: Vec<_> = names
            .filter(|name| !NOT_COMPARED_AS_THEY_ARE.contains(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let described_later = || {
                let mut later = DESCRIBED_LATER.iter();
                was[name].is_null() && later.any(|it| place.ends_with(it.0) && name == it.1)
            };
            let breaks_nobody = writer == Writer::Caller
                && match name {
                    "type" => accepts_null_too(&was[name], &is[name]),
                    "minLength" => is[name].as_u64() <= was[name].as_u64(),
                    _ => described_later(),
                };
            if !breaks_nobody {
                self.same(&format!("{place}: {name}"), &was[name], &is[name]);
            }
        }
        for set in ["enum", "x-enum-values"] {
            for word in strings(&was[set]) {
                if !strings(&is[set]).any(|each| each == word) {
                    self.breach(place, &format!("{word} was removed"));
                }
            }
        }
        if !was["items"].is_null() {
            self.schema(&format!("{place}[]"), &was["items"], &is["items"], writer);
        }
        self.properties(place, was, is, writer);
    }

    fn properties(&mut self, place: &str, was: &'a Value, is: &'a Value, writer: Writer) {
        let requires = |schema: &Value, name: &str| {
            let mut required = strings(&schema["required"]);
            required.any(|each| each == name)
        };
        for (name, field) in members(&was["properties"]) {
            let place = format!("{place}.{name}");
            let Some(next) = self.kept(&place, &is["properties"], name) else {
                continue;
            };
            match (writer, requires(was, name), requires(is, name)) {
                (Writer::Caller, false, true) => self.breach(&place, "is required now"),
                (Writer::Service, true, false) => self.breach(&place, "may be absent now"),
                _ => {}
            }
            self.schema(&place, field, next, writer);
        }
        for (name, _) in members(&is["properties"]) {
            let is_new = was["properties"][name].is_null();
            if writer == Writer::Caller && is_new && requires(is, name) {
                self.breach(&format!("{place}.{name}"), "is new and required");
            }
        }
    }

    /// The schemas of events' data, which only descriptions refer to.
    fn unreferred_schemas(&mut self) {
        let text = self.released.to_string();
        for (name, was) in members(&self.released["components"]["schemas"]) {
            if text.contains(&format!("\"#/components/schemas/{name}\"")) {
                continue;
            }
            if let Some(is) = self.kept(name, &self.next["components"]["schemas"], name) {
                self.schema(name, was, is, Writer::Service);
            }
        }
    }
}

fn accepts_null_too(was: &Value, is: &Value) -> bool {
    was.is_string() && *is == json!([was, "null"])
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}
