//! A database, its instances, and a company with a key: everything a create needs.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::http::call;
use crate::server::{self, Server};

const SUPPLIER_CNPJ: &str = "11444777000161";

pub(crate) struct Scene {
    /// Declared before the cluster: servers stop first.
    pub(crate) servers: Vec<Server>,
    pub(crate) cluster: Cluster,
    folder: TempDir,
    key: String,
    ids: Vec<(&'static str, String)>,
}

impl Scene {
    /// A scene with `instances` instances.
    pub(crate) fn new(instances: usize) -> Self {
        let mut scene = Self {
            servers: Vec::new(),
            cluster: Cluster::start(),
            folder: TempDir::new().unwrap(),
            key: String::new(),
            ids: Vec::new(),
        };
        server::migrate(&scene.cluster.url, scene.folder.path());
        scene.start(instances);
        scene.seed();
        scene
    }

    /// Starts `instances` more instances.
    pub(crate) fn start(&mut self, instances: usize) {
        for _ in 0..instances {
            let server = Server::start(&self.cluster.url, self.folder.path());
            self.servers.push(server);
        }
    }

    /// The integration API's address; clients are spread over the instances in turn.
    pub(crate) fn address(&self, client: usize) -> &str {
        let server = self.servers.iter().cycle().nth(client).unwrap();
        &server.address
    }

    /// A request that creates an operation, in bytes.
    pub(crate) fn create(&self, invoice: u64) -> String {
        let body = json!({
            "supplier": {"cnpj": SUPPLIER_CNPJ, "email": "financeiro@fornecedor.com.br"},
            "invoice": {
                "amount": 1000.5,
                "dueDate": self.id("due"),
                "number": format!("NF-{invoice}"),
            },
            "externalReference": format!("pedido {invoice}"),
        });
        let body = body.to_string();
        format!(
            "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Idempotency-Key: create-{invoice}\r\nContent-Length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        )
    }

    /// A request for a page of the list, in bytes.
    pub(crate) fn list(&self, query: &str) -> String {
        format!(
            "GET /api/integration/v1/pre-authorizations?{query} HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\n\r\n",
            self.key
        )
    }

    /// The ids that the baseline's rows refer to.
    pub(crate) fn ids(&self) -> &[(&'static str, String)] {
        &self.ids
    }

    pub(crate) fn id(&self, name: &str) -> &str {
        let found = self.ids.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    fn seed(&mut self) {
        let platform = &self.servers.first().unwrap().platform;
        let post = |path: &str, body: Value| call(platform, "POST", path, &body);
        let company = |cnpj, kind| {
            let body = json!({"cnpj": cnpj, "name": "Empresa", "kind": kind});
            text(&post("/companies", body), "id")
        };
        let payer = company("11222333000181", "CONSTRUCTION");
        let supplier = company(SUPPLIER_CNPJ, "SUPPLIER");
        let credit = json!({"maxTermDays": 180, "maxInvoiceAmount": 1_000_000});
        call(
            platform,
            "PUT",
            &format!("/companies/{payer}/credit-analysis"),
            &credit,
        );
        let user = json!({"name": "Ana", "email": "ana@construtora.com.br",
            "permissions": ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"]});
        let user = text(&post(&format!("/companies/{payer}/users"), user), "id");
        let key = json!({"name": "ERP", "responsibleUserId": user,
            "scopes": ["preauth:read", "preauth:write"]});
        self.key = text(&post(&format!("/companies/{payer}/api-keys"), key), "key");
        // Paused, so that deliveries are written and nothing is sent.
        let endpoint = self.cluster.sql(&format!(
            "INSERT INTO endpoints (id, head_office_id, url, events, paused_at, created_at)
             VALUES (gen_random_uuid(), '{payer}', 'https://erp.example.com/',
                 'pre_authorization.created,pre_authorization.expired', 1, 1)
             RETURNING id"
        ));
        self.ids = vec![
            ("payer", payer),
            ("supplier", supplier),
            ("cnpj", SUPPLIER_CNPJ.to_owned()),
            ("endpoint", endpoint),
            ("due", self.cluster.sql("SELECT current_date + 60")),
        ];
    }
}

fn text(answer: &Value, field: &str) -> String {
    answer
        .get(field)
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}
