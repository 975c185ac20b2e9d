//! Limits per client: connections, and look-ups of unknown keys. And how a client is identified.

use std::net::SocketAddr;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::access::NewApiKey;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use test_support::{Answer, Backend, RawCaller, Sandbox, Server, offer_body, on_each_database};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

on_each_database! {
    idle_connections_of_one_client_keep_nobody_out,
    idle_connections_of_many_clients_keep_nobody_out,
    a_request_under_way_keeps_its_connection,
    a_valid_key_is_let_in_from_an_address_that_sent_too_many_unknown_ones,
    the_client_behind_a_trusted_proxy_is_limited_and_not_the_proxy,
    a_forwarded_address_is_believed_of_trusted_proxies_alone,
    requests_under_way_through_a_proxy_count_for_their_client,
}

const TOKEN: &str = "operator-token-of-the-tests";
const DEADLINE: Duration = Duration::from_mins(1);
const COMPANIES: &str = "/api/platform/v1/companies";
/// More look-ups than a client may cause in a minute.
const TOO_MANY: usize = 601;
/// Of the loopback network only this address is exempt from the limit.
const COUNTED: (&str, &str) = ("PREAUTH_CONNECTIONS_UNCOUNTED_NETWORKS", "127.0.0.99/32");

/// A server in production mode on a sandbox's database, the sandbox's ready file, and an offer.
async fn serve(backend: Backend, variables: &[(&str, &str)]) -> (Server, Value, Value) {
    let sandbox = Sandbox::start(backend).await;
    let (ready, offer) = (sandbox.ready.clone(), offer_body(&sandbox, "NF-1"));
    let server = Server::start_with(sandbox.kill(), TOKEN, variables).await;
    (server, ready, offer)
}

fn caller(server: &Server, ready: &Value) -> RawCaller {
    RawCaller::new(&server.base_url, ready["apiKey"].as_str())
}

/// Connects from the loopback address with this last number.
async fn connect_from(last: u8, base_url: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::from(([127, 0, 0, last], 0)))
        .unwrap();
    let address = base_url.trim_start_matches("http://").parse().unwrap();
    socket.connect(address).await.unwrap()
}

async fn is_closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let closed = async {
        // A reset closes the connection, too.
        let _ = stream.read_to_end(&mut rest).await;
    };
    tokio::time::timeout(DEADLINE, closed)
        .await
        .expect("it is closed");
    assert_eq!(rest, b"");
}

fn is_open(stream: &TcpStream) -> bool {
    let read = stream.try_read(&mut [0; 1]);
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

async fn idle_connections_of_one_client_keep_nobody_out(backend: Backend) {
    let limits = [
        COUNTED,
        ("PREAUTH_CONNECTIONS_MAX", "60"),
        ("PREAUTH_CONNECTIONS_MAX_PER_CLIENT", "20"),
    ];
    let (server, ready, _) = serve(backend, &limits).await;
    for url in [&server.base_url, &server.platform_url] {
        let mut idle = Vec::new();
        for _ in 0..200 {
            idle.push(connect_from(2, url).await);
        }
        let mut kept = idle.split_off(180);
        for stream in &mut idle {
            is_closed(stream).await;
        }
        assert!(kept.iter().all(is_open), "the latest 20 stay");
        let answered = caller(&server, &ready).get(PRE_AUTHORIZATIONS).await;
        assert_eq!(answered.status, 200);
        let operator = RawCaller::new(&server.platform_url, Some(TOKEN));
        assert_eq!(operator.get(COMPANIES).await.status, 200);
        assert!(kept.iter_mut().all(|stream| is_open(stream)));
    }
}

async fn idle_connections_of_many_clients_keep_nobody_out(backend: Backend) {
    let limits = [
        COUNTED,
        ("PREAUTH_CONNECTIONS_MAX", "60"),
        ("PREAUTH_CONNECTIONS_MAX_PER_CLIENT", "20"),
    ];
    let (server, ready, _) = serve(backend, &limits).await;
    let mut idle = Vec::new();
    for last in 2..=11 {
        for _ in 0..20 {
            idle.push(connect_from(last, &server.base_url).await);
        }
    }
    for stream in idle.iter_mut().take(140) {
        is_closed(stream).await;
    }
    let answered = caller(&server, &ready).get(PRE_AUTHORIZATIONS).await;
    assert_eq!(answered.status, 200);
}

async fn a_request_under_way_keeps_its_connection(backend: Backend) {
    let limits = [COUNTED, ("PREAUTH_CONNECTIONS_MAX_PER_CLIENT", "2")];
    let (server, ready, offer) = serve(backend, &limits).await;
    let (body, key) = (offer.to_string(), ready["apiKey"].as_str().unwrap());
    let mut first = connect_from(2, &server.base_url).await;
    let mut second = connect_from(2, &server.base_url).await;
    let head = format!(
        "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len(),
    );
    first.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body: the request is in progress.
    let mut interim = [0; 25];
    first.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    let third = connect_from(2, &server.base_url).await;
    is_closed(&mut second).await;
    let mut fourth = connect_from(2, &server.base_url).await;
    let mut third = third;
    is_closed(&mut third).await;
    first.write_all(body.as_bytes()).await.unwrap();
    first.shutdown().await.unwrap();
    let mut answer = String::new();
    first.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    // A kept connection stays usable.
    let request = format!(
        "GET {PRE_AUTHORIZATIONS}/9999 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    for _ in 0..2 {
        fourth.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"}]}") {
            assert_ne!(fourth.read_buf(&mut answer).await.unwrap(), 0);
        }
        assert!(answer.starts_with(b"HTTP/1.1 404 "));
    }
}

