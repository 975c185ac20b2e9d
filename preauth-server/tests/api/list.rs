//! GET /pre-authorizations: order, pages, filters, and queries that are refused.

use preauth_client::ListFilter;
use preauth_client::value::{ExternalReference, Status};
use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use serde_json::json;

use crate::support::{Backend, Sandbox, offer_body, with};

on_each_database! {
    pages_show_everything_once_most_recent_first,
    queries_that_could_be_misread_are_refused,
}

async fn pages_show_everything_once_most_recent_first(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for number in 1..=5 {
        let body = offer_body(&sandbox, &format!("NF-{number}"));
        let body = with(
            body,
            "/externalReference",
            json!(format!("REF {}", number % 2)),
        );
        assert_eq!(
            caller.post_json(PRE_AUTHORIZATIONS, &body).await.status,
            201
        );
    }
    let client = sandbox.client();
    let mut seen = Vec::new();
    for page in 1..=3 {
        let list = client
            .list(&ListFilter::new().page(page).limit(2))
            .await
            .unwrap();
        assert_eq!((list.pagination.total, list.pagination.total_pages), (5, 3));
        seen.extend(list.data.iter().map(|operation| operation.id.get()));
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    let beyond = caller
        .get(&format!("{PRE_AUTHORIZATIONS}?page=1000000"))
        .await
        .json();
    assert_eq!(beyond["data"], json!([]));
    assert_eq!(
        beyond["pagination"],
        json!({"page": 1_000_000, "limit": 20, "total": 5, "totalPages": 1})
    );

    let odd = ListFilter::new().external_reference(ExternalReference::parse("REF 1").unwrap());
    assert_eq!(client.list(&odd).await.unwrap().pagination.total, 3);
    caller
        .post(&cancel(preauth_client::value::OperationId::new(3).unwrap()))
        .await;
    let reproved = client
        .list(&ListFilter::new().status(Status::Reproved))
        .await
        .unwrap();
    assert_eq!(reproved.data.len(), 1);
    let both = "status=REPROVED&status=IN_PRE_AUTH&status=REPROVED";
    let both = caller
        .get(&format!("{PRE_AUTHORIZATIONS}?{both}&foo=1"))
        .await
        .json();
    assert_eq!(both["pagination"]["total"], 5);
    for nothing in [
        "externalReference=REF",
        "externalReference=%27%20OR%20%271%27=%271",
        "status=TO_PAY",
    ] {
        let list = caller
            .get(&format!("{PRE_AUTHORIZATIONS}?{nothing}"))
            .await
            .json();
        assert_eq!(list["pagination"]["total"], 0, "{nothing}");
    }
}

async fn queries_that_could_be_misread_are_refused(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    for (query, field) in [
        ("status=IN_PRE_AUTH,TO_PAY", "status"),
        ("status=", "status"),
        ("status=in_pre_auth", "status"),
        ("status[]=TO_PAY", "status"),
        ("status%5B%5D=TO_PAY", "status"),
        ("page=0", "page"),
        ("page=1&page=2", "page"),
        ("page=%2B1", "page"),
        ("page=9223372036854775808", "page"),
        ("limit=101", "limit"),
        ("limit=0", "limit"),
        ("limit=", "limit"),
        ("externalReference=", "externalReference"),
        ("externalReference=%20", "externalReference"),
        ("externalReference=a%00b", "externalReference"),
        ("externalReference=%FF", "externalReference"),
        (
            "externalReference=a&externalReference=a",
            "externalReference",
        ),
    ] {
        let answer = caller.get(&format!("{PRE_AUTHORIZATIONS}?{query}")).await;
        assert_eq!(
            answer.refusal(),
            (400, "VALIDATION_ERROR".to_owned()),
            "{query}"
        );
        assert_eq!(answer.fields(), [field], "{query}");
    }
    let all = caller
        .get(&format!("{PRE_AUTHORIZATIONS}?page=0&limit=0&status=x"))
        .await;
    assert_eq!(all.fields(), ["status", "page", "limit"]);
    assert_eq!(all.json()["errors"].as_array().unwrap().len(), 3);
}
