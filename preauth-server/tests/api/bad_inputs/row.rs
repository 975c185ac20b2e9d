//! A row of the tables: the request, and the expected answer.

use std::collections::BTreeMap;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde::Deserialize;
use serde_json::{Value, json};
use test_support::{Sandbox, due_date, offer_body};

/// The boundary between the parts of a form.
const BOUNDARY: &str = "b-o-u-n-d";

/// The base of relative targets.
const BASE: &str = "/api/integration/v1";

/// A table of rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) row: Vec<Row>,
}

/// See the README beside the tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) answer: String,
    request: Option<String>,
    key: Option<String>,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    body: Option<String>,
    parts: Option<Vec<String>>,
    file: Option<String>,
    before: Option<String>,
    after: Option<String>,
    raw: Option<String>,
    pub(super) holds: Option<String>,
}

impl Row {
    /// The request, byte for byte; `number` is the invoice's.
    pub(super) fn bytes(&self, sandbox: &Sandbox, number: &str) -> Vec<u8> {
        let texts = Texts {
            sandbox,
            good: self.good(sandbox, number),
        };
        if let Some(raw) = &self.raw {
            return texts.expand(raw);
        }
        let body = match (&self.body, &self.request) {
            _ if self.is_form() => Some(self.form(&texts)),
            (Some(body), _) => Some(texts.expand(body)),
            (None, None) => Some(texts.expand(&texts.good)),
            (None, Some(_)) => None,
        };
        let mut bytes = texts.expand(&self.head(sandbox, body.as_deref()));
        bytes.extend(body.unwrap_or_default());
        bytes
    }

    fn is_form(&self) -> bool {
        self.parts.is_some() || self.file.is_some()
    }

    /// The parts with their boundaries, each a head, an empty line, and its content.
    fn form(&self, texts: &Texts<'_>) -> Vec<u8> {
        let good = ["supplier", "invoice"].map(|name| {
            format!("Content-Disposition: form-data; name=\"{name}\"\n\n<<good /{name}>>")
        });
        let parts = self.parts.as_deref().unwrap_or(&good).iter();
        let mut bytes = texts.expand(self.before.as_deref().unwrap_or_default());
        for part in parts.chain(&self.file) {
            let (head, content) = part.split_once("\n\n").unwrap_or((part, ""));
            let head = format!("--{BOUNDARY}\r\n{}\r\n\r\n", head.replace('\n', "\r\n"));
            bytes.extend(texts.expand(&head));
            bytes.extend(texts.expand(content));
            bytes.extend(b"\r\n");
        }
        let end = format!("--{BOUNDARY}--\r\n");
        bytes.extend(texts.expand(self.after.as_deref().unwrap_or(&end)));
        bytes
    }

    /// Whether the request has a valid key of the company, so that the answer has the headers of
    /// its rate window.
    pub(super) fn has_valid_key(&self) -> bool {
        let key = self.key.as_deref().unwrap_or("apiKey");
        self.raw.is_none()
            && key.ends_with("piKey")
            && !["expiredApiKey", "revokedApiKey"].contains(&key)
    }

    fn head(&self, sandbox: &Sandbox, body: Option<&[u8]>) -> String {
        let request = self.request.clone();
        let request = request
            .unwrap_or_else(|| format!("POST {}", PRE_AUTHORIZATIONS.trim_start_matches(BASE)));
        let (method, target) = request.split_once(' ').unwrap();
        let mut lines = vec!["Host: x".to_owned()];
        match self.key.as_deref().unwrap_or("apiKey") {
            "none" => {}
            key => lines.push(format!("Authorization: Bearer {}", sandbox.text(key))),
        }
        if let Some(body) = body {
            lines.push(if self.is_form() {
                format!("Content-Type: multipart/form-data; boundary={BOUNDARY}")
            } else {
                "Content-Type: application/json".to_owned()
            });
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let replaced: Vec<_> = self
            .headers
            .iter()
            .chain(&self.without)
            .map(|line| name(line))
            .collect();
        lines.retain(|line| !replaced.contains(&name(line)));
        lines.extend(self.headers.iter().cloned());
        format!(
            "{method} {BASE}{target} HTTP/1.1\r\n{}\r\n\r\n",
            lines.join("\r\n")
        )
    }

    /// An acceptable body, with the row's changes.
    fn good(&self, sandbox: &Sandbox, number: &str) -> String {
        let mut body = offer_body(sandbox, number);
        for (index, (pointer, text)) in self.set.iter().enumerate() {
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            let parent: &mut Value = body.pointer_mut(parent).unwrap();
            if text == "absent" {
                parent.as_object_mut().unwrap().remove(member);
            } else {
                parent[member] = json!(format!("@{index}@"));
            }
        }
        let texts = self.set.values().enumerate();
        texts.fold(body.to_string(), |body, (index, text)| {
            body.replace(&format!("\"@{index}@\""), text)
        })
    }
}

fn name(line: &str) -> String {
    line.split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// The values of the placeholders.
struct Texts<'a> {
    sandbox: &'a Sandbox,
    good: String,
}

impl Texts<'_> {
    /// `text` with every `<<…>>` replaced.
    fn expand(&self, text: &str) -> Vec<u8> {
        let mut pieces = text.split("<<");
        let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
        for piece in pieces {
            let (mark, rest) = piece.split_once(">>").unwrap_or_else(|| panic!("{text:?}"));
            self.put(mark, &mut bytes);
            bytes.extend(rest.as_bytes());
        }
        bytes
    }

    fn put(&self, mark: &str, bytes: &mut Vec<u8>) {
        let (kind, argument) = mark.split_once(' ').unwrap_or((mark, ""));
        match kind {
            "good" if argument.is_empty() => bytes.extend(self.expand(&self.good)),
            "good" => {
                let good: Value = serde_json::from_str(&self.good).unwrap();
                let value = good.pointer(argument).unwrap().to_string();
                bytes.extend(self.expand(&value));
            }
            "utf-16" => bytes.extend(argument.encode_utf16().flat_map(u16::to_le_bytes)),
            "ready" => bytes.extend(self.sandbox.text(argument).as_bytes()),
            "day" => bytes.extend(due_date(argument.parse().unwrap()).to_string().as_bytes()),
            "byte" => bytes.push(u8::from_str_radix(argument, 16).unwrap()),
            "fill" => bytes.resize(argument.parse().unwrap(), b' '),
            "repeat" => {
                let (text, times) = argument.rsplit_once(" x ").unwrap();
                bytes.extend(text.repeat(times.parse().unwrap()).as_bytes());
            }
            _ => panic!("<<{mark}>> stands for nothing"),
        }
    }
}
