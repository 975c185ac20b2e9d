//! Host names that the private listener answers to: a browser misled by another name (DNS
//! rebinding) gets nothing.

use test_support::{Answer, Backend, Home, Server, exchange};

const TOKEN: &str = "operator-token-of-the-tests";
const PATH: &str = "/api/platform/v1/companies";

async fn ask(server: &Server, target: &str, version: &str, host: Option<&str>) -> Answer {
    let host = host.map_or_else(String::new, |host| format!("Host: {host}\r\n"));
    let request = format!(
        "GET {target} HTTP/{version}\r\n{host}Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    );
    let answer = exchange(&server.platform_url, request.as_bytes()).await;
    answer.expect("it is answered")
}

#[tokio::test]
async fn an_unlisted_host_name_is_refused() {
    let server = Server::start_in(Home::new(Backend::Sqlite).await, TOKEN).await;
    let own = server.platform_url.trim_start_matches("http://").to_owned();
    for host in [
        &own,
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1",
        "[::1]:8081",
        "localhost.",
    ] {
        let answer = ask(&server, PATH, "1.1", Some(host)).await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.text);
    }
    for host in [
        "evil.example",
        "evil.example:8081",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "evil.localhost",
        "192.0.2.7",
        "0.0.0.0",
        "",
    ] {
        for path in [PATH, "/openapi.json", "/handshake", "/nowhere"] {
            let answer = ask(&server, path, "1.1", Some(host)).await;
            assert_eq!(
                answer.refusal(),
                (421, "BAD_REQUEST".to_owned()),
                "{host} {path}"
            );
            assert_eq!(
                answer.header("content-type"),
                "application/json; charset=utf-8"
            );
        }
    }
}

#[tokio::test]
async fn a_target_with_a_host_of_its_own_and_a_missing_or_second_host_are_refused() {
    let server = Server::start_in(Home::new(Backend::Sqlite).await, TOKEN).await;
    let absolute = format!("http://evil.example{PATH}");
    let answer = ask(&server, &absolute, "1.1", Some("localhost")).await;
    assert_eq!(answer.status, 421, "{}", answer.text);
    let absolute = format!("http://localhost{PATH}");
    let answer = ask(&server, &absolute, "1.1", Some("evil.example")).await;
    assert_eq!(answer.status, 421, "{}", answer.text);
    assert_eq!(ask(&server, PATH, "1.0", None).await.status, 421);
    assert_eq!(ask(&server, PATH, "1.1", None).await.status, 400);
    let twice = ask(&server, PATH, "1.1", Some("localhost\r\nHost: localhost")).await;
    assert_eq!(twice.status, 400);
}

#[tokio::test]
async fn probes_and_metrics_are_asked_under_any_name() {
    let server = Server::start_in(Home::new(Backend::Sqlite).await, TOKEN).await;
    for path in ["/livez", "/readyz", "/metrics"] {
        for host in ["10.1.2.3:8081", "preauth-0.internal"] {
            assert_eq!(
                ask(&server, path, "1.1", Some(host)).await.status,
                200,
                "{path}"
            );
        }
        assert_eq!(ask(&server, path, "1.0", None).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn listed_names_lead_to_the_private_listener() {
    let listed = ("PREAUTH_CONSOLE_HOSTS", "platform.internal, 10.1.2.3");
    let home = Home::new(Backend::Sqlite).await;
    let server = Server::start_with(home, TOKEN, &[listed]).await;
    for host in ["platform.internal", "Platform.Internal:443", "10.1.2.3:80"] {
        assert_eq!(
            ask(&server, PATH, "1.1", Some(host)).await.status,
            200,
            "{host}"
        );
    }
    assert_eq!(
        ask(&server, PATH, "1.1", Some("internal")).await.status,
        421
    );
}
