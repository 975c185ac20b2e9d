//! A durable PostgreSQL, the server on it, and a company with a key: everything a create needs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const WITH_POSTGRES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/with-postgres");
const SERVER: &str = env!("CARGO_BIN_EXE_preauth-server");
const TOKEN: &str = "operator-token-of-the-benchmark";
const SUPPLIER_CNPJ: &str = "11444777000161";
/// How often, and how long apart, the server is asked whether it is ready.
const ASKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// What is measured; it ends with this value.
pub(crate) struct Scene {
    /// The integration API's address.
    pub(crate) address: String,
    pub(crate) database: String,
    /// Process ids.
    pub(crate) server: u32,
    pub(crate) postgres: u32,
    key: String,
    ids: Vec<(&'static str, String)>,
    running: Child,
    _cluster: (Child, ChildStdin),
    _folder: TempDir,
}

impl Scene {
    pub(crate) fn start() -> Self {
        let (cluster, url) = cluster();
        let database = format!("{url}/postgres");
        let folder = TempDir::new().unwrap();
        let (address, platform) = (free_address(), free_address());
        let mut server = Command::new(SERVER);
        server
            .env("PREAUTH_DATABASE", &database)
            .env("PREAUTH_DATA", folder.path())
            .env("PREAUTH_LISTEN", &address)
            .env("PREAUTH_PLATFORM_LISTEN", &platform)
            .env("PREAUTH_PLATFORM_TOKEN", TOKEN)
            .env("PREAUTH_RATE_LIMIT_REQUESTS", "4000000000")
            .stderr(Stdio::from(
                fs::File::create(folder.path().join("log")).unwrap(),
            ));
        assert!(server.arg("migrate").status().unwrap().success());
        let mut server = Command::new(server.get_program())
            .envs(
                server
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stderr(Stdio::from(
                fs::File::create(folder.path().join("log")).unwrap(),
            ))
            .arg("serve")
            .spawn()
            .unwrap();
        let is_ready = (0..ASKS).any(|_| {
            thread::sleep(PAUSE);
            TcpStream::connect(&platform).is_ok()
        });
        assert!(is_ready, "{:?}", server.try_wait());
        let directory = sql(&database, "SHOW data_directory");
        let pid = fs::read_to_string(format!("{directory}/postmaster.pid")).unwrap();
        let mut scene = Self {
            address,
            server: server.id(),
            postgres: pid.lines().next().unwrap().parse().unwrap(),
            database,
            key: String::new(),
            ids: Vec::new(),
            running: server,
            _cluster: cluster,
            _folder: folder,
        };
        scene.seed(&platform);
        scene
    }

    /// A request that creates an operation, in bytes.
    pub(crate) fn create(&self, invoice: u64) -> String {
        let body = format!(
            "{{\"supplier\":{{\"cnpj\":\"{SUPPLIER_CNPJ}\",\
             \"email\":\"financeiro@fornecedor.com.br\"}},\"invoice\":{{\"amount\":1000.5,\
             \"dueDate\":\"{}\",\"number\":\"NF-{invoice}\"}},\
             \"externalReference\":\"pedido {invoice}\"}}",
            self.id("due")
        );
        format!(
            "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Idempotency-Key: create-{invoice}\r\nContent-Length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        )
    }

    /// What the baseline's rows refer to.
    pub(crate) fn ids(&self) -> &[(&'static str, String)] {
        &self.ids
    }

    fn id(&self, name: &str) -> &str {
        let found = self.ids.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    fn seed(&mut self, platform: &str) {
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
        let endpoint = sql(
            &self.database,
            &format!(
                "INSERT INTO endpoints (id, head_office_id, url, events, paused_at, created_at)
                 VALUES (gen_random_uuid(), '{payer}', 'https://erp.example.com/',
                     'pre_authorization.created', 1, 1) RETURNING id"
            ),
        );
        let due = sql(&self.database, "SELECT current_date + 60");
        self.ids = vec![
            ("payer", payer),
            ("supplier", supplier),
            ("cnpj", SUPPLIER_CNPJ.to_owned()),
            ("endpoint", endpoint),
            ("due", due),
        ];
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

/// A server that syncs to disk and ends when its input does, and its URL.
fn cluster() -> ((Child, ChildStdin), String) {
    let mut server = Command::new(WITH_POSTGRES)
        .args(["sh", "-c", "echo \"$POSTGRES_TEST_URL\"; cat"])
        .env("POSTGRES_TEST_FSYNC", "on")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut url = String::new();
    BufReader::new(stdout).read_line(&mut url).unwrap();
    ((server, stdin), url.trim().to_owned())
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn sql(database: &str, statement: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args([
        "--quiet",
        "--no-align",
        "--tuples-only",
        "--command",
        statement,
    ]);
    let output = psql.arg(database).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn call(address: &str, method: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} /api/platform/v1{path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\
         Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
    serde_json::from_str(body).unwrap()
}

fn text(answer: &Value, field: &str) -> String {
    answer
        .get(field)
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}