/// A request with a well-formed key that does not exist.
async fn guess(guesser: &RawCaller, forwarded: Option<&str>) -> Answer {
    let key = NewApiKey::generate();
    let authorization = format!("Bearer {}", key.clear_text.expose_secret());
    send_from(guesser, forwarded, &[("authorization", &authorization)]).await
}

async fn send_from(caller: &RawCaller, forwarded: Option<&str>, more: &[(&str, &str)]) -> Answer {
    let mut headers = more.to_vec();
    headers.extend(forwarded.map(|address| ("x-forwarded-for", address)));
    let get = reqwest::Method::GET;
    caller.send(get, PRE_AUTHORIZATIONS, &headers, None).await
}

/// Sends unknown keys until no more are looked up; returns the last answer.
async fn exhaust(guesser: &RawCaller, forwarded: impl Fn(usize) -> Option<String>) -> Answer {
    let mut last = guess(guesser, forwarded(0).as_deref()).await;
    for n in 1..TOO_MANY {
        assert_eq!(last.refusal(), (401, "API_KEY_INVALID".to_owned()), "{n}");
        last = guess(guesser, forwarded(n).as_deref()).await;
        if last.status == 429 {
            break;
        }
    }
    last
}

async fn a_valid_key_is_let_in_from_an_address_that_sent_too_many_unknown_ones(backend: Backend) {
    let (server, ready, _) = serve(backend, &[]).await;
    let guesser = RawCaller::new(&server.base_url, None);
    let refused = exhaust(&guesser, |_| None).await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED".to_owned()));
    // This instance has not cached the key.
    let erp = caller(&server, &ready);
    assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    // The same for a key that was created just now.
    let operator = RawCaller::new(&server.platform_url, Some(TOKEN));
    let companies = operator.get(COMPANIES).await.json();
    let ours = companies["data"].as_array().unwrap().iter();
    let mut ours = ours.filter(|company| company["cnpj"] == ready["companyCnpj"]);
    let company = format!(
        "{COMPANIES}/{}",
        ours.next().unwrap()["id"].as_str().unwrap()
    );
    let users = operator.get(&format!("{company}/users")).await.json();
    let mut users = users["data"].as_array().unwrap().iter();
    let user = users.find(|user| {
        let permissions = user["permissions"].as_array().unwrap();
        user["active"] == true && permissions.len() == 2
    });
    let key = json!({
        "name": "ERP", "responsibleUserId": user.unwrap()["id"], "scopes": ["preauth:read"],
    });
    for _ in 0..3 {
        let made = operator
            .post_json(&format!("{company}/api-keys"), &key)
            .await;
        assert_eq!(made.status, 201, "{}", made.text);
        let made = made.json();
        let erp = RawCaller::new(&server.base_url, made["key"].as_str());
        assert_eq!(erp.get(PRE_AUTHORIZATIONS).await.status, 200);
    }
    assert_eq!(guess(&guesser, None).await.status, 429);
}

