//! `config check` on the settings that restrict where webhooks are sent.

use std::process::Command;

use tempfile::TempDir;
use test_support::Authority;

/// Its exit code and its output: the settings, then the problems.
fn check(file: &str) -> (i32, String, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("preauth.toml");
    std::fs::write(&path, file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
        .args(["config", "check", "--config"])
        .arg(&path)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_settings_are_printed_with_their_source() {
    let folder = TempDir::new().unwrap();
    let roots = folder.path().join("roots.pem");
    Authority::new().write(&roots);
    let roots = roots.display();
    let (code, printed, wrong) = check(&format!(
        "[webhooks]\nallowed_networks = [\"10.1.0.0/16\", \"fd00::/8\"]\n\
         resolver = \"10.0.0.53:53\"\nextra_roots = \"{roots}\"\n"
    ));
    assert_eq!((code, wrong.as_str()), (0, ""), "{printed}");
    let shown = |line: &str| {
        let mut words = line.split_whitespace();
        let found = words.next().unwrap().to_owned();
        (found, words.collect::<Vec<_>>().join(" "))
    };
    let lines: Vec<_> = printed.lines().map(shown).collect();
    for (name, value) in [
        ("webhooks.allowed_networks", "10.1.0.0/16,fd00::/8"),
        ("webhooks.resolver", "10.0.0.53:53"),
        ("webhooks.extra_roots", &roots.to_string()),
    ] {
        let expected = (name.to_owned(), format!("{value} file"));
        assert!(lines.contains(&expected), "{name}: {printed}");
    }
}

#[test]
fn a_mistyped_line_is_answered_with_what_was_probably_meant() {
    for (file, expected) in [
        (
            "data = \"a\"\nlisten = 127.0.0.1:8080\n",
            "line 2: put the value in quotes",
        ),
        (
            "[webhooks]\nresolvr = \"10.0.0.53:53\"\n",
            "webhooks.resolvr in the file is not a setting; did you mean webhooks.resolver?",
        ),
        (
            "lisen = \"127.0.0.1:8080\"\n",
            "lisen in the file is not a setting; did you mean listen?",
        ),
    ] {
        let (code, _, wrong) = check(file);
        assert_eq!(code, 1, "{file}");
        assert!(wrong.contains(expected), "{expected}: {wrong}");
    }
}

#[test]
fn all_configuration_problems_are_reported_together() {
    let (code, _, wrong) = check(
        "[webhooks]\nallowed_networks = [\"10.1.2.3/16\", \"0.0.0.0/0\", \"here\"]\n\
         resolver = \"dns.example.com:53\"\nextra_roots = \"/nowhere/roots.pem\"\n",
    );
    assert_eq!(code, 1);
    for text in [
        "webhooks.allowed_networks: \"10.1.2.3/16\" has host bits set; the network of this address is 10.1.0.0/16",
        "webhooks.allowed_networks: \"0.0.0.0/0\" is too large",
        "webhooks.allowed_networks: \"here\" must be an address, a slash and a number of bits",
        "webhooks.resolver must be an IP address and a port like 10.0.0.53:53",
        "webhooks.extra_roots: /nowhere/roots.pem cannot be read",
    ] {
        assert!(wrong.contains(text), "{text}: {wrong}");
    }
}
