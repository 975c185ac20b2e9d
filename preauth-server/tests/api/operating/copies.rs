//! A restored copy is silent until it is adopted, and so is a database opened with
//! `--quiet-outbound`.

use std::process::Command;
use std::sync::Arc;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use test_support::{Backend, Home, TestReceiver, cluster, on_each_database};

use super::served::{Offered, Served, offered};

on_each_database! {
    a_copy_is_silent_until_it_is_adopted_and_the_original_goes_on,
    a_restored_backup_is_silent_until_it_is_adopted,
    a_database_of_another_deployment_is_silent,
    a_database_opened_with_quiet_outbound_is_silent,
}

/// The receiver is on this machine.
const LOCAL: (&str, &str) = ("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", "127.0.0.0/8");

/// Makes everything due: deliveries, mails, the expiry of the offer.
const ALL_DUE: [&str; 3] = [
    "UPDATE deliveries SET status = 'PENDING', next_attempt_at = 1, ended_at = NULL",
    "UPDATE notices SET status = 'PENDING', next_attempt_at = 1, ended_at = NULL",
    "UPDATE operations SET expires_at = 1",
];

/// A database that a server may be started on.
struct Data {
    home: Arc<Home>,
    /// For PostgreSQL.
    url: Option<String>,
}

impl Data {
    fn of(offered: &Offered) -> Self {
        Self {
            home: Arc::clone(&offered.home),
            url: offered.home.database_flags().pop(),
        }
    }

    /// A copy, as a backup makes it: the folder with all its files, or a database copied by SQL.
    async fn copied(&self) -> Self {
        let home = Home::new(Backend::Sqlite).await;
        let folders = [&self.home.folder().join("data"), home.folder()];
        let copied = Command::new("cp").arg("-a").args(folders).status();
        assert!(copied.unwrap().success());
        let mut url = None;
        if let Some(original) = &self.url {
            let (_, original) = original.rsplit_once('/').unwrap();
            let name = cluster::new_name();
            let statement = format!("CREATE DATABASE {name} TEMPLATE {original}");
            let admin = format!("{}/postgres", cluster::url());
            let mut admin = PgConnection::connect(&admin).await.unwrap();
            admin.execute(AssertSqlSafe(statement)).await.unwrap();
            url = Some(format!("{}/{name}", cluster::url()));
        }
        Self {
            home: Arc::new(home),
            url,
        }
    }

    /// What `backup` and `restore` make of it in a new home; the master key comes by itself.
    async fn restored(&self, offered: &Offered) -> Self {
        let home = Home::new(Backend::Sqlite).await;
        let data = home.folder().join("data");
        std::fs::create_dir(&data).unwrap();
        let key = self.home.folder().join("data/master.key");
        let copied = Command::new("cp").arg("-a").arg(key).arg(&data).status();
        assert!(copied.unwrap().success());
        let mut url = None;
        if self.url.is_some() {
            let name = cluster::new_name();
            let admin = format!("{}/postgres", cluster::url());
            let mut admin = PgConnection::connect(&admin).await.unwrap();
            let statement = format!("CREATE DATABASE {name}");
            admin.execute(AssertSqlSafe(statement)).await.unwrap();
            url = Some(format!("{}/{name}", cluster::url()));
        }
        let restored = Self {
            home: Arc::new(home),
            url,
        };
        let backup = restored.home.folder().join("backup");
        for (place, command) in [(self, "backup"), (&restored, "restore")] {
            place.run(offered, &[command, backup.to_str().unwrap()]);
        }
        restored
    }

    async fn make_everything_due(&self) {
        for statement in ALL_DUE {
            self.execute(statement).await;
        }
    }

    async fn execute(&self, statement: &'static str) {
        if let Some(url) = &self.url {
            let mut sql = PgConnection::connect(url).await.unwrap();
            sql.execute(statement).await.unwrap();
            sql.close().await.unwrap();
        } else {
            let path = self.home.folder().join("data/preauth.db");
            let options = SqliteConnectOptions::new().filename(path);
            let mut sql = SqliteConnection::connect_with(&options).await.unwrap();
            sql.execute(statement).await.unwrap();
            sql.close().await.unwrap();
        }
    }

    async fn serve(&self, offered: &Offered, settings: &[(&str, &str)]) -> Served {
        let mut all = vec![LOCAL];
        all.extend(
            self.url
                .as_ref()
                .map(|url| ("PREAUTH_DATABASE", url.as_str())),
        );
        all.extend_from_slice(settings);
        offered.serve_in(&self.home, &all).await
    }

    fn mails(&self) -> usize {
        let mails = std::fs::read_dir(self.home.folder().join("data/mails"));
        mails.map_or(0, Iterator::count)
    }

