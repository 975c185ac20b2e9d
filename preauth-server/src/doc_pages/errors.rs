//! `errors.md`: every error code with its status and its sentence.

use preauth_core::ErrorCode;

use crate::http::integration::{MAGIC_PREFIX, Magic};
use crate::http::{sentence, status};

use super::{check, table};

#[test]
fn the_page_of_errors_lists_every_code() {
    let magic: Vec<_> = Magic::codes().collect();
    let rows = ErrorCode::ALL.iter().map(|code| {
        let name = code.as_str();
        let provoked = if magic.contains(code) {
            format!("`{MAGIC_PREFIX}{name}`")
        } else {
            "platform API only".to_owned()
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
    let head = ["code", "status", "message", "in a sandbox"];
    check("errors.md", "error codes", &table(head, rows));
}
