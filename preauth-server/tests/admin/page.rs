//! The operator's first steps, as their page shows them.

use std::path::Path;
use std::process::Command;

use crate::operator::Operator;

const PAGE: &str = include_str!("../../../docs/operating.md");

#[tokio::test]
async fn the_operators_script_of_the_page_works() {
    let (_, after) = PAGE
        .split_once("<!-- run: first company -->\n```sh\n")
        .unwrap();
    let (script, _) = after.split_once("```").unwrap();
    let operator = Operator::start().await;
    // The script's example names do not resolve; replace them.
    let script = script
        .replace("http://127.0.0.1:8080", operator.sandbox.text("baseUrl"))
        .replace("https://erp.azul.com.br/", "http://127.0.0.1:9/");
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_preauth-server"));
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    // As every terminal of the page begins, with this server.
    let script = format!("preauth() {{ preauth-server \"$@\"; }}\n{script}");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .env("PATH", path)
        .env("PREAUTH_PLATFORM_URL", operator.sandbox.text("platformUrl"))
        .env(
            "PREAUTH_PLATFORM_TOKEN",
            operator.sandbox.text("platformToken"),
        )
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{out}{err}");
    let empty = r#"{"data":[],"pagination":{"page":1,"limit":20,"total":0,"totalPages":0}}"#;
    assert_eq!(out.lines().last(), Some(empty), "{out}{err}");
}
