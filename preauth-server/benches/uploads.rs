//! The server's memory while fifty files of 10 MB are uploaded at once.
//!
//! ```text
//! cargo bench -p preauth-server --bench uploads [-- UPLOADS]
//! ```
//!
//! Every upload sends half of its file before any sends the other half, so all of them are in
//! progress together. Fails when an upload is not answered with 201, or when more than 200 MiB were
//! resident.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a benchmark prints its figures, and a panic is the report of a failure"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use chrono::Days;
use preauth_core::value::calendar;
use preauth_server::clock::{Clock, Stopwatch, SystemClock};
use serde_json::Value;
use tempfile::TempDir;

const SERVER: &str = env!("CARGO_BIN_EXE_preauth-server");
const UPLOADS: usize = 50;
/// After the few bytes that make each file unique.
const FILE_BYTES: usize = 10 * 1024 * 1024 - BEGINS_BYTES;
const BEGINS_BYTES: usize = 17;
const LIMIT_KIB: u64 = 200 * 1024;
const BOUNDARY: &str = "b-o-u-n-d-a-r-y";
/// Readiness is polled this often, at this interval.
const LOOKS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(50);

fn main() {
    let (options, numbers): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|it| it.starts_with("--"));
    // `cargo test --all-targets` starts benchmarks, too: do nothing.
    if !options.iter().any(|it| it == "--bench") {
        return;
    }
    let uploads = numbers.first().map_or(UPLOADS, |it| it.parse().unwrap());
    let sandbox = Sandbox::start();
    let idle = sandbox.peak_kib();
    let content: Arc<[u8]> = (0..FILE_BYTES).map(|n| n.to_le_bytes()[0]).collect();
    let half_way = Arc::new(Barrier::new(uploads));
    let begin = Stopwatch::start();
    let under_way: Vec<_> = (0..uploads)
        .map(|n| {
            let (address, head) = (sandbox.address.clone(), sandbox.head(n));
            let (content, half_way) = (Arc::clone(&content), Arc::clone(&half_way));
            thread::spawn(move || upload(&address, &head, &content, &half_way))
        })
        .collect();
    let answers: Vec<String> = under_way.into_iter().map(|it| it.join().unwrap()).collect();
    let took = begin.elapsed().num_milliseconds();
    let peak = sandbox.peak_kib();
    let created = answers
        .iter()
        .filter(|it| it.starts_with("HTTP/1.1 201"))
        .count();
    println!("{uploads} uploads of 10 MiB at once: {created} created in {took} ms");
    println!(
        "resident: {} MiB before, {} MiB at most",
        idle >> 10,
        peak >> 10
    );
    assert!(created == uploads, "{}", answers.join("\n"));
    assert!(peak < LIMIT_KIB, "more than {} MiB", LIMIT_KIB >> 10);
}

fn upload(address: &str, head: &str, content: &[u8], half_way: &Barrier) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let (first, second) = content.split_at(content.len() >> 1);
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(first).unwrap();
    half_way.wait();
    stream.write_all(second).unwrap();
    stream.write_all(end().as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn end() -> String {
    format!("\r\n--{BOUNDARY}--\r\n")
}

/// A sandbox with everything that an upload needs; dropping the value stops it.
struct Sandbox {
    process: Child,
    address: String,
    ready: Value,
    _folder: TempDir,
}

impl Sandbox {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let ready_file = folder.path().join("ready.json");
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(SERVER)
            .args([
                "sandbox",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ])
            .args(["--rate-limit", "1000000", "--data"])
            .arg(folder.path().join("data"))
            .arg("--ready-file")
            .arg(&ready_file)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let text = (0..LOOKS).find_map(|_| {
            thread::sleep(PAUSE);
            fs::read_to_string(&ready_file).ok()
        });
        let ready: Value = serde_json::from_str(&text.unwrap()).unwrap();
        let address = ready["baseUrl"].as_str().unwrap();
        Self {
            process,
            address: address.trim_start_matches("http://").to_owned(),
            ready,
            _folder: folder,
        }
    }

    /// The head of a create, up to the first bytes of its file, which mark it as a PDF.
    fn head(&self, n: usize) -> String {
        let text = |name: &str| self.ready[name].as_str().unwrap_or_default();
        let due = calendar::today(SystemClock.now()) + Days::new(60);
        let part = |name: &str, more: &str, content: &str| {
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{content}"
            )
        };
        let supplier = format!(
            "{{\"cnpj\":\"{}\",\"email\":\"financeiro@fornecedor.example.com\"}}\r\n",
            text("supplierCnpj")
        );
        let invoice =
            format!("{{\"amount\":12500.5,\"dueDate\":\"{due}\",\"number\":\"NF-{n}\"}}\r\n");
        let file = "; filename=\"nota.pdf\"\r\nContent-Type: application/pdf";
        // The number makes each file unique.
        let begins = format!("%PDF-1.7 {n:>8}");
        assert!(begins.len() == BEGINS_BYTES);
        let parts = [
            part("supplier", "", &supplier),
            part("invoice", "", &invoice),
            part("invoiceFile", file, &begins),
        ]
        .concat();
        let length = parts.len() + FILE_BYTES + end().len();
        format!(
            "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: bench\r\n\
             Authorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\
             Content-Length: {length}\r\n\r\n{parts}",
            text("apiKey")
        )
    }

    /// The peak of the resident memory.
    fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let digits = line.unwrap().trim().split(' ').next().unwrap();
        digits.parse().unwrap()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