    /// Runs `adopt`, and returns what it printed.
    fn adopt(&self, offered: &Offered) -> Value {
        serde_json::from_slice(&self.run(offered, &["adopt", "--yes", "--json"])).unwrap()
    }

    /// Runs a command on the database, and returns what it printed.
    fn run(&self, offered: &Offered, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
        command
            .args(arguments)
            .args(["--data".into(), self.home.folder().join("data")])
            .env("PREAUTH_PLATFORM_TOKEN", &offered.token)
            .env("PREAUTH_FILES_SHARED", "true")
            .envs(self.url.iter().map(|url| ("PREAUTH_DATABASE", url)));
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        output.stdout
    }
}

/// Nothing is sent and nothing changes, and the server reports why.
async fn assert_silent(
    server: &Served,
    data: &Data,
    offered: &Offered,
    receiver: &TestReceiver,
    reason: (&str, &str),
) {
    let (arrived, mails) = (receiver.requests(0).await.len(), data.mails());
    let message = server.wait_until_ready_is(503).await["reason"].to_string();
    assert!(message.contains(reason.1), "{message}");
    server.let_loops_step().await;
    assert_eq!(receiver.requests(0).await.len(), arrived);
    assert_eq!(data.mails(), mails);
    assert_eq!(server.status().await, "IN_PRE_AUTH");

    let mut body = offered.body.clone();
    body["invoice"]["number"] = "NF-2".into();
    let cancel = format!("{PRE_AUTHORIZATIONS}/1/cancel");
    let block = "/api/platform/v1/companies";
    for refused in [
        server.erp.post_json(PRE_AUTHORIZATIONS, &body).await,
        server.erp.post(&cancel).await,
        server.platform.post_json(block, &json!({})).await,
    ] {
        assert_eq!(refused.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
        assert_eq!(refused.header("retry-after"), "30");
        assert!(
            refused.text.contains("somente para consulta"),
            "{}",
            refused.text
        );
    }
    let list = server.erp.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(list.json()["pagination"]["total"], 1);
    assert_eq!(server.platform.get(block).await.status, 200);
    let search = "/api/platform/v1/api-key-search";
    let found = server
        .platform
        .post_json(search, &json!({"text": "service_sk_00"}))
        .await;
    assert_eq!(found.status, 200, "{}", found.text);
    assert_eq!(server.probe("/livez").await.status, 200);
    let held = format!("preauth_held{{reason=\"{}\"}} 1", reason.0);
    assert!(server.scrape().await.has_line(&held));
    assert!(server.server.log().contains(reason.1));
}

/// It sends what is due, and expires overdue offers.
async fn assert_acting(server: &Served, receiver: &TestReceiver, arrived: usize) {
    receiver.requests(arrived + 1).await;
    let expired = async {
        while server.status().await != "REPROVED" {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), expired).await;
    waited.unwrap_or_else(|_| panic!("it expires: {}", server.server.log()));
    server.wait_until_ready_is(200).await;
}

async fn a_copy_is_silent_until_it_is_adopted_and_the_original_goes_on(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let offered = offered(backend, &receiver.url()).await;
    let original = Data::of(&offered);
    let server = original.serve(&offered, &[]).await;
    server.wait_until_ready_is(200).await;
    server.server.stop();
    let copy = original.copied().await;
    copy.make_everything_due().await;

    let looked_at = copy.serve(&offered, &[]).await;
    let foreign = ("foreign_database", "this database is a copy");
    assert_silent(&looked_at, &copy, &offered, &receiver, foreign).await;
    let arrived = receiver.requests(0).await.len();
    let (adopted, acting) = match backend {
        // Only one process may open the file.
        Backend::Sqlite => {
            looked_at.server.stop();
            (copy.adopt(&offered), copy.serve(&offered, &[]).await)
        }
        Backend::Postgres => (copy.adopt(&offered), looked_at),
    };
    assert_eq!(adopted["overdueOffers"], 1, "{adopted}");
    assert!(adopted["dueDeliveries"].as_u64() >= Some(1), "{adopted}");
    assert!(adopted["stagedMails"].as_u64() >= Some(1), "{adopted}");
    assert_acting(&acting, &receiver, arrived).await;
    assert_ids_go_on(&acting, &offered).await;

    let server = original.serve(&offered, &[]).await;
    server.wait_until_ready_is(200).await;
    assert_eq!(server.status().await, "IN_PRE_AUTH");
    assert_eq!(server.offer_again(&offered).await.status, 201);
}

async fn a_restored_backup_is_silent_until_it_is_adopted(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let offered = offered(backend, &receiver.url()).await;
    let original = Data::of(&offered);
    // A sandbox made the records; a database in production has no mark of one.
    original
        .execute("DROP TABLE IF EXISTS preauth_sandbox")
        .await;
    let server = original.serve(&offered, &[]).await;
    server.wait_until_ready_is(200).await;
    let copy = original.restored(&offered).await;
    server.server.stop();
    copy.make_everything_due().await;

    let looked_at = copy.serve(&offered, &[]).await;
    let foreign = ("foreign_database", "this database is a copy");
    assert_silent(&looked_at, &copy, &offered, &receiver, foreign).await;
    let arrived = receiver.requests(0).await.len();
    looked_at.server.stop();
    let adopted = copy.adopt(&offered);
    assert_eq!(adopted["overdueOffers"], 1, "{adopted}");
    let waiting = adopted["waitingDeliveries"].as_u64();
    assert!(waiting >= Some(1), "{adopted}");
    // What waits for its next attempt goes out, too, and is counted.
    copy.execute("UPDATE deliveries SET next_attempt_at = 253000000000000")
        .await;
    let later = copy.adopt(&offered);
    assert_eq!(later["waitingDeliveries"].as_u64(), waiting, "{later}");
    assert_eq!(later["dueDeliveries"], 0, "{later}");
    copy.make_everything_due().await;
    let acting = copy.serve(&offered, &[]).await;
    assert_acting(&acting, &receiver, arrived).await;
    assert_ids_go_on(&acting, &offered).await;
}

/// The original may have answered with the next ids since the copy was made.
async fn assert_ids_go_on(acting: &Served, offered: &Offered) {
    let mut body = offered.body.clone();
    body["invoice"]["number"] = "NF-3".into();
    let made = acting.erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    let made = made.json();
    assert!(made["id"].as_u64() > Some(1_000_000), "{made}");
}

async fn a_database_of_another_deployment_is_silent(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let offered = offered(backend, &receiver.url()).await;
    let data = Data::of(&offered);
    let ours = ("PREAUTH_DEPLOYMENT_ID", "production");
    let server = data.serve(&offered, &[ours]).await;
    server.wait_until_ready_is(200).await;
    server.server.stop();
    data.make_everything_due().await;
    let foreign = |text| ("foreign_database", text);

    let theirs = ("PREAUTH_DEPLOYMENT_ID", "rehearsal");
    let server = data.serve(&offered, &[theirs]).await;
    let why = foreign("deployment production, and this instance to rehearsal");
    assert_silent(&server, &data, &offered, &receiver, why).await;
    server.server.stop();

    let server = data.serve(&offered, &[]).await;
    let why = foreign("deployment production, and deployment_id is not given");
    assert_silent(&server, &data, &offered, &receiver, why).await;
    server.server.stop();

    let arrived = receiver.requests(0).await.len();
    let server = data.serve(&offered, &[ours]).await;
    assert_acting(&server, &receiver, arrived).await;
}

async fn a_database_opened_with_quiet_outbound_is_silent(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let offered = offered(backend, &receiver.url()).await;
    let data = Data::of(&offered);
    data.make_everything_due().await;
    let quiet = [("PREAUTH_QUIET_OUTBOUND", "true")];
    let server = data.serve(&offered, &quiet).await;
    let why = ("quiet_outbound", "started with --quiet-outbound");
    assert_silent(&server, &data, &offered, &receiver, why).await;
    server.server.stop();
    let arrived = receiver.requests(0).await.len();
    let server = data.serve(&offered, &[]).await;
    assert_acting(&server, &receiver, arrived).await;
}

#[tokio::test]
async fn a_backup_that_is_written_over_its_original_is_silent_on_sqlite() {
    let receiver = TestReceiver::start().await;
    let offered = offered(Backend::Sqlite, &receiver.url()).await;
    let data = Data::of(&offered);
    let server = data.serve(&offered, &[]).await;
    server.wait_until_ready_is(200).await;
    let folder = data.home.folder().join("data");
    let (file, copy) = (folder.join("preauth.db"), data.home.folder().join("backup"));
    let backup = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
        .arg("backup")
        .arg("--data")
        .arg(&folder)
        .arg(&copy)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&backup.stderr);
    assert!(backup.status.success(), "{error}");
    server.server.stop();
    // Keeps the birth and the number of the file.
    std::fs::write(&file, std::fs::read(copy.join("preauth.db")).unwrap()).unwrap();
    for log in ["preauth.db-wal", "preauth.db-shm"] {
        let _ = std::fs::remove_file(folder.join(log));
    }
    data.make_everything_due().await;
    let server = data.serve(&offered, &[]).await;
    let foreign = ("foreign_database", "this database is a copy");
    assert_silent(&server, &data, &offered, &receiver, foreign).await;
}
