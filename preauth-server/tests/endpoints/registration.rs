//! The endpoints that may be registered: the text of the URL, and the addresses its name resolves to.

use crate::dns::{Lookup, alias, at};
use crate::house::House;

const NAME: &str = "hooks.construtora.com.br";
const URL: &str = "https://hooks.construtora.com.br/preauth";
/// A public address; nothing is ever sent there.
const PUBLIC: &str = "93.184.215.14";

// Contract: endpoint/HTTPS endpoint/public-address
#[tokio::test]
async fn every_url_of_the_vectors_is_validated_as_listed() {
    let house = House::public().await;
    let vectors = include_str!("../vectors/ssrf_urls.csv");
    let mut validated = 0;
    for line in vectors.lines().skip(1) {
        let [url, addresses, expected] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let answer = match addresses {
            "" => at(&[PUBLIC]),
            "NXDOMAIN" => Lookup::NoSuchName,
            addresses => at(&addresses.split(' ').collect::<Vec<_>>()),
        };
        for name in names(url) {
            house.dns.set(&name, [answer.clone()]);
        }
        let answer = house.put(url).await;
        let found = match (answer.status, answer.code().as_str()) {
            (200 | 201, _) => "accept",
            (422, "ENDPOINT_URL_REFUSED") => "refuse",
            _ => answer.text.as_str(),
        };
        assert_eq!(found, expected, "{line}");
        validated += 1;
    }
    assert_eq!(validated, 88);
}

/// The names looked up for the vectors' hosts.
fn names(url: &str) -> Vec<String> {
    let host = url.trim_start_matches("https://");
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host
        .trim_end_matches('.')
        .replace("bücher", "xn--bcher-kva");
    vec![host]
}

// Contract: endpoint/public-address
#[tokio::test]
async fn a_mixed_answer_is_refused_whole_and_the_message_names_the_address() {
    let house = House::public().await;
    for (answer, named) in [
        (at(&[PUBLIC, "10.0.0.1"]), "10.0.0.1"),
        (at(&[PUBLIC, "::1"]), "::1"),
        (at(&[PUBLIC, "::ffff:127.0.0.1"]), "::ffff:127.0.0.1"),
        (alias("inside.example.net.", &["127.0.0.1"]), "127.0.0.1"),
    ] {
        house.dns.set(NAME, [answer]);
        let refused = house.put(URL).await;
        let expected = (422, "ENDPOINT_URL_REFUSED".to_owned());
        assert_eq!(refused.refusal(), expected, "{named}");
        let text = format!("endereço {named}, que não é público");
        assert!(refused.text.contains(&text), "{}", refused.text);
    }
    assert_eq!(house.kept_url().await, None);
    house.dns.set(NAME, [at(&[PUBLIC, "2606:2800:21f::1"])]);
    house.register(URL).await;
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_refused_with_what_to_do() {
    let house = House::public().await;
    for answer in [Lookup::NoSuchName, at(&[])] {
        house.dns.set(NAME, [answer]);
        let refused = house.put(URL).await;
        assert_eq!(refused.refusal(), (422, "ENDPOINT_URL_REFUSED".to_owned()));
        assert!(
            refused.text.contains("publique-o no DNS"),
            "{}",
            refused.text
        );
    }
}

#[tokio::test]
async fn a_resolver_that_does_not_answer_refuses_nobody_and_changes_nothing() {
    let house = House::public().await;
    house.dns.set(NAME, [at(&[PUBLIC])]);
    house.register(URL).await;
    for answer in [Lookup::Failure, Lookup::Nothing] {
        house.dns.set(NAME, [answer]);
        let other = format!("{URL}/other");
        let outage = house.put(&other).await;
        assert_eq!(outage.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
        assert!(!outage.header("retry-after").is_empty());
        assert!(outage.text.contains("DNS"), "{}", outage.text);
        assert_eq!(house.kept_url().await.as_deref(), Some(URL));
    }
    // An IP address needs no look-up.
    house.register("https://1.1.1.1/hook").await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_a_datagram_is_asked_for_over_tcp_and_validated_to_its_end() {
    let house = House::public().await;
    let public: Vec<_> = (1..=120).map(|n| format!("93.184.215.{n}")).collect();
    let mut addresses: Vec<_> = public.iter().map(String::as_str).collect();
    house.dns.set(NAME, [at(&addresses)]);
    house.register(URL).await;
    assert!(house.dns.asked_over_tcp() > 0);
    addresses.push("10.0.0.1");
    house.dns.set(NAME, [at(&addresses)]);
    assert_eq!(house.put(URL).await.status, 422);
}

#[tokio::test]
async fn a_listed_network_takes_what_the_rule_refuses_and_loosens_nothing_elsewhere() {
    let house = House::on_this_machine().await;
    house.dns.set("receiver", [at(&["127.0.0.1"])]);
    house
        .dns
        .set("erp.internal", [at(&["127.0.0.1", "127.0.0.2"])]);
    house.dns.set(NAME, [at(&[PUBLIC])]);
    house
        .dns
        .set("mixed.example.com", [at(&[PUBLIC, "127.0.0.1"])]);
    for url in [
        "http://127.0.0.1:8080/hook",
        "http://receiver:8080/hook",
        "https://erp.internal:8443/hook",
        "https://mixed.example.com/hook",
        URL,
    ] {
        house.register(url).await;
    }
    for (url, text) in [
        ("http://hooks.construtora.com.br/", "https://"),
        ("https://hooks.construtora.com.br:8443/", "porta 443"),
        ("http://mixed.example.com/", "https://"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("https://[::ffff:127.0.0.1]:8443/", "::ffff:127.0.0.1"),
        ("https://[::1]/", "::1"),
        ("https://2130706433/", "canônica"),
        ("http://user@127.0.0.1/", "usuário"),
        ("ftp://127.0.0.1/", "https://"),
    ] {
        let refused = house.put(url).await;
        assert_eq!(
            refused.refusal(),
            (422, "ENDPOINT_URL_REFUSED".to_owned()),
            "{url}"
        );
        assert!(refused.text.contains(text), "{url}: {}", refused.text);
    }
    assert!(house.server.log().contains("127.0.0.0/8"));
}
