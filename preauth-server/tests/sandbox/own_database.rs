//! A sandbox changes only its own database and folder, regardless of the files that exist.

use std::path::Path;
use std::process::{Command, Stdio};

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use test_support::{Backend, Database, Home, Sandbox, on_each_database};

on_each_database! {
    a_migrated_database_is_refused_and_left_as_it_is,
    an_older_schema_is_refused_and_left_as_it_is,
    a_foreign_applications_database_is_refused_and_left_as_it_is,
    stale_files_of_a_sandbox_make_no_database_its_own,
    a_database_belongs_to_the_sandbox_of_one_folder,
    an_empty_database_becomes_a_sandboxs_own_and_stays_it,
    a_sandbox_killed_before_its_demo_data_were_complete_destroys_nothing,
    a_sandbox_of_the_previous_version_is_recognized_by_its_key,
}

/// A database without an owner, and a folder next to it.
struct Ground {
    folder: tempfile::TempDir,
    database: Option<Database>,
}

impl Ground {
    async fn new(backend: Backend) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            database: match backend {
                Backend::Sqlite => None,
                Backend::Postgres => Some(Database::empty().await),
            },
        }
    }

    fn url(&self) -> String {
        let file = || format!("sqlite://{}", self.folder.path().join("some.db").display());
        self.database.as_ref().map_or_else(file, Database::url)
    }

    async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        if let Some(database) = &self.database {
            let mut connection = PgConnection::connect(&database.url()).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        } else {
            let mut connection = self.file().await;
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }

    async fn file(&self) -> SqliteConnection {
        let path = self.folder.path().join("some.db");
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true);
        SqliteConnection::connect_with(&options).await.unwrap()
    }

    /// Every table with its number of rows: none may be added, emptied or dropped.
    async fn content(&self) -> Vec<(String, i64)> {
        let mut content = Vec::new();
        if let Some(database) = &self.database {
            let mut sql = PgConnection::connect(&database.url()).await.unwrap();
            let tables =
                "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
            for table in sqlx::query_scalar::<_, String>(tables)
                .fetch_all(&mut sql)
                .await
                .unwrap()
            {
                let count = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
                let rows = sqlx::query_scalar(count).fetch_one(&mut sql).await.unwrap();
                content.push((table, rows));
            }
        } else {
            let mut sql = self.file().await;
            let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1";
            for table in sqlx::query_scalar::<_, String>(tables)
                .fetch_all(&mut sql)
                .await
                .unwrap()
            {
                let count = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
                let rows = sqlx::query_scalar(count).fetch_one(&mut sql).await.unwrap();
                content.push((table, rows));
            }
            sql.close().await.unwrap();
        }
        content
    }

    /// Runs a sandbox with this data folder, which must not start; returns its message.
    #[track_caller]
    fn refuses(&self, data: &Path) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
            .args([
                "sandbox",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ])
            .args(["--database", &self.url()])
            .arg("--data")
            .arg(data)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Checks that a sandbox with this folder is refused and the database unchanged.
    async fn is_left_alone_by(&self, data: &Path) {
        let before = self.content().await;
        let message = self.refuses(data);
        assert!(message.contains("not a sandbox's own"), "{message}");
        assert!(message.contains("nothing in it was changed"), "{message}");
        assert_eq!(self.content().await, before);
    }
}

async fn a_migrated_database_is_refused_and_left_as_it_is(backend: Backend) {
    let ground = Ground::new(backend).await;
    preauth_server::store::migrate(&ground.url()).await.unwrap();
    ground
        .is_left_alone_by(&ground.folder.path().join("data"))
        .await;
}

async fn an_older_schema_is_refused_and_left_as_it_is(backend: Backend) {
    let ground = Ground::new(backend).await;
    let first = match backend {
        Backend::Sqlite => include_str!("../../migrations/sqlite/0001_companies.sql"),
        Backend::Postgres => include_str!("../../migrations/postgres/0001_companies.sql"),
    };
    ground.execute(first).await;
    ground
        .is_left_alone_by(&ground.folder.path().join("data"))
        .await;
}

async fn a_foreign_applications_database_is_refused_and_left_as_it_is(backend: Backend) {
    let ground = Ground::new(backend).await;
    ground
        .execute("CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1)")
        .await;
    ground
        .is_left_alone_by(&ground.folder.path().join("data"))
        .await;
}

