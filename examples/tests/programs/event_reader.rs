//! The reader of events, killed again and again.

use std::collections::BTreeSet;
use std::fs;
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
    let mut made = BTreeSet::new();
    let mut reader = start();
    for number in 0..OFFERS {
        let operation = client.create(&offer(&server, number)).unwrap();
        made.insert(operation.id.get());
        let mut random = [0; 2];
        getrandom::fill(&mut random).unwrap();
        if random[0] < 96 {
            std::thread::sleep(Duration::from_millis(u64::from(random[1] % 64)));
            reader.kill().unwrap();
            reader.wait().unwrap();
            reader = start();
        }
    }
    // A minute of looks.
    let mut looks = 1_200;
    let lines = loop {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        if lines.len() >= OFFERS {
            break lines;
        }
        assert!(looks > 0, "{text}");
        looks -= 1;
        std::thread::sleep(Duration::from_millis(50));
    };
    // Long enough for a repeated event to appear.
    std::thread::sleep(Duration::from_millis(500));
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert_eq!(
        fs::read_to_string(&journal).unwrap().lines().count(),
        OFFERS
    );
    let ids: BTreeSet<&str> = lines
        .iter()
        .map(|it| it.split_once(' ').unwrap().0)
        .collect();
    assert_eq!(ids.len(), OFFERS, "an event was handled twice");
    let seen = client.events(MemoryCursor::new()).wait(Duration::ZERO);
    let seen: BTreeSet<String> = seen.map(|event| event.unwrap().id.to_string()).collect();
    assert_eq!(seen, ids.into_iter().map(ToOwned::to_owned).collect());
    assert_eq!(made.len(), OFFERS);
}
