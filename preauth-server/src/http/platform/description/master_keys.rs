//! The keys that encrypt signing secrets.

use crate::http::openapi::described::Described;
use crate::http::platform::sections::MASTER_KEYS;

use super::{at, schemas};

pub(super) fn all() -> [Described; 2] {
    let described = |method, path, operation, summary| {
        Described::new(method, at(path), MASTER_KEYS.name, operation, summary)
    };
    [
        described(
            "get",
            "master-keys",
            "getMasterKeys",
            "Get which key encrypts what",
        )
        .note("A key may be taken from the server's file once no secret is left under it.")
        .answers(200, "The keys.", schemas::named("MasterKeys")),
        described(
            "post",
            "master-keys/reencrypt",
            "reencryptSecrets",
            "Encrypt every signing secret anew under the active key",
        )
        .note(
            "Deliveries go on meanwhile. Repeat it after an interruption: what is done stays done.",
        )
        .answers(200, "What was done.", schemas::named("Reencrypted")),
    ]
}
