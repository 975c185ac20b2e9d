//! Large invoice files at once: half of each is sent before any goes on, so that all are in progress together.

use std::thread;

use crate::clients::next_invoice;
use crate::company::{BEGIN_OF_FILE_BYTES, Company, END_OF_UPLOAD};
use crate::connection::{Connection, micros, now};
use crate::memory;
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::table::Table;
use crate::table::Target::{AtMost, None};

const UPLOADS: u64 = 50;
const UPLOADS_OF_A_SHORT_RUN: u64 = 4;
/// One of them may have a quarter of the room for uploads.
const COMPANIES: u64 = 4;
/// As large as a file may be.
const FILE_BYTES: usize = 10 * 1024 * 1024;
/// After the bytes that it begins with.
const HALF_BYTES: usize = (FILE_BYTES - BEGIN_OF_FILE_BYTES) / 2;
const MAX_MIB: u64 = 200;
const CREATED: &str = "201";

pub(crate) fn run(run: &Run, table: &mut Table) {
    let mut scene = Scene::sqlite(Disk::Own);
    let companies: Vec<Company> = (2..2 + COMPANIES)
        .map(|number| Company::register(scene.platform(), number))
        .collect();
    let uploads = run.size(UPLOADS, UPLOADS_OF_A_SHORT_RUN);
    let what = |figure| format!("{uploads} invoice files of 10 MiB at once, SQLite: {figure}");
    for _ in 0..run.pairs {
        // The one before had this memory.
        scene.restart_with_default_limits();
        let server = scene.servers.first().unwrap().process();
        let before = memory::resident_kib(server) / 1024;
        let took = upload_at_once(&scene, &companies, uploads);
        let peak = memory::peak_kib(server) / 1024;
        table.figure(&what("memory"), AtMost(MAX_MIB), " MiB", peak);
        table.figure(&what("memory before"), None, " MiB", before);
        table.figure(&what("until all are created"), None, " ms", took);
    }
}

/// Milliseconds until so many files are uploaded, of the companies in turn.
fn upload_at_once(scene: &Scene, companies: &[Company], uploads: u64) -> u64 {
    let uploads = usize::try_from(uploads).unwrap();
    let half = &"7".repeat(HALF_BYTES);
    let begun = now();
    let half_sent: Vec<Connection> = thread::scope(|scope| {
        let payers = companies.iter().cycle().take(uploads);
        let sending: Vec<_> = payers
            .map(|company| {
                scope.spawn(move || {
                    let mut connection = Connection::to(scene.address(0));
                    connection.begin(&company.upload(next_invoice(), 2 * HALF_BYTES));
                    connection.begin(half);
                    connection
                })
            })
            .collect();
        sending.into_iter().map(|it| it.join().unwrap()).collect()
    });
    thread::scope(|scope| {
        for mut connection in half_sent {
            scope.spawn(move || {
                connection.begin(half);
                connection.send(END_OF_UPLOAD, CREATED);
            });
        }
    });
    micros(begun) / 1000
}
