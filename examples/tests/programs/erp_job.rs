use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use preauth_client::ListFilter;
use preauth_client::blocking::Client;
use preauth_server::testing::TestServer;
use tempfile::TempDir;

use crate::{complained, printed};

/// A file of invoices, and the service they are offered to.
struct Job {
    server: TestServer,
    folder: TempDir,
}

impl Job {
    fn new(rows: impl IntoIterator<Item = String>) -> Self {
        let job = Self {
            server: TestServer::start().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        };
        job.write(rows);
        job
    }

    /// A job with `count` invoices.
    fn of(count: u32) -> Self {
        let job = Self::new([]);
        job.write((1..=count).map(|n| job.row(&format!("PED-{n}"), &format!("NF-{n}"))));
        job
    }

    fn row(&self, order: &str, invoice: &str) -> String {
        self.row_of(&self.server.credentials().supplier_cnpj, order, invoice)
    }

    fn row_of(&self, supplier: &str, order: &str, invoice: &str) -> String {
        let due = self.server.days_ahead(60);
        let email = "financeiro@fornecedor.example.com";
        format!("{order};{supplier};{email};Fornecedor Ltda.;Maria Lima;1234.56;{due};{invoice}")
    }

    fn write(&self, rows: impl IntoIterator<Item = String>) {
        let rows: Vec<_> = rows.into_iter().collect();
        let text = format!(
            "order;cnpj;email;name;contact;amount;due;invoice\n{}\n",
            rows.join("\n")
        );
        fs::write(self.csv(), text).unwrap();
    }

    fn csv(&self) -> PathBuf {
        self.folder.path().join("invoices.csv")
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("invoices.done")
    }

    fn program(&self) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_erp_job"));
        program
            .arg(self.csv())
            .env("PREAUTH_BASE_URL", self.server.base_url())
            .env("PREAUTH_API_KEY", self.server.api_key());
        program
    }

    /// The invoice numbers of all current offers.
    fn on_offer(&self) -> Vec<String> {
        let client = Client::new(self.server.base_url(), self.server.api_key()).unwrap();
        let all = client.list_all(&ListFilter::new());
        all.map(|operation| operation.unwrap().invoice.number.unwrap())
            .collect()
    }
}

#[test]
fn every_invoice_is_offered_with_progress_and_a_report_and_passed_over_the_next_time() {
    let job = Job::of(3);
    let report = "\
[1/3] PED-1: operation 1
[2/3] PED-2: operation 2
[3/3] PED-3: operation 3
3 on offer now, 0 before, 0 refused
";
    assert_eq!(printed(&mut job.program()), report);
    assert_eq!(
        printed(&mut job.program()),
        "0 on offer now, 3 before, 0 refused\n"
    );
    assert_eq!(job.on_offer(), ["NF-3", "NF-2", "NF-1"]);
}

#[test]
fn an_offer_missing_in_the_journal_is_found_by_its_key_or_by_its_invoice() {
    let job = Job::of(2);
    printed(&mut job.program());
    // The second line is incomplete.
    fs::write(job.journal(), "PED-1;1\nPED-2").unwrap();
    assert_eq!(
        printed(&mut job.program()),
        "[2/2] PED-2: operation 2, as this job did before\n1 on offer now, 1 before, 0 refused\n"
    );
    assert_eq!(
        fs::read_to_string(job.journal()).unwrap(),
        "PED-1;1\nPED-2;2\n"
    );
    job.write([job.row("PED-1-B", "NF-1")]);
    assert!(
        printed(&mut job.program())
            .starts_with("[1/1] PED-1-B: operation 1, which was there already\n")
    );
}

