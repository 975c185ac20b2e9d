//! How the commands find the platform and its token.

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use crate::operator::{Done, command, preauth};

const LISTEN: [&str; 4] = [
    "--listen",
    "127.0.0.1:0",
    "--platform-listen",
    "127.0.0.1:0",
];

/// A server in a folder, killed at the end.
struct Server(Child);

impl Server {
    /// Starts one and waits until `answers` succeeds.
    async fn start(folder: &Path, arguments: &[&str], answers: impl Fn() -> Done) -> Self {
        let log = std::fs::File::create(folder.join("log.txt")).unwrap();
        let child = command(folder, &[arguments, &LISTEN].concat(), &[])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self(child);
        let wait = async {
            while answers().code != 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_mins(1), wait).await;
        waited.unwrap_or_else(|_| panic!("{:?}", answers()));
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_server_that_only_reads_says_what_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |words: &[&str]| preauth(folder.path(), words, &[]);
    let list = || ask(&["company", "list"]);
    let _server = Server::start(folder.path(), &["serve", "--quiet-outbound"], list).await;
    let add = ["operator", "add", "ana", "--role", "viewer"];
    let refused = ask(&add);
    let expected = ["(503)", "preauth-server doctor", "preauth-server adopt"];
    refused.failed(3, &expected);
    assert!(!refused.err.contains("in a moment"), "{}", refused.err);
    let refused = ask(&[&add[..], &["--lang", "pt"]].concat());
    refused.failed(3, &["`preauth-server adopt` o coloca em serviço"]);
}

#[tokio::test]
async fn the_data_folder_is_enough_to_find_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let list = |more: &[&str]| preauth(folder.path(), &[&["company", "list"], more].concat(), &[]);
    list(&[]).failed(2, &["no server runs on the data folder preauth-data"]);
    let server = Server::start(folder.path(), &["serve"], || list(&[])).await;
    assert_eq!(list(&[]).out, "none\n");
    assert_eq!(list(&["--data", "preauth-data"]).code, 0);
    std::fs::write(
        folder.path().join("preauth.toml"),
        "data = \"preauth-data\"\n",
    )
    .unwrap();
    assert_eq!(list(&["--config", "preauth.toml"]).code, 0);

    let address = std::fs::read_to_string(folder.path().join("preauth-data/platform-address"));
    let address = address.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let token = folder.path().join("preauth-data/platform-token");
    let token = token.to_str().unwrap();
    let far = [
        "company",
        "list",
        "--platform-url",
        &address,
        "--token-file",
        token,
    ];
    assert_eq!(preauth(elsewhere.path(), &far, &[]).code, 0);
    drop(server);
    // It was killed: the file it left does not pass for a running server.
    let done = preauth(
        folder.path(),
        &["company", "list", "--config", "none.toml"],
        &[],
    );
    done.failed(2, &["cannot read none.toml"]);
    std::fs::write(
        folder.path().join("preauth.toml"),
        "platform_listen = \"127.0.0.1:1\"\n",
    )
    .unwrap();
    list(&["--config", "preauth.toml"]).failed(2, &["no server runs", "--platform-url"]);
}

#[tokio::test]
async fn a_sandbox_without_a_folder_is_found_and_two_are_not_guessed_between() {
    let folder = tempfile::tempdir().unwrap();
    let list = || preauth(folder.path(), &["company", "list"], &[]);
    let _first = Server::start(folder.path(), &["sandbox"], list).await;
    assert!(list().out.contains("Construtora Exemplo S.A."));
    the_found_sandbox_is_named(folder.path());
    let sandboxes = || {
        let entries = std::fs::read_dir(folder.path()).unwrap().flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.starts_with("preauth-sandbox-"))
            .collect();
        names.sort();
        names
    };
    let first = sandboxes();
    let new = || {
        let found = sandboxes().into_iter().find(|name| !first.contains(name));
        preauth(
            folder.path(),
            &["company", "list", "--data", &found.unwrap_or_default()],
            &[],
        )
    };
    let _second = Server::start(folder.path(), &["sandbox"], new).await;
    let data = format!("--data {}", folder.path().join(&first[0]).display());
    list().failed(2, &["several servers run here", &data]);
    assert_eq!(new().code, 0);
}

/// Nothing named the sandbox that runs in `folder`, so a command says that it goes there.
fn the_found_sandbox_is_named(folder: &Path) {
    let run = |arguments: &[&str]| preauth(folder, arguments, &[]);
    let found = std::fs::read_dir(folder).unwrap().flatten();
    let mut found = found.filter(|it| it.file_name().to_string_lossy().starts_with("preauth-s"));
    let data = found.next().unwrap().path().display().to_string();
    let url = std::fs::read_to_string(Path::new(&data).join("platform-address")).unwrap();
    let url = url.trim();
    assert_eq!(
        run(&["company", "list"]).err,
        format!("note: using the sandbox at {url} (--data {data})\n")
    );
    assert_eq!(
        run(&["company", "list", "--lang", "pt"]).err,
        format!("observação: usando o sandbox em {url} (--data {data})\n")
    );
    for quiet in [
        &["company", "list", "--json"][..],
        &["company", "list", "--data", &data],
    ] {
        let done = run(quiet);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{quiet:?}");
    }
    // A configuration file names a server, even one that does not run: no sandbox stands in for it.
    let config = Path::new(folder).join("other.toml");
    std::fs::write(config, "listen = \"127.0.0.1:8080\"\n").unwrap();
    let named = run(&["company", "list", "--config", "other.toml"]);
    named.failed(2, &["no server runs on the data folder preauth-data"]);
}

#[test]
fn the_token_is_not_sent_in_the_clear_and_its_source_is_never_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
    let list = |more: &[&str], variables: &[(&str, &str)]| {
        preauth(
            folder.path(),
            &[&["company", "list"], more].concat(),
            variables,
        )
    };
    // An unreachable address, so that only the check decides.
    let plain = ["--platform-url", "http://192.0.2.1:8081"];
    list(&plain, &[token]).failed(2, &["over plain http", "--insecure-http"]);
    let both = [token, ("PREAUTH_PLATFORM_TOKEN_FILE", "file")];
    let url = ("PREAUTH_PLATFORM_URL", "http://127.0.0.1:1");
    list(&[], &[&both[..], &[url]].concat()).failed(2, &["both given"]);
    list(&[], &[("PREAUTH_PLATFORM_TOKEN", "short"), url]).failed(2, &["16 characters"]);
    let nowhere = [
        "--platform-url",
        "http://127.0.0.1:1",
        "--token-file",
        "missing",
    ];
    list(&nowhere, &[]).failed(2, &["missing", "No such file"]);
    list(&["--platform-url", "127.0.0.1:8081"], &[token]).failed(2, &["has the form"]);
}
