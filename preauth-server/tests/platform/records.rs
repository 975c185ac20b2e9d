//! The platform's records other than operations, in its answers.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, Sandbox, TestReceiver, on_each_database};

use crate::scene::{Scene, extension_body, text};

on_each_database! {
    an_extension_is_a_record_of_its_own,
    an_invoice_is_kept_as_it_was_received,
    new_records_need_parties_that_are_known,
    a_blocked_supplier_is_found_until_it_is_taken_off,
    all_failed_deliveries_are_resent,
}

/// The representation of a company in a record.
async fn party(scene: &Scene, name: &str, legal_name: &str) -> Value {
    let id = scene.company_of(name).await;
    json!({
        "companyId": id,
        "headOfficeId": id,
        "cnpj": scene.sandbox.text(name),
        "name": legal_name,
    })
}

/// The representation of the demo company and its supplier.
pub(crate) async fn parties(scene: &Scene) -> (Value, Value) {
    let payer = party(scene, "companyCnpj", "Construtora Exemplo S.A.").await;
    (
        payer,
        party(scene, "supplierCnpj", "Fornecedor Exemplo Ltda.").await,
    )
}

async fn an_extension_is_a_record_of_its_own(backend: Backend) {
    let scene = Scene::new(backend).await;
    let operation = scene.offer("NF-1").await;
    scene
        .play(operation, &["request", "approve", "release", "pay", "bill"])
        .await;
    let list = format!("/operations/{operation}/extensions");
    let made = scene.make(&list, extension_body()).await;
    let mut expected = extension_body();
    expected["id"] = made["id"].clone();
    expected["operationId"] = json!(operation);
    expected["status"] = json!("OPEN");
    assert_eq!(made, expected);
    let path = format!("/extensions/{}", made["id"]);
    assert_eq!(scene.get(&path).await, expected);
    assert_eq!(scene.get(&list).await["data"], json!([expected]));
    let cancelled = scene
        .send(Method::POST, &format!("{path}/cancel"), None)
        .await;
    expected["status"] = json!("CANCELED");
    assert_eq!(
        (cancelled.status, cancelled.json()),
        (200, expected.clone())
    );
    for action in ["cancel", "conclude"] {
        let again = scene
            .send(Method::POST, &format!("{path}/{action}"), None)
            .await;
        assert_eq!(
            again.refusal(),
            (409, "ANTICIPATION_INVALID_TRANSITION".to_owned())
        );
    }
    let second = scene.make(&list, extension_body()).await;
    let concluded = format!("/extensions/{}/conclude", second["id"]);
    let concluded = scene.send(Method::POST, &concluded, None).await;
    assert_eq!(concluded.json()["status"], "CONCLUDED");
    let listed = scene.get(&format!("{list}?limit=1&page=2")).await;
    assert_eq!(listed["data"], json!([expected]));
    assert_eq!(
        listed["pagination"],
        json!({"page": 2, "limit": 1, "total": 2, "totalPages": 2})
    );
}

async fn an_invoice_is_kept_as_it_was_received(backend: Backend) {
    let scene = Scene::new(backend).await;
    let mut body = scene.advance_body(" NF-1 ");
    let first = scene.make("/invoices", body.clone()).await;
    let (payer, supplier) = parties(&scene).await;
    body["invoice"]["number"] = json!("NF-1");
    let expected = json!({
        "id": first["id"],
        "payer": payer,
        "supplier": supplier,
        "invoice": body["invoice"],
        "createdAt": first["createdAt"],
    });
    assert_eq!(first, expected);
    assert_eq!(
        scene.get(&format!("/invoices/{}", first["id"])).await,
        expected
    );
    // The same invoice may be received twice: received invoices are not unique.
    let second = scene.make("/invoices", body).await;
    assert_eq!(scene.get("/invoices").await["data"], json!([second, first]));
    let listed = scene.get("/invoices?page=2&limit=1").await;
    assert_eq!(listed["data"], json!([first]));
    assert_eq!(listed["pagination"]["total"], 2);
}

// Contract: error-code-of-ours/RESOURCE_CONFLICT
async fn new_records_need_parties_that_are_known(backend: Backend) {
    let scene = Scene::new(backend).await;
    let supplier = scene.company_of("supplierCnpj").await;
    let unknown = (404, "RESOURCE_NOT_FOUND".to_owned());
    let conflict = (409, "RESOURCE_CONFLICT".to_owned());
    for path in ["/operations", "/invoices", "/payment-orders"] {
        for (field, value, expected) in [
            (
                "payerCompanyId",
                "018f2f3a-0000-7000-8000-000000000001",
                &unknown,
            ),
            ("payerCompanyId", &supplier, &conflict),
            ("supplierCnpj", "45723001000100", &unknown),
        ] {
            let mut body = scene.advance_body("NF-1");
            body["amount"] = json!(10);
            body[field] = json!(value);
            let answer = scene.post(path, body).await;
            assert_eq!(answer.refusal(), *expected, "{path} {field} {value}");
        }
    }
    let deliveries = format!("/companies/{}/deliveries", scene.company);
    assert_eq!(scene.get(&deliveries).await["pagination"]["total"], 0);
}

