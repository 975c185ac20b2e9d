//! SQLite on a disk that is full for a while, in a mount namespace of its own.

use std::process::Command;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, Home, Sandbox, offer_body, server_program};

use super::server::{ask, probe_until, scrape};

/// Mounts a small disk at the data folder, fills it as long as a file is there, and becomes the server.
const SCRIPT: &str = r#"
    mount -t tmpfs -o size=16m,mode=700 tmpfs "$DISK" || exit
    (
        while kill -0 $$; do
            if [ -e "$FULL" ]; then cat /dev/zero >> "$DISK/filler"; else rm -f "$DISK/filler"; fi
            sleep 0.1
        done
    ) </dev/null >/dev/null 2>&1 &
    exec "$0" "$@""#;

/// A shell with a mount namespace of its own, if this machine gives one.
fn unshared() -> Option<Command> {
    let shell = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c"]);
        unshare
    };
    let tried = shell().arg("mount -t tmpfs tmpfs /mnt").output().ok()?;
    tried.status.success().then(shell)
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "says that nothing was tried")]
async fn a_full_disk_is_not_ready_and_one_with_room_again_is() {
    let Some(mut program) = unshared() else {
        println!("not tried: this machine gives no mount namespace of one's own");
        return;
    };
    let home = Home::of_a_sandbox(Backend::Sqlite).await;
    let (disk, full) = (home.folder().join("data"), home.folder().join("full"));
    std::fs::create_dir(&disk).unwrap();
    program.arg(SCRIPT).arg(server_program());
    program.env("DISK", &disk).env("FULL", &full);
    let flags = ["--rate-limit", "1000000"];
    let sandbox = Sandbox::start_program(program, home, &flags).await;
    let up = async || scrape(&sandbox).await.find("preauth_database_up", &[]);
    let erp = sandbox.caller("apiKey");
    let offer = async |number: &str| {
        let body = offer_body(&sandbox, number);
        erp.post_json(PRE_AUTHORIZATIONS, &body).await
    };
    assert_eq!(up().await, Some(1.0));
    assert_eq!(ask(&sandbox, "/readyz").await.status, 200);

    std::fs::write(&full, "").unwrap();
    let mut number = 1;
    let refused = loop {
        let offered = offer(&format!("NF-{number}")).await;
        if offered.status != 201 {
            break offered;
        }
        number += 1;
    };
    assert_eq!(refused.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    assert_eq!(
        refusal["reason"],
        "the disk of the database is full; make room on it"
    );
    // Small writes, for which the log has pages, do not hide it.
    for _ in 0..20 {
        assert_eq!(ask(&sandbox, "/readyz").await.status, 503);
        assert_eq!(up().await, Some(0.0));
    }
    let cause = "database or disk is full";
    let is_logged = async {
        while !sandbox.log().contains(cause) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_mins(1), is_logged).await;
    assert!(waited.is_ok(), "{}", sandbox.log());

    std::fs::remove_file(&full).unwrap();
    probe_until(&sandbox, "/readyz", 200).await;
    assert_eq!(up().await, Some(1.0));
    assert_eq!(offer("NF-again").await.status, 201);
}
