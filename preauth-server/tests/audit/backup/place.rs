//! A database with its invoice files, and the commands over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use test_support::{Backend, Scratch};

use crate::world::{live_in, live_long_in};

/// The contents of two files, of 6 and 7 bytes.
const FILES: [&str; 2] = ["first\n", "second\n"];

/// A database with its folder of invoice files, beside which a backup is made.
pub(crate) struct Place {
    pub(crate) database: Scratch,
    backend: Backend,
    folder: TempDir,
}

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Ran(pub(crate) Output);

impl Place {
    pub(crate) fn of(database: Scratch) -> Self {
        let backend = match database {
            Scratch::Sqlite { .. } => Backend::Sqlite,
            Scratch::Postgres { .. } => Backend::Postgres,
        };
        Self {
            database,
            backend,
            folder: TempDir::new().unwrap(),
        }
    }

    /// With at least one record of each kind.
    pub(crate) async fn alive(backend: Backend) -> Self {
        let place = Self::of(Scratch::empty(backend).await);
        live_in(&place.database).await;
        place.give_files().await;
        place
    }

    /// The same with a record in each status.
    pub(crate) async fn long_alive(backend: Backend) -> Self {
        let place = Self::of(Scratch::empty(backend).await);
        live_long_in(&place.database).await;
        place.give_files().await;
        place
    }

    /// Stores the files that the operations name.
    async fn give_files(&self) {
        let hashes: Vec<_> = FILES.iter().map(|content| self.keep(content)).collect();
        let literal = |hash: &String| match self.backend {
            Backend::Sqlite => format!("x'{hash}'"),
            Backend::Postgres => format!("'\\x{hash}'::BYTEA"),
        };
        let (first, second) = (literal(&hashes[0]), literal(&hashes[1]));
        let update = format!(
            "UPDATE invoice_files SET sha256 = CASE WHEN operation_id = 1 THEN {first} ELSE {second} END,
                 size_bytes = CASE WHEN operation_id = 1 THEN 6 ELSE 7 END"
        );
        self.database.execute(&[&update]).await;
    }

    /// Stores a file as the server does; returns its hash.
    fn keep(&self, content: &str) -> String {
        let scratch = self.folder.path().join("scratch");
        std::fs::write(&scratch, content).unwrap();
        let sum = Command::new("sha256sum").arg(&scratch).output().unwrap();
        let hash = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
        let folder = self.files_folder().join(&hash[..2]);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::rename(scratch, folder.join(&hash)).unwrap();
        hash
    }

    pub(crate) fn url(&self) -> String {
        self.database.url()
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.folder.path().join("backup")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn files_folder(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// The names and contents of all invoice files, and of parts of them.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let Ok(folders) = std::fs::read_dir(self.files_folder()) else {
            return files;
        };
        for folder in folders {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let file = file.unwrap();
                let name = file.file_name().into_string().unwrap();
                files.insert(name, std::fs::read(file.path()).unwrap());
            }
        }
        files
    }

    /// Removes one of its files; returns its name.
    pub(crate) fn lose_a_file(&self) -> String {
        let name = self.files().into_keys().next().unwrap();
        std::fs::remove_file(self.files_folder().join(&name[..2]).join(&name)).unwrap();
        name
    }

    /// Gives one of its files other bytes, as many as it had.
    pub(crate) fn damage_a_file(&self) {
        let (name, content) = self.files().into_iter().next().unwrap();
        let other = vec![b'x'; content.len()];
        std::fs::write(self.files_folder().join(&name[..2]).join(&name), other).unwrap();
    }

    /// Leaves a part of each file of another place, as a restore that is killed does.
    pub(crate) fn leave_parts_of(&self, other: &Self) {
        for name in other.files().into_keys() {
            let folder = self.files_folder().join(&name[..2]);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("{name}#1")), "part").unwrap();
        }
    }

    pub(crate) fn take_files_of(&self, other: &Self) {
        let folders = [other.files_folder(), self.files_folder()];
        let copied = Command::new("cp").arg("-aT").args(folders).status();
        assert!(copied.unwrap().success());
    }

    /// The program with the settings of this place.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(&self.url(), arguments)
    }

    fn command_on(&self, database: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
        command
            .args(arguments)
            .args(["--database", database])
            .env("PREAUTH_FILES_PLACE", self.files_folder())
            .env("PREAUTH_FILES_SHARED", "true");
        command
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_on(&self.url(), arguments).await
    }

    /// The same on another database.
    pub(crate) async fn run_on(&self, database: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command_on(database, arguments);
        let ended = tokio::task::spawn_blocking(move || command.output());
        Ran(ended.await.unwrap().unwrap())
    }

    pub(crate) async fn backup(&self) -> Ran {
        self.backup_with(&[]).await
    }

    pub(crate) async fn backup_with(&self, options: &[&str]) -> Ran {
        self.backup_to(&self.target(), options).await
    }

    pub(crate) async fn backup_to(&self, target: &Path, options: &[&str]) -> Ran {
        let arguments = [&["backup", target.to_str().unwrap()], options].concat();
        self.run(&arguments).await
    }

    /// Verifies its backup, PostgreSQL's in a new database.
    pub(crate) async fn verify(&self) -> Ran {
        let target = self.target();
        let mut arguments = vec!["backup", "verify", target.to_str().unwrap()];
        let scratch = Scratch::empty(self.backend).await.url();
        if self.backend == Backend::Postgres {
            arguments.extend(["--scratch", &scratch]);
        }
        self.run(&arguments).await
    }

    pub(crate) async fn restore(&self, backup: &Path) -> Ran {
        self.restore_with(backup, &[]).await
    }

    pub(crate) async fn restore_with(&self, backup: &Path, options: &[&str]) -> Ran {
        let arguments = [&["restore", backup.to_str().unwrap()], options].concat();
        self.run(&arguments).await
    }

    pub(crate) async fn audit(&self) -> Ran {
        self.run(&["audit", "--at-rest"]).await
    }
}

impl Ran {
    pub(crate) fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    pub(crate) fn ok_in(self, command: &str) -> Self {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        assert_eq!(self.code(), Some(0), "{command}: {stdout}{stderr}");
        self
    }

    /// A refusal of `backup` or `restore`.
    pub(crate) fn refused_with(&self, words: &str) {
        self.ended_with(1, words);
    }

    /// A failure of `backup verify`.
    pub(crate) fn failed_with(&self, words: &str) {
        self.ended_with(2, words);
    }

    fn ended_with(&self, code: i32, words: &str) {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        assert_eq!(self.code(), Some(code), "{stdout}{stderr}");
        assert!(stderr.contains(words), "{words:?} in {stderr}");
    }
}