async fn a_blocked_supplier_is_found_until_it_is_taken_off(backend: Backend) {
    let scene = Scene::new(backend).await;
    let cnpj = scene.sandbox.text("supplierCnpj").to_owned();
    let path = format!("/companies/{}/blocked-suppliers/{cnpj}", scene.company);
    let missing = (404, "RESOURCE_NOT_FOUND".to_owned());
    let answer = scene.send(Method::GET, &path, None).await;
    assert_eq!(answer.refusal(), missing);
    let blocked = scene.send(Method::PUT, &path, None).await;
    assert_eq!(
        (blocked.status, blocked.json()),
        (200, json!({"cnpj": cnpj}))
    );
    assert_eq!(scene.get(&path).await, json!({"cnpj": cnpj}));
    assert_eq!(scene.send(Method::DELETE, &path, None).await.status, 204);
    for method in [Method::GET, Method::DELETE] {
        let answer = scene.send(method, &path, None).await;
        assert_eq!(answer.refusal(), missing);
    }
}

/// Maximum delay between the attempts of a delivery, in seconds.
const SCHEDULE_SECONDS: [u64; 10] = [
    6, 66, 330, 1_980, 7_920, 19_800, 39_600, 55_440, 95_040, 95_040,
];

// Contract: envelope/id endpoint/history
async fn all_failed_deliveries_are_resent(backend: Backend) {
    let attempts = SCHEDULE_SECONDS.len() + 1;
    let receiver = TestReceiver::start_failing(3 * u64::try_from(attempts).unwrap()).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    let scene = Scene::of(sandbox, receiver).await;
    let since = text(&scene.make("/invoices", scene.advance_body("NF-0")).await["createdAt"]);
    for number in ["NF-1", "NF-2"] {
        scene.advance(number).await;
    }
    let path = format!("/companies/{}/deliveries", scene.company);
    for (passed, seconds) in SCHEDULE_SECONDS.iter().enumerate() {
        attempted(&scene, &path, 3 * (passed + 1)).await;
        let body = json!({"advanceSeconds": seconds});
        assert_eq!(scene.post("/sandbox/clock", body).await.status, 200);
    }
    attempted(&scene, &path, 3 * attempts).await;
    let failed = scene.get(&format!("{path}?status=FAILED")).await;
    assert_eq!(failed["pagination"]["total"], 3);
    let later = json!({"since": "2999-01-01T00:00:00Z"});
    let none = scene.post(&format!("{path}/resend"), later).await;
    assert_eq!((none.status, none.json()), (200, json!({"count": 0})));
    let all = scene
        .post(&format!("{path}/resend"), json!({"since": since}))
        .await;
    assert_eq!((all.status, all.json()), (200, json!({"count": 3})));
    attempted(&scene, &path, 3 * attempts + 3).await;
    let delivered = scene.get(&format!("{path}?status=DELIVERED")).await;
    for delivery in delivered["data"].as_array().unwrap() {
        let last = delivery["attempts"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["number"], &last["trigger"]),
            (&json!(12), &json!("RESEND"))
        );
    }
    assert_eq!(delivered["pagination"]["total"], 3);
    let again = scene
        .post(&format!("{path}/resend"), json!({"since": since}))
        .await;
    assert_eq!(again.json(), json!({"count": 0}));
    let branch = scene.company_of("branchCnpj").await;
    let elsewhere = format!("/companies/{branch}/deliveries/resend");
    let elsewhere = scene.post(&elsewhere, json!({"since": since})).await;
    assert_eq!(elsewhere.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
}

/// Waits until all deliveries together have `count` recorded attempts.
async fn attempted(scene: &Scene, path: &str, count: usize) {
    let wait = async {
        loop {
            let listed = scene.get(path).await;
            let deliveries = listed["data"].as_array().unwrap();
            let of = |delivery: &Value| delivery["attempts"].as_array().unwrap().len();
            if deliveries.iter().map(of).sum::<usize>() >= count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), wait).await;
    waited.unwrap_or_else(|_| panic!("{count} attempts are not made"));
}
