//! Servers and files that impersonate the platform get no credential.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use test_support::{Authority, Backend, Home, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::operator::{Done, preauth};

const TOKEN: &str = "operator-token-of-the-tests";
const LIST: [&str; 2] = ["company", "list"];

/// A server of an attacker: it records what arrives and answers as the test wants.
pub(crate) struct Impostor {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<String>>,
}

impl Impostor {
    pub(crate) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::doing(move |stream, received| {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or(0);
            let text = String::from_utf8_lossy(&head[..length]);
            received.lock().unwrap().push_str(&text);
            let _ = stream.write_all(&answer);
        })
    }

    /// Relays everything to `server`, and its answers back.
    fn relaying(server: &str) -> Self {
        let server = server.trim_start_matches("http://").to_owned();
        Self::doing(move |stream, received| {
            let mut behind = TcpStream::connect(&server).unwrap();
            let (mut back_from, mut back_to) =
                (behind.try_clone().unwrap(), stream.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut back_from, &mut back_to);
            });
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..length]);
                received.lock().unwrap().push_str(&text);
                behind.write_all(&buffer[..length]).unwrap();
            }
        })
    }

    fn doing(act: impl Fn(&mut TcpStream, &Mutex<String>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<String>>::default();
        let (kept, act) = (Arc::clone(&received), Arc::new(act));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, kept, act) =
                    (stream.unwrap(), Arc::clone(&kept), Arc::clone(&act));
                std::thread::spawn(move || act(&mut stream, &kept));
            }
        });
        Self { address, received }
    }

    pub(crate) fn received(&self) -> String {
        self.received.lock().unwrap().clone()
    }

    /// Fails if it got the token or anything derived from it.
    #[track_caller]
    fn has_no_credential(&self) {
        let received = self.received();
        assert!(!received.contains(TOKEN), "{received}");
        assert!(
            !received.to_lowercase().contains("authorization"),
            "{received}"
        );
    }
}

fn run(folder: &Path, arguments: &[&str], more: &[(&str, &str)]) -> Done {
    let token = ("PREAUTH_PLATFORM_TOKEN", TOKEN);
    preauth(folder, arguments, &[&[token], more].concat())
}

/// Writes an announcement of `address` to `data`, as a running server does.
fn announce(data: &Path, address: SocketAddr) -> File {
    let path = data.join("platform-address");
    std::fs::write(&path, format!("http://{address}")).unwrap();
    mode(&path, 0o600);
    let file = File::open(path).unwrap();
    file.lock().unwrap();
    file
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_listener_on_the_configured_port_is_asked_nothing_where_no_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let impostor = Impostor::answering("HTTP/1.1 200 OK\r\n\r\n");
    let listen = ("PREAUTH_PLATFORM_LISTEN", &*impostor.address.to_string());
    let done = run(folder.path(), &LIST, &[listen]);
    done.failed(
        2,
        &[
            "no server runs on the data folder preauth-data",
            "--platform-url",
        ],
    );
    assert_eq!(impostor.received(), "");
}

#[test]
fn a_folder_that_others_may_write_to_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let impostor = Impostor::answering("HTTP/1.1 200 OK\r\n\r\n");
    let data = folder.path().join("preauth-data");
    std::fs::create_dir(&data).unwrap();
    let _lives = announce(&data, impostor.address);
    for (folder_mode, file_mode) in [
        (0o777, 0o600),
        (0o1777, 0o600),
        (0o770, 0o600),
        (0o700, 0o666),
    ] {
        mode(&data, folder_mode);
        mode(&data.join("platform-address"), file_mode);
        let done = run(folder.path(), &LIST, &[]);
        done.failed(2, &["preauth-data is not trusted", "others may"]);
    }
    if is_root() {
        mode(&data, 0o700);
        mode(&data.join("platform-address"), 0o600);
        std::os::unix::fs::chown(&data, Some(65534), None).unwrap();
        let done = run(folder.path(), &LIST, &[]);
        done.failed(2, &["belongs to user 65534"]);
    }
    assert_eq!(impostor.received(), "");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    tempfile::tempfile().unwrap().metadata().unwrap().uid() == 0
}

