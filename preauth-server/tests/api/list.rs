//! GET /pre-authorizations: order, pages, filters, and refused queries.

use preauth_client::ListFilter;
use preauth_client::value::{ExternalReference, Status};
use preauth_client::wire::path::{PRE_AUTHORIZATIONS, cancel};
use serde_json::json;
use test_support::{Backend, Sandbox, offer_body, on_each_database, with};

on_each_database! {
    pages_show_everything_once_most_recent_first,
    every_size_of_page_walks_through_a_frozen_set_once,
}

// Contract: list/data list/pagination list/pagination.page list/pagination.limit list-call/order
// Contract: list-call/limit list-call/200 limit/page-size version/history-first-step
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

/// The ids of all pages of `limit`, in their order.
async fn walk(sandbox: &Sandbox, filter: &str, limit: usize) -> Vec<i64> {
    let caller = sandbox.caller("apiKey");
    let (mut ids, mut page) = (Vec::new(), 1);
    loop {
        let path = format!("{PRE_AUTHORIZATIONS}?limit={limit}&page={page}{filter}");
        let list = caller.get(&path).await.json();
        let found = list["data"].as_array().unwrap();
        let met = found
            .iter()
            .map(|operation| operation["id"].as_i64().unwrap());
        ids.extend(met);
        let pages = list["pagination"]["totalPages"].as_u64().unwrap();
        let is_full = found.len() == limit;
        assert!(
            is_full || page >= pages,
            "page {page} of {pages}: {}",
            found.len()
        );
        if page >= pages {
            assert_eq!(list["pagination"]["total"], ids.len());
            return ids;
        }
        page += 1;
    }
}

// Contract: list/data list/pagination.total list/pagination.totalPages
async fn every_size_of_page_walks_through_a_frozen_set_once(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let mut offered = Vec::new();
    for number in 0..23 {
        let body = offer_body(&sandbox, &format!("NF-{number}"));
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await.json();
        offered.insert(0, created["id"].as_i64().unwrap());
    }
    let (cancelled, open): (Vec<_>, Vec<_>) = offered.iter().partition(|id| **id % 3 == 0);
    for id in &cancelled {
        let id = preauth_client::value::OperationId::new(*id).unwrap();
        assert_eq!(caller.post(&cancel(id)).await.status, 201);
    }
    for limit in [1, 7, 23, 100] {
        assert_eq!(walk(&sandbox, "", limit).await, offered, "{limit}");
        let filter = "&status=IN_PRE_AUTH";
        assert_eq!(walk(&sandbox, filter, limit).await, open, "{limit}");
        let filter = "&status=REPROVED&status=CONCLUDED";
        assert_eq!(walk(&sandbox, filter, limit).await, cancelled, "{limit}");
    }
}
