//! The reader of events, killed again and again.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use preauth_client::blocking::Client;
use preauth_client::value::Money;
use preauth_client::{MemoryCursor, NewPreAuthorization};
use preauth_server::testing::TestServer;

const OFFERS: usize = 60;

fn offer(server: &TestServer, number: usize) -> NewPreAuthorization {
    NewPreAuthorization::new(
        server.credentials().supplier_cnpj.parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::parse("1234.56").unwrap(),
        server.days_ahead(60),
        format!("NF-{number}").parse().unwrap(),
    )
}

#[test]
fn a_reader_that_is_killed_at_random_handles_every_event_once() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.base_url(), server.api_key()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    let journal = events.join("journal");
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_event_reader"))
            .arg(&events)
            .env("PREAUTH_BASE_URL", server.base_url())
            .env("PREAUTH_API_KEY", server.api_key())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let lines = || {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect::<Vec<String>>()
    };
    let mut kills = 0;
    let mut reader = start();
    for number in 0..OFFERS {
        client.create(&offer(&server, number)).unwrap();
        if chance(3) == 0 {
            std::thread::sleep(Duration::from_millis(chance(64)));
            reader.kill().unwrap();
            assert_eq!(reader.wait().unwrap().signal(), Some(9));
            reader = start();
            kills += 1;
        }
    }
    assert!(kills > 0);
    let until = |count: usize| {
        // A minute of looks.
        for _ in 0..1_200 {
            if lines().len() >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("fewer than {count} events: {:?}", lines());
    };
    until(OFFERS);
    reader.kill().unwrap();
    reader.wait().unwrap();
    // The next run begins with whatever would come again, and the last event after it.
    reader = start();
    client.create(&offer(&server, OFFERS)).unwrap();
    until(OFFERS + 1);
    reader.kill().unwrap();
    reader.wait().unwrap();
    let lines = lines();
    let ids = lines.iter().map(|it| it.split_once(' ').unwrap().0);
    let ids: Vec<&str> = ids.collect();
    // In the order of the service, each once.
    let feed = client.events(MemoryCursor::new()).wait(Duration::ZERO);
    let feed: Vec<String> = feed.map(|event| event.unwrap().id.to_string()).collect();
    assert_eq!(feed.len(), OFFERS + 1);
    assert_eq!(ids, feed);
}

/// A random number below this one.
fn chance(below: u64) -> u64 {
    getrandom::u64().unwrap() % below
}