async fn the_client_behind_a_trusted_proxy_is_limited_and_not_the_proxy(backend: Backend) {
    let proxies = [("PREAUTH_TRUSTED_PROXIES", "127.0.0.1/32,10.0.0.0/8")];
    let (server, ready, _) = serve(backend, &proxies).await;
    let network = |n: usize| Some(format!("203.0.113.66, 2001:db8::{n:x}, 10.0.0.1"));
    let guesser = RawCaller::new(&server.base_url, None);
    let refused = exhaust(&guesser, network).await;
    assert_eq!(refused.refusal(), (429, "RATE_LIMITED".to_owned()));
    for other in ["2001:db8:0:1::1", "198.51.100.7", "nonsense"] {
        assert_eq!(guess(&guesser, Some(other)).await.status, 401, "{other}");
    }
    assert_eq!(guess(&guesser, Some("2001:db8::ffff")).await.status, 429);
    let erp = caller(&server, &ready);
    assert_eq!(send_from(&erp, Some("2001:db8::1"), &[]).await.status, 200);
}

async fn a_forwarded_address_is_believed_of_trusted_proxies_alone(backend: Backend) {
    let proxies = [("PREAUTH_TRUSTED_PROXIES", "127.0.0.2/32")];
    let (server, ready, _) = serve(backend, &proxies).await;
    let key = ready["apiKey"].as_str().unwrap();
    let request = format!(
        "GET {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nX-Forwarded-For: ::ffff:198.51.100.7\r\nConnection: close\r\n\r\n"
    );
    for last in [1, 2] {
        let mut stream = connect_from(last, &server.base_url).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let operator = RawCaller::new(&server.platform_url, Some(TOKEN));
    assert_eq!(operator.get(COMPANIES).await.status, 200);
    let log = server.stop();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let requests = lines.filter(|line| line["target"] == "request" && line["key"].is_string());
    let clients: Vec<_> = requests.map(|line| line["client"].clone()).collect();
    assert_eq!(clients, ["127.0.0.1", "198.51.100.7"]);
    let of_platform = format!("{COMPANIES}\"");
    let line = log
        .lines()
        .find(|line| line.contains(&of_platform))
        .unwrap();
    assert!(line.contains("\"client\":\"127.0.0.1\""), "{line}");
}

async fn requests_under_way_through_a_proxy_count_for_their_client(backend: Backend) {
    let limits = [
        ("PREAUTH_TRUSTED_PROXIES", "127.0.0.2/32"),
        ("PREAUTH_CONNECTIONS_MAX_PER_CLIENT", "2"),
    ];
    let (server, ready, _) = serve(backend, &limits).await;
    let key = ready["apiKey"].as_str().unwrap();
    let begin = async |client: &str| {
        let mut stream = connect_from(2, &server.base_url).await;
        let head = format!(
            "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nX-Forwarded-For: {client}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        (stream, String::from_utf8(status.to_vec()).unwrap())
    };
    let (first, under_way) = begin("198.51.100.7").await;
    assert_eq!(under_way, "HTTP/1.1 100");
    let (_second, under_way) = begin("198.51.100.7").await;
    assert_eq!(under_way, "HTTP/1.1 100");
    let (mut third, refused) = begin("198.51.100.7").await;
    assert_eq!(refused, "HTTP/1.1 503");
    third.shutdown().await.unwrap();
    let mut rest = String::new();
    third.read_to_string(&mut rest).await.unwrap();
    assert!(rest.to_lowercase().contains("retry-after: 1\r\n"), "{rest}");
    assert!(rest.contains("SERVICE_UNAVAILABLE"), "{rest}");
    let (_other, under_way) = begin("198.51.100.8").await;
    assert_eq!(under_way, "HTTP/1.1 100");
    drop(first);
    let again = async { while begin("198.51.100.7").await.1 != "HTTP/1.1 100" {} };
    tokio::time::timeout(DEADLINE, again)
        .await
        .expect("there is room");
}
