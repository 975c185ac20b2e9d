//! Extensions are found by their own id.

use preauth_core::operation::{Extension, ExtensionStatus};
use preauth_core::port::{ExtensionRecord, Store, Write};
use preauth_core::value::{DueDate, EventType, Money};

use crate::given::{commit, given};

#[tokio::test]
async fn an_extension_is_found_with_its_operation_and_its_newest_status() {
    let (store, mut operation) = given().await;
    let id = store.reserve_extension_id().unwrap();
    assert_ne!(store.reserve_extension_id(), Some(id));
    assert_eq!(store.extension(id), None);
    let extension = Extension {
        id,
        new_due_date: DueDate::parse("2027-03-20").unwrap(),
        total_amount: Money::from_cents(1).unwrap(),
    };
    let steps = [
        (
            ExtensionStatus::Open,
            EventType::AnticipationExtensionCreated,
        ),
        (
            ExtensionStatus::Canceled,
            EventType::AnticipationExtensionCanceled,
        ),
    ];
    for (status, event_type) in steps {
        operation.version = operation.version.next();
        let record = ExtensionRecord { extension, status };
        let write = Write::Operation {
            operation: Box::new(operation.clone()),
            extension: Some(record),
        };
        store.commit(commit(write, event_type)).await.unwrap();
        assert_eq!(store.extension(id), Some((operation.id, record)));
    }
}