#[test]
fn a_refused_invoice_is_reported_and_the_others_are_offered() {
    let job = Job::new([]);
    let blocked = &job.server.credentials().blocked_supplier_cnpj;
    job.write([
        job.row_of(blocked, "PED-1", "NF-1"),
        job.row("PED-2", "NF-2"),
    ]);
    let said = printed(&mut job.program());
    let lines: Vec<_> = said.lines().collect();
    assert!(
        lines[0].starts_with(
            "[1/2] PED-1: the service refused (status 422): PRE_AUTH_SUPPLIER_BLOCKED "
        ),
        "{said}"
    );
    assert!(lines[0].contains("[request id "), "{said}");
    assert_eq!(lines[2], "1 on offer now, 0 before, 1 refused");
    assert_eq!(job.on_offer(), ["NF-2"]);
}

#[test]
fn a_row_that_cannot_be_read_is_named_with_its_column() {
    let job = Job::new([]);
    let wrong = job.row("PED-1", "NF-1").replace("1234.56", "1.234,56");
    job.write([wrong, "PED-2;x".to_owned()]);
    assert_eq!(
        complained(&mut job.program()),
        "error: row 1: amount: the amount is not a plain decimal such as 1234.56\n"
    );
    job.write(["PED-2;x".to_owned()]);
    assert_eq!(
        complained(&mut job.program()),
        "error: row 1: 2 columns in place of 8\n"
    );
    assert_eq!(
        complained(&mut Command::new(env!("CARGO_BIN_EXE_erp_job"))),
        "error: usage: erp_job INVOICES.csv [READY.json]\n"
    );
}

#[test]
fn address_and_key_may_come_from_a_ready_file_and_a_wrong_one_is_named() {
    let job = Job::of(1);
    let ready = job.folder.path().join("ready.json");
    let mut program = job.program();
    program
        .env_remove("PREAUTH_BASE_URL")
        .env_remove("PREAUTH_API_KEY")
        .arg(&ready);
    let said = complained(&mut program);
    let named = format!("error: ready file {}: ", ready.display());
    assert!(said.starts_with(&named), "{said}");
    fs::write(&ready, "{}").unwrap();
    assert_eq!(
        complained(&mut program),
        format!("{named}no text in baseUrl\n")
    );
    let (url, key) = (job.server.base_url(), job.server.api_key());
    fs::write(
        &ready,
        format!(r#"{{"baseUrl": "{url}", "apiKey": "{key}"}}"#),
    )
    .unwrap();
    assert!(printed(&mut program).ends_with("1 on offer now, 0 before, 0 refused\n"));
}

/// The complete proof: the job is killed ten times, at random moments, while it offers 3,000
/// invoices in batches.
#[test]
fn a_job_that_is_killed_again_and_again_offers_each_invoice_exactly_once() {
    const INVOICES: u32 = 3_000;
    const KILLS: u64 = 10;
    let job = Job::of(INVOICES);
    for kill in 0..KILLS {
        let mut process = job.program().stdout(Stdio::piped()).spawn().unwrap();
        // Kept open until the end: a job that cannot print stops by itself.
        let mut out = BufReader::new(process.stdout.take().unwrap());
        // Every other kill comes before the first answer of its run. The others come within the first
        // batches, so that no job finishes before the last one.
        let lines = if kill % 2 == 0 { 0 } else { 1 + chance(150) };
        let seen = out.by_ref().lines().take(usize::try_from(lines).unwrap());
        seen.for_each(|line| drop(line.unwrap()));
        std::thread::sleep(Duration::from_micros(chance(30_000)));
        process.kill().unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }
    let report = printed(&mut job.program());
    let last = report.lines().last().unwrap();
    assert!(last.ends_with(" before, 0 refused"), "{last}");

    let on_offer = job.on_offer();
    let each: BTreeSet<_> = on_offer.iter().cloned().collect();
    let expected: BTreeSet<_> = (1..=INVOICES).map(|n| format!("NF-{n}")).collect();
    assert_eq!((on_offer.len(), each), (expected.len(), expected));
    let journal = fs::read_to_string(job.journal()).unwrap();
    assert_eq!(journal.lines().count(), on_offer.len());
}

/// A random number up to this one.
fn chance(most: u64) -> u64 {
    getrandom::u64().unwrap() % most
}