async fn stale_files_of_a_sandbox_make_no_database_its_own(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let home = sandbox.kill();
    let data = home.folder().join("data");
    // As previous versions left it.
    std::fs::write(data.join("sandbox-is-being-made"), "").unwrap();
    let ground = Ground::new(backend).await;
    preauth_server::store::migrate(&ground.url()).await.unwrap();
    ground.is_left_alone_by(&data).await;
    std::fs::remove_file(data.join("sandbox-credentials.json")).unwrap();
    ground.is_left_alone_by(&data).await;
    std::fs::remove_file(data.join("sandbox-id")).unwrap();
    let message = ground.refuses(&data);
    assert!(
        message.contains("of a server that is no sandbox"),
        "{message}"
    );
}

async fn a_database_belongs_to_the_sandbox_of_one_folder(backend: Backend) {
    let ground = Ground::new(backend).await;
    let home = Home::of_a_sandbox(Backend::Sqlite).await;
    let url = ground.url();
    let flags = ["--database", &url];
    let sandbox = Sandbox::start_in(home, &flags).await;
    let _home = sandbox.kill();
    let before = ground.content().await;
    let message = ground.refuses(&ground.folder.path().join("other"));
    assert!(
        message.contains("a sandbox with another data folder"),
        "{message}"
    );
    assert_eq!(ground.content().await, before);
}

async fn an_empty_database_becomes_a_sandboxs_own_and_stays_it(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let key = sandbox.text("apiKey").to_owned();
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    assert_eq!(sandbox.text("apiKey"), key);
    let answer = sandbox.caller("apiKey").get(PRE_AUTHORIZATIONS).await;
    assert_eq!(answer.status, 200);
}

async fn a_sandbox_killed_before_its_demo_data_were_complete_destroys_nothing(backend: Backend) {
    let ground = Ground::new(backend).await;
    let url = ground.url();
    let home = Home::of_a_sandbox(Backend::Sqlite).await;
    let sandbox = Sandbox::start_in(home, &["--database", &url]).await;
    let key = sandbox.text("apiKey").to_owned();
    let home = sandbox.kill();
    // As a kill between the first and the last company would have left it.
    std::fs::remove_file(home.folder().join("data/sandbox-credentials.json")).unwrap();
    ground
        .execute("UPDATE preauth_sandbox SET is_seeded = FALSE")
        .await;
    if backend == Backend::Postgres {
        let message = ground.refuses(&home.folder().join("data"));
        assert!(message.contains("empty the database"), "{message}");
        return;
    }
    let sandbox = Sandbox::start_in(home, &["--database", &url]).await;
    assert_ne!(sandbox.text("apiKey"), key);
    let answer = sandbox.caller("apiKey").get(PRE_AUTHORIZATIONS).await;
    assert_eq!(answer.status, 200);
}

async fn a_sandbox_of_the_previous_version_is_recognized_by_its_key(backend: Backend) {
    let ground = Ground::new(backend).await;
    let url = ground.url();
    let home = Home::of_a_sandbox(Backend::Sqlite).await;
    let sandbox = Sandbox::start_in(home, &["--database", &url]).await;
    let key = sandbox.text("apiKey").to_owned();
    let home = sandbox.kill();
    std::fs::remove_file(home.folder().join("data/sandbox-id")).unwrap();
    ground.execute("DROP TABLE preauth_sandbox").await;
    let sandbox = Sandbox::start_in(home, &["--database", &url]).await;
    assert_eq!(sandbox.text("apiKey"), key);
}

#[tokio::test]
async fn a_servers_folder_is_no_sandboxs() {
    let ground = Ground::new(Backend::Sqlite).await;
    let data = ground.folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for name in ["platform-token", "master.key", "preauth.db"] {
        std::fs::write(data.join(name), "the server's own").unwrap();
        let message = ground.refuses(&data);
        assert!(
            message.contains("of a server that is no sandbox"),
            "{message}"
        );
        let left = std::fs::read_to_string(data.join(name)).unwrap();
        assert_eq!(left, "the server's own");
        assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
        std::fs::remove_file(data.join(name)).unwrap();
    }
    assert!(!ground.folder.path().join("some.db").exists());
}
