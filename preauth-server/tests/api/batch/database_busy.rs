//! A batch whose items find that nothing can be written.

use preauth_client::wire::path::BATCH;
use serde_json::json;
use test_support::{Backend, Sandbox, with};

use super::{item, operations};
use crate::write_lock::WriteLock;

/// The second item of a new supplier waits for the first one, and is not tried any more.
pub(super) async fn items_that_cannot_be_written_are_refused_and_made_later(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let supplier = json!({
        "cnpj": "BRASIL00123400", "email": "fin@fornecedor.example.com",
        "name": "Fornecedor Novo Ltda.", "contactName": "Bruno Lima",
    });
    let of_a_new_supplier = |number| {
        with(
            item(&sandbox, number),
            "/preAuthorization/supplier",
            supplier.clone(),
        )
    };
    let batch = json!({"items": [item(&sandbox, 1), of_a_new_supplier(2), of_a_new_supplier(3)]});

    let lock = WriteLock::of_operations(&sandbox).await;
    let refused = caller.post_json(BATCH, &batch).await;
    assert_eq!(refused.status, 200, "{}", refused.text);
    let results = refused.json()["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 3);
    for result in &results {
        assert_eq!(result["status"], 503, "{result}");
        assert_eq!(result["errors"][0]["code"], "SERVICE_UNAVAILABLE");
    }
    assert_eq!(operations(&caller).await, 0);
    lock.let_go().await;

    let made = caller.post_json(BATCH, &batch).await.json();
    let results = made["results"].as_array().unwrap();
    let outcomes: Vec<_> = results
        .iter()
        .map(|it| (&it["status"], it["replayed"] == true))
        .collect();
    assert_eq!(outcomes, [(&json!(201), false); 3], "{made}");
    assert_eq!(operations(&caller).await, 3);
}
