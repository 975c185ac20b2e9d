//! The invoice file of an operation, saved from the command line.

use std::os::unix::fs::PermissionsExt;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use sha2::{Digest, Sha256};
use test_support::{Form, offer_body};

use crate::operator::{Operator, value};

const CONTENT: &[u8] = b"%PDF-1.7 \xff\x00\r\n nota";

impl Operator {
    async fn offer_with_a_file(&self) {
        let form = Form::of(&offer_body(&self.sandbox, "NF-1"));
        let form = form.file("../n\u{e3}o.pdf", "application/pdf", CONTENT);
        let erp = self.sandbox.caller("apiKey");
        let offered = erp.post_form(PRE_AUTHORIZATIONS, &[], form).await;
        assert_eq!(offered.status, 201, "{}", offered.text);
    }
}

#[tokio::test]
async fn an_invoice_file_is_saved_byte_for_byte_and_overwrites_nothing() {
    let operator = Operator::start().await;
    operator.offer_with_a_file().await;
    let path = operator.folder().join("nota.pdf");
    let save = ["operation", "file", "1", "--output", path.to_str().unwrap()];
    let saved = operator.stdout(&save);
    assert_eq!(std::fs::read(&path).unwrap(), CONTENT);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(value(&saved, "sent as"), "../n\u{e3}o.pdf");
    assert_eq!(value(&saved, "bytes"), CONTENT.len().to_string());
    let hash = hex::encode(Sha256::digest(CONTENT));
    assert_eq!(value(&saved, "SHA-256"), hash);
    let shown = operator.stdout(&["operation", "show", "1"]);
    assert_eq!(value(&shown, "invoice file"), "../n\u{e3}o.pdf");

    std::fs::write(&path, "mine").unwrap();
    operator
        .run(&save)
        .failed(2, &["is there already", "--output"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    let other = operator.folder().join("other.pdf");
    let save = [
        "operation",
        "file",
        "1",
        "--output",
        other.to_str().unwrap(),
    ];
    assert_eq!(operator.json(&save)["sha256"], hash);
    assert_eq!(std::fs::read(&other).unwrap(), CONTENT);
}

#[tokio::test]
async fn a_file_that_cannot_be_saved_leaves_nothing() {
    let operator = Operator::start().await;
    operator.offer("NF-0").await;
    let path = operator.folder().join("nota.pdf");
    let at = path.to_str().unwrap();
    let none = operator.run(&["operation", "file", "1", "--output", at]);
    none.failed(1, &["operation 1 came without an invoice file"]);
    let unknown = operator.run(&["operation", "file", "9", "--output", at]);
    unknown.failed(1, &["ANTICIPATION_NOT_FOUND"]);
    let nowhere = operator.folder().join("no/such/folder/nota.pdf");
    let nowhere = [
        "operation",
        "file",
        "1",
        "--output",
        nowhere.to_str().unwrap(),
    ];
    operator
        .run(&nowhere)
        .failed(1, &["operation 1 came without an invoice file"]);
    let left = std::fs::read_dir(operator.folder()).unwrap().count();
    assert_eq!(left, 0);
}
