//! Secrets in files: permissions, and what remains in memory.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use test_support::{Backend, Sandbox};

use crate::operator::{command, preauth};

const TOKEN: &str = "operator-token-of-the-tests";

pub(crate) fn put(folder: &Path, name: &str, text: &str, mode: u32) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_secret_file_that_others_can_read_or_write_is_refused_with_the_next_step() {
    let key = "ab".repeat(32);
    let smtp = [
        ("PREAUTH_MAIL_FROM", "Plataforma <avisos@example.com>"),
        ("PREAUTH_MAIL_SMTP_HOST", "localhost"),
        ("PREAUTH_MAIL_SMTP_USER", "avisos"),
    ];
    for (setting, text) in [
        ("PREAUTH_PLATFORM_TOKEN_FILE", TOKEN),
        ("PREAUTH_PLATFORM_TOKEN_NEXT_FILE", TOKEN),
        ("PREAUTH_MASTER_KEY_FILE", &key),
        ("PREAUTH_MAIL_SMTP_PASSWORD_FILE", "segredo-do-relay"),
    ] {
        let more = if setting.contains("SMTP") {
            &smtp[..]
        } else {
            &[]
        };
        let variables = [&[(setting, "secret")], more].concat();
        for mode in [0o644, 0o640, 0o604, 0o622, 0o660] {
            let folder = tempfile::tempdir().unwrap();
            put(folder.path(), "secret", text, mode);
            let served = preauth(folder.path(), &["serve"], &variables);
            let expected = format!("(mode {mode:04o}); run `chmod 600 secret`");
            served.failed(1, &[&expected]);
            assert!(!served.err.contains(text), "{}", served.err);
            assert!(!folder.path().join("preauth-data").exists());
        }
    }
}

#[test]
fn a_secret_file_in_a_folder_that_others_may_write_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    put(folder.path(), "open/token", TOKEN, 0o600);
    std::os::unix::fs::symlink("open/token", folder.path().join("link")).unwrap();
    for file in ["open/token", "link"] {
        let variables = [("PREAUTH_PLATFORM_TOKEN_FILE", file)];
        let served = preauth(folder.path(), &["serve"], &variables);
        served.failed(1, &["others may write to its folder", "run `chmod go-w "]);
        let url = ["company", "list", "--platform-url", "http://127.0.0.1:1"];
        let list = [&url[..], &["--token-file", file]].concat();
        preauth(folder.path(), &list, &[]).failed(2, &["others may write to its folder"]);
    }
    let served = preauth(folder.path(), &["serve", "--data", "open"], &[]);
    served.failed(1, &["cannot use data folder open", "chmod go-w open"]);
}

#[test]
fn a_configuration_with_a_secret_is_a_secret_file_and_one_without_is_not() {
    let check = |text: &str, mode| {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "preauth.toml", text, mode);
        put(folder.path(), "token", TOKEN, 0o600);
        put(folder.path(), "key", &"ab".repeat(32), 0o600);
        let check = ["config", "check", "--config", "preauth.toml"];
        preauth(folder.path(), &check, &[])
    };
    let token = format!("platform_token = \"{TOKEN}\"\n");
    let next = format!("platform_token_next = \"{TOKEN}\"\n");
    let in_url = "files.shared = true\nplatform_token_file = \"token\"\nmaster_key_file = \"key\"\n\
                  database = \"postgres://ana:geheim@localhost/preauth\"\n";
    let in_query = in_url.replace("ana:geheim@localhost/preauth", "/preauth?password=geheim");
    for text in [&token, &next, in_url, &in_query] {
        let refused = check(text, 0o644);
        assert_eq!(refused.code, 1, "{}", refused.out);
        assert!(
            refused.err.contains("chmod 600 preauth.toml"),
            "{}",
            refused.err
        );
        let output = format!("{}{}", refused.out, refused.err);
        assert!(
            !output.contains("geheim") && !output.contains(TOKEN),
            "{output}"
        );
        let good = check(text, 0o600);
        assert_eq!(good.code, 0, "{}", good.err);
        assert!(!good.out.contains("geheim"), "{}", good.out);
    }
    assert_eq!(check("listen = \"127.0.0.1:9\"\n", 0o644).code, 0);
}

