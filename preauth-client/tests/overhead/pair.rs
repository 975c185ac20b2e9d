//! The same calls twice: by the client, and by the HTTP library alone.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use preauth_client::value::{IdempotencyKey, Money, OperationId};
use preauth_client::wire::{
    CreateInvoice, CreatePreAuthorization, CreateSupplier, PreAuthorization,
};
use preauth_client::{Client, NewPreAuthorization};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use tokio::runtime::{Builder, Runtime};

const KEY: &str = "service_sk_test";
/// The client's own, so that both requests have the same bytes.
const USER_AGENT: &str = concat!("preauth-client/", env!("CARGO_PKG_VERSION"));
const COLLECTION: &str = "/api/integration/v1/pre-authorizations";
const ANSWER: &str = concat!(
    r#"{"id":1042,"status":"IN_PRE_AUTH","externalReference":"PEDIDO-1","#,
    r#""payer":{"cnpj":"11222333000181","name":"Construtora Exemplo S.A."},"#,
    r#""supplier":{"cnpj":"11444777000161","name":"Fornecedor Exemplo Ltda."},"#,
    r#""invoice":{"amount":12500.5,"dueDate":"2027-01-20","number":"NF-1","withheldTaxAmount":0},"#,
    r#""expiresAt":"2026-12-21T13:09:47.549Z","createdAt":"2026-11-21T13:09:47.549Z"}"#,
);

/// Both ways to the same server, which does next to nothing, on one runtime of this thread.
pub(crate) struct Pair {
    runtime: Runtime,
    client: Client,
    bare: reqwest::Client,
    collection: Url,
    one: Url,
    id: OperationId,
    body: CreatePreAuthorization,
    key: IdempotencyKey,
    offer: NewPreAuthorization,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let base_url = serve();
        let mut headers = HeaderMap::new();
        let authorization = format!("Bearer {KEY}");
        headers.insert(AUTHORIZATION, authorization.try_into().unwrap());
        let bare = reqwest::Client::builder().tls_certs_only([]).no_proxy();
        let bare = bare.default_headers(headers).user_agent(USER_AGENT);
        let bare = bare.timeout(Duration::from_secs(20));
        let supplier = CreateSupplier {
            cnpj: "11444777000161".parse().unwrap(),
            email: "financeiro@fornecedor.example.com".parse().unwrap(),
            name: None,
            contact_name: None,
            phone: None,
        };
        let invoice = CreateInvoice {
            amount: Money::parse("12500.50").unwrap().into(),
            due_date: "2027-01-20".parse().unwrap(),
            number: "NF-1".parse().unwrap(),
            withheld_tax_amount: None,
        };
        let body = CreatePreAuthorization {
            supplier,
            invoice,
            external_reference: None,
        };
        let key: IdempotencyKey = "erp:NF-1".parse().unwrap();
        let offer = NewPreAuthorization::from(body.clone()).idempotency_key(key.clone());
        Self {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            client: Client::new(&base_url, KEY).unwrap(),
            bare: bare.build().unwrap(),
            collection: format!("{base_url}{COLLECTION}").parse().unwrap(),
            one: format!("{base_url}{COLLECTION}/1042").parse().unwrap(),
            id: OperationId::new(1042).unwrap(),
            body,
            key,
            offer,
        }
    }

    pub(crate) fn client_get(&self) {
        let read = self.runtime.block_on(self.client.get(self.id)).unwrap();
        assert_eq!(read.id, self.id);
    }

    pub(crate) fn bare_get(&self) {
        self.bare_call(self.bare.get(self.one.clone()));
    }

    pub(crate) fn client_create(&self) {
        let created = self.client.create(&self.offer);
        let created = self.runtime.block_on(created).unwrap();
        assert_eq!(created.id, self.id);
    }

    pub(crate) fn bare_create(&self) {
        let body = serde_json::to_vec(&self.body).unwrap();
        let request = self.bare.post(self.collection.clone()).body(body);
        let request = request.header("content-type", "application/json");
        self.bare_call(request.header("idempotency-key", self.key.as_str()));
    }

    /// The minimum that a program without the client does: the same request, its address parsed and its
    /// key set beforehand, within a time; the whole answer, and its value.
    fn bare_call(&self, request: reqwest::RequestBuilder) {
        let answer = self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            answer.error_for_status().unwrap().bytes().await.unwrap()
        });
        let read: PreAuthorization = serde_json::from_slice(&answer).unwrap();
        assert_eq!(read.id, self.id);
    }
}

/// Answers every request of every connection with the same bytes, on threads of its own.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let connection = connection.unwrap();
            std::thread::spawn(move || answer(connection));
        }
    });
    base_url
}

fn answer(mut connection: TcpStream) {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         x-request-id: 019aa1fe-3a25-7ffb-8504-107e7be706e3\r\nx-ratelimit-limit: 120\r\n\
         x-ratelimit-remaining: 119\r\nx-ratelimit-reset: 60\r\n\r\n{ANSWER}",
        ANSWER.len()
    );
    connection.set_nodelay(true).unwrap();
    let (mut request, mut chunk) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = connection.read(&mut chunk) {
        request.extend_from_slice(&chunk[..length]);
        if is_whole(&request) {
            request.clear();
            if connection.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Whether head and body of a request are there; a create's body is the last thing to end in `}`.
fn is_whole(request: &[u8]) -> bool {
    if request.starts_with(b"GET ") {
        request.ends_with(b"\r\n\r\n")
    } else {
        request.ends_with(b"}}")
    }
}
