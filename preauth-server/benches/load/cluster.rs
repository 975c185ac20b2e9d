//! A PostgreSQL server that syncs to disk, for the time of a benchmark.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::run::Run;

const WITH_POSTGRES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/with-postgres");

pub(crate) struct Cluster {
    pub(crate) url: String,
    /// The process id of the postmaster.
    pub(crate) process: u32,
    /// The cluster stops when this pipe closes.
    _own: (Child, ChildStdin),
}

impl Cluster {
    /// It syncs, unless a run only checks that everything runs.
    pub(crate) fn start(run: &Run) -> Self {
        let mut server = Command::new(WITH_POSTGRES)
            .args(["sh", "-c", "echo \"$POSTGRES_TEST_URL\"; cat"])
            .env(
                "POSTGRES_TEST_FSYNC",
                if run.is_short { "off" } else { "on" },
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        let mut cluster = Self {
            url: format!("{}/postgres", url.trim()),
            process: 0,
            _own: (server, stdin),
        };
        let folder = cluster.sql("SHOW data_directory");
        let pids = fs::read_to_string(format!("{folder}/postmaster.pid")).unwrap();
        cluster.process = pids.lines().next().unwrap().parse().unwrap();
        cluster
    }

    /// Directs statements and new instances to another database.
    pub(crate) fn choose(&mut self, database: &str) {
        self.url = self.url_of(database);
    }

    pub(crate) fn url_of(&self, database: &str) -> String {
        let (server, _) = self.url.rsplit_once('/').unwrap();
        format!("{server}/{database}")
    }

    /// Runs a statement through psql and returns its only value.
    pub(crate) fn sql(&self, statement: &str) -> String {
        Self::sql_at(&self.url, statement)
    }

    /// The same in another database.
    pub(crate) fn sql_in(&self, database: &str, statement: &str) -> String {
        Self::sql_at(&self.url_of(database), statement)
    }

    /// The same in a database that nothing is copied from.
    pub(crate) fn sql_beside(&self, statement: &str) -> String {
        self.sql_in("template1", statement)
    }

    fn sql_at(url: &str, statement: &str) -> String {
        let mut psql = Command::new("psql");
        psql.args([
            "--quiet",
            "--no-align",
            "--tuples-only",
            "--command",
            statement,
        ]);
        let output = psql.arg(url).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}
