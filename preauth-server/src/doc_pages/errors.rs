//! `errors.md`, in both languages: every error code with its status and its sentence.

use preauth_core::ErrorCode;

use crate::http::integration::{MAGIC_PREFIX, Magic};
use crate::http::{sentence, status};

use super::{check, table};

#[test]
fn the_page_of_errors_lists_every_code() {
    let head = ["code", "status", "message", "in a sandbox"];
    let text = list(head, "platform API only");
    check("errors.md", "error codes", &text);

    let head = ["código", "status", "mensagem", "no sandbox"];
    let text = list(head, "só na API da plataforma");
    check("errors.pt.md", "error codes", &text);
}

fn list(head: [&str; 4], elsewhere: &str) -> String {
    let magic: Vec<_> = Magic::codes().collect();
    let rows = ErrorCode::ALL.iter().map(|code| {
        let name = code.as_str();
        let provoked = if magic.contains(code) {
            format!("`{MAGIC_PREFIX}{name}`")
        } else {
            elsewhere.to_owned()
        };
        // The guides link to it.
        let anchor = name.to_ascii_lowercase();
        [
            format!("`{name}`<a id=\"{anchor}\"></a>"),
            status(*code).to_string(),
            sentence(*code).to_owned(),
            provoked,
        ]
    });
    table(head, rows)
}