#[test]
fn a_configuration_that_others_may_write_or_replace_is_refused() {
    // It contains no secret, but the paths of secrets and the permitted webhook networks.
    let text = "listen = \"127.0.0.1:0\"\nplatform_listen = \"127.0.0.1:0\"\n\
                [webhooks]\nallowed_networks = \"10.0.0.0/8\"\n";
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    put(folder.path(), "open/preauth.toml", text, 0o644);
    let mut cases = vec![("open/preauth.toml", "chmod go-w ")];
    for (name, mode) in [("group.toml", 0o664), ("all.toml", 0o646)] {
        put(folder.path(), name, text, mode);
        cases.push((name, "chmod go-w "));
    }
    for (file, step) in cases {
        let not_believed = format!("{file} is not trusted: ");
        for (command, code) in [
            (&["serve"][..], 1),
            (&["migrate"], 1),
            (
                &["company", "list", "--platform-url", "http://127.0.0.1:1"],
                2,
            ),
        ] {
            let command = [command, &["--config", file]].concat();
            let token = ("PREAUTH_PLATFORM_TOKEN", TOKEN);
            let done = preauth(folder.path(), &command, &[token]);
            done.failed(code, &[&not_believed, step]);
        }
    }
    assert!(!folder.path().join("preauth-data").exists());
}

#[test]
fn a_database_that_others_may_write_or_replace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mode) in [
        ("open", 0o777),
        ("group", 0o775),
        ("sticky", 0o1777),
        ("good", 0o755),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let migrate = |file: &str| {
        let url = format!("sqlite://{file}");
        preauth(folder.path(), &["migrate", "--database", &url], &[])
    };
    for place in ["sticky", "good"] {
        let done = migrate(&format!("{place}/x.db"));
        assert_eq!(done.code, 0, "{}", done.err);
    }
    for place in ["open", "group"] {
        let file = format!("{place}/x.db");
        migrate(&file).failed(1, &["is not used as a database", "run `chmod go-w ", place]);
        let left = folder.path().join(place).read_dir().unwrap().count();
        assert_eq!(left, 0, "nothing is left in {place}");
    }
    for (suffix, mode) in [("", 0o666), ("", 0o660), ("-wal", 0o622)] {
        let exposed = folder.path().join(format!("good/x.db{suffix}"));
        std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&exposed)
            .unwrap();
        std::fs::set_permissions(&exposed, PermissionsExt::from_mode(mode)).unwrap();
        let url = "sqlite://good/x.db";
        for command in [
            &["migrate"][..],
            &[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ],
            &[
                "sandbox",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ],
        ] {
            let command = [command, &["--database", url]].concat();
            let refused = preauth(folder.path(), &command, &[]);
            refused.failed(1, &["is not used as a database", "others may write to it"]);
        }
        std::fs::set_permissions(&exposed, PermissionsExt::from_mode(0o600)).unwrap();
    }
    let done = migrate("good/x.db");
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn a_deployment_id_may_be_read_and_not_written_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let check = |mode| {
        put(folder.path(), "id", "production-1", mode);
        let file = ("PREAUTH_DEPLOYMENT_ID_FILE", "id");
        preauth(folder.path(), &["config", "check"], &[file])
    };
    assert_eq!(check(0o644).code, 0);
    let refused = check(0o664);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("chmod go-w id"), "{}", refused.err);
}

#[test]
fn a_password_among_the_arguments_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://ana:geheim@localhost/preauth";
    for command in [&["migrate"][..], &["audit"], &["serve"], &["sandbox"]] {
        let done = preauth(
            folder.path(),
            &[command, &["--database", url]].concat(),
            &[],
        );
        assert_ne!(done.code, 0, "{command:?}");
        assert!(done.err.contains("PREAUTH_DATABASE"), "{}", done.err);
        assert!(!done.err.contains("geheim"), "{}", done.err);
    }
}

#[tokio::test]
async fn the_files_of_a_sandbox_are_readable_by_their_owner_alone() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let names = [
        "platform-token",
        "master.key",
        "sandbox-credentials.json",
        "platform-address",
    ];
    let data = sandbox.data();
    let files = names.map(|name| data.join(name));
    for path in files.iter().chain([&data.join("../ready.json")]) {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{path:?}");
    }
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

/// Runs as a user other than root, who may read every process.
#[test]
fn a_server_leaves_no_dump_and_lets_no_process_of_its_user_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--platform-listen",
        "127.0.0.1:0",
    ];
    let is_root = folder.path().metadata().unwrap().uid() == 0;
    let mut server = if is_root {
        std::os::unix::fs::chown(folder.path(), Some(65534), Some(65534)).unwrap();
        let mut server = Command::new("setpriv");
        server.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        server
            .arg(env!("CARGO_BIN_EXE_preauth-server"))
            .args(arguments);
        server.current_dir(folder.path()).stdin(Stdio::null());
        server
    } else {
        command(folder.path(), &arguments, &[])
    };
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut server = server.stderr(log).spawn().unwrap();
    let announced = folder.path().join("preauth-data/platform-address");
    while !announced.exists() {
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(server.try_wait().unwrap().is_none(), "{log}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let process = Path::new("/proc").join(server.id().to_string());
    let owner = process.join("mem").metadata().unwrap().uid();
    let limits = std::fs::read_to_string(process.join("limits")).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(owner, 0, "what may be dumped belongs to its user");
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<_> = core.unwrap().split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{limits}");
}