#[test]
fn an_impostor_on_a_servers_port_gets_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("preauth-data");
    std::fs::create_dir(&data).unwrap();
    mode(&data, 0o700);
    let elsewhere = Impostor::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let redirect = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
        elsewhere.address
    );
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1 << 20));
    let lie = format!(
        r#"{{"instance": "{}", "address": "127.0.0.1:1", "mac": "{}"}}"#,
        "00".repeat(32),
        "00".repeat(32)
    );
    let lie = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{lie}",
        lie.len()
    );
    let silent = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned();
    for answer in [redirect, endless, lie, silent] {
        let impostor = Impostor::answering(answer);
        let _lives = announce(&data, impostor.address);
        let done = run(folder.path(), &LIST, &[]);
        done.failed(3, &["does not prove that it has the operator token"]);
        assert!(
            impostor.received().starts_with("GET /handshake "),
            "it was asked"
        );
        impostor.has_no_credential();
        // The same when the address is given by the operator.
        let url = (
            "PREAUTH_PLATFORM_URL",
            &*format!("http://{}", impostor.address),
        );
        run(folder.path(), &LIST, &[url]).failed(3, &["does not prove"]);
        impostor.has_no_credential();
    }
    assert_eq!(elsewhere.received(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_to_the_real_server_is_detected() {
    let server = Server::start_in(Home::new(Backend::Sqlite).await, TOKEN).await;
    let folder = tempfile::tempdir().unwrap();
    let relay = Impostor::relaying(&server.platform_url);
    let url = format!("http://{}", relay.address);
    let through = [&LIST[..], &["--platform-url", &url]].concat();
    let done = run(folder.path(), &through, &[]);
    done.failed(3, &["another address", "--insecure-http"]);
    relay.has_no_credential();
    // The operator's own tunnel transfers a credential that is valid for this server process alone.
    let tunnel = [&through[..], &["--insecure-http"]].concat();
    assert_eq!(run(folder.path(), &tunnel, &[]).code, 0);
    let carried = relay.received();
    assert!(carried.contains("Bearer preauth_session_"), "{carried}");
    assert!(!carried.contains(TOKEN), "{carried}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_proxy_of_the_environment_is_asked() {
    let server = Server::start_in(Home::new(Backend::Sqlite).await, TOKEN).await;
    let folder = tempfile::tempdir().unwrap();
    let proxy = Impostor::answering("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    let address = format!("http://{}", proxy.address);
    let names = [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ];
    let mut variables: Vec<_> = names.iter().map(|name| (*name, &*address)).collect();
    variables.push(("PREAUTH_PLATFORM_URL", &server.platform_url));
    let done = run(folder.path(), &LIST, &variables);
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "none\n"),
        "{}",
        done.err
    );
    assert_eq!(proxy.received(), "");
}

/// The requests that a server with this certificate gets from a command that takes it for
/// `localhost` and trusts `roots`.
async fn requests_behind(certificate: TlsAcceptor, roots: &Path) -> (Done, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hearing = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = certificate.accept(stream).await else {
            return String::new();
        };
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).await.unwrap_or(0);
        let answer = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
        let _ = stream.write_all(answer).await;
        let _ = stream.shutdown().await;
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let folder = tempfile::tempdir().unwrap();
    let url = (
        "PREAUTH_PLATFORM_URL",
        &*format!("https://localhost:{port}"),
    );
    let trusted = ("SSL_CERT_FILE", roots.to_str().unwrap());
    let done = tokio::task::block_in_place(|| run(folder.path(), &LIST, &[url, trusted]));
    (done, hearing.await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_https_a_certificate_for_the_name_that_was_given_proves_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    let authority = Authority::new();
    authority.write(&roots);
    for certificate in [
        Authority::new().proves("localhost"),
        authority.proves("platform.example"),
        authority.proved("localhost"),
    ] {
        let (done, requests) = requests_behind(certificate, &roots).await;
        done.failed(3, &["does not answer"]);
        assert_eq!(requests, "");
    }
    let (_, requests) = requests_behind(authority.proves("localhost"), &roots).await;
    assert!(requests.contains(&format!("Bearer {TOKEN}")), "{requests}");
}
