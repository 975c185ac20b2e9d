//! `doctor` on a machine whose clock is wrong.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, Sandbox, faketime, offer_body, on_each_database, set_by};

use crate::doctor::{Machine, is_well, line};

on_each_database! {
    a_clock_that_is_wrong_fails,
}

async fn a_clock_that_is_wrong_fails(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1");
    let erp = sandbox.caller("apiKey");
    let offered = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let home = sandbox.kill();
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.move_into(&home);
    let key = home.folder().join("data/master.key");
    machine.set("PREAUTH_MASTER_KEY_FILE", key.to_str().unwrap());
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    assert!(line(&done, "clock", "this machine's clock").starts_with("ok "));

    // SQLite has no clock of its own: that time goes on is no fault.
    let wrong: &[_] = match backend {
        Backend::Sqlite => &[("-1h", "behind the latest recorded moment")],
        Backend::Postgres => &[
            ("-1h", "s behind the database's"),
            ("+1h", "s ahead of the database's"),
        ],
    };
    let library = faketime();
    for (offset, expected) in wrong {
        for (name, value) in set_by(&library, offset) {
            machine.set(name, value);
        }
        let done = machine.doctor(&[]);
        assert_eq!(done.code, 1, "{}{}", done.out, done.err);
        let found = line(&done, "clock", expected);
        assert!(found.starts_with("failed "), "{found}");
        let (_, next) = found.split_once("; next: ").unwrap();
        assert!(next.contains("`timedatectl set-ntp true`"), "{found}");
    }
}
