//! Suppliers with endpoints of their own.

use preauth_core::value::Cnpj;
use reqwest::Method;
use serde_json::json;
use test_support::{Answer, RawCaller};

use crate::consistency::{Deliveries, retried};
use crate::crowd::Crowd;
use crate::overlap::nothing_overlaps;
use crate::scene::Scene;

/// A supplier whose endpoint is a member of a crowd.
pub(crate) struct Supplier {
    pub(crate) cnpj: String,
    pub(crate) deliveries: Deliveries,
    platform: RawCaller,
    endpoint: String,
}

/// Registers a supplier for every member of `crowd`, in its order.
pub(crate) async fn register(scene: &Scene, crowd: &Crowd) -> Vec<Supplier> {
    let mut suppliers = Vec::new();
    for member in 0..crowd.len() {
        let platform = scene.first().sandbox().platform();
        let cnpj = cnpj(member);
        let company =
            json!({"cnpj": cnpj, "name": format!("Fornecedor {member}"), "kind": "SUPPLIER"});
        let added = platform.post_json("/api/platform/v1/companies", &company);
        let added = added.await;
        assert_eq!(added.status, 201, "{}", added.text);
        let id = added.json()["id"].as_str().unwrap().to_owned();
        let supplier = Supplier {
            cnpj,
            deliveries: Deliveries::of_company(platform.clone(), &id),
            platform,
            endpoint: endpoint(&id),
        };
        crowd.expect(member, &supplier.hear_at(&crowd.url(member)).await);
        suppliers.push(supplier);
    }
    suppliers
}

/// The path of a company's endpoint.
pub(crate) fn endpoint(company: &str) -> String {
    format!("/api/platform/v1/companies/{company}/webhook-endpoint")
}

fn cnpj(member: usize) -> String {
    let body = 200_000_000_000 + member;
    let mut spelled = (0..100).map(|check| format!("{body:012}{check:02}"));
    spelled.find(|it| Cnpj::parse(it).is_ok()).unwrap()
}

impl Supplier {
    /// Registers the endpoint; returns its secret.
    async fn hear_at(&self, url: &str) -> String {
        let events = ["pre_authorization.created", "pre_authorization.revoked"];
        let body = json!({"url": url, "events": events}).to_string();
        let headers = [("content-type", "application/json")];
        let put = self
            .platform
            .send(Method::PUT, &self.endpoint, &headers, Some(body.into()));
        let put = put.await;
        assert_eq!(put.status, 201, "{}", put.text);
        put.json()["secret"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn pause(&self) {
        done(
            &self
                .platform
                .post(&format!("{}/pause", self.endpoint))
                .await,
        );
    }

    /// Queues a test event for the endpoint.
    pub(crate) async fn is_sent_a_test(&self) {
        done(&self.platform.post(&format!("{}/test", self.endpoint)).await);
    }

    /// Removes the endpoint.
    pub(crate) async fn remove_endpoint(&self) {
        let removed = self
            .platform
            .send(Method::DELETE, &self.endpoint, &[], None);
        let removed = removed.await;
        assert_eq!(removed.status, 204, "{}", removed.text);
    }

    pub(crate) async fn resume(&self) {
        done(
            &self
                .platform
                .post(&format!("{}/resume", self.endpoint))
                .await,
        );
    }
}

fn done(answer: &Answer) {
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// The events received at every member are those stored for its supplier, and all of them are
/// delivered.
pub(crate) async fn everything_arrived(suppliers: &[Supplier], crowd: &Crowd) {
    for (member, supplier) in suppliers.iter().enumerate() {
        supplier.deliveries.none_pending().await;
        let stored = supplier.deliveries.stored().await;
        let arrived = crowd.arrivals(member);
        assert!(
            stored.keys().eq(arrived.keys()),
            "member {member}: {} stored, {} arrived",
            stored.len(),
            arrived.len()
        );
    }
    assert_eq!(crowd.wrongs(), [""; 0], "wrongs arrived");
}

/// No attempts overlapped. Members that reset connections may get a request twice within one attempt.
pub(crate) async fn no_attempts_overlap(suppliers: &[Supplier], crowd: &Crowd) {
    for (member, supplier) in suppliers.iter().enumerate() {
        let stored = supplier.deliveries.stored().await;
        let arrived = crowd.arrivals(member);
        let arrived = arrived.iter().map(|(id, arrivals)| (id, &arrivals[..]));
        nothing_overlaps(arrived, &retried(&stored));
    }
}
