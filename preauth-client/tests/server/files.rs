use preauth_client::{FileType, InvoiceFile};
use preauth_server::testing::TestServer;
use serde_json::Value;

use crate::{client, offer};

/// The name of an operation's file, as the platform stores it.
async fn stored_name(server: &TestServer, operation: i64) -> String {
    let url = server.platform_url();
    let url = format!("{url}/api/platform/v1/operations/{operation}");
    let request = reqwest::Client::new().get(url);
    let request = request.bearer_auth(&server.credentials().platform_token);
    let answer = request.send().await.unwrap().bytes().await.unwrap();
    let operation: Value = serde_json::from_slice(&answer).unwrap();
    let name = operation.pointer("/invoiceFile/name").unwrap();
    name.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_file_is_called_what_the_caller_calls_it() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let longest = "é".repeat(InvoiceFile::MAX_NAME_CHARS);
    let names = [
        "nota fiscal.pdf",
        "100%.pdf",
        "%22 %0D%0A %5C %25 %.pdf",
        r#""nota" 'fiscal'.pdf"#,
        r"C:\notas\\1.pdf",
        "\\",
        "\"",
        r#"\"; filename="b.pdf"#,
        "a;b=c&d,e.pdf",
        "não 🙂 中文.pdf",
        "../../etc/passwd",
        longest.as_str(),
    ];
    for (index, name) in names.into_iter().enumerate() {
        let file = InvoiceFile::from_bytes(name, FileType::Pdf, "%PDF-1.7 %%EOF").unwrap();
        let offer = offer(&server, &format!("NF-{index}")).file(file);
        let created = client.create(&offer).await.unwrap();
        assert_eq!(stored_name(&server, created.id.get()).await, name);
    }
}
