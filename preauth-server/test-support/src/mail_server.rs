//! A mail server per test that treats each address as the test wants.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// How a server encrypts its connections.
#[derive(Clone)]
enum Encryption {
    None,
    /// After the STARTTLS command.
    Offered(TlsAcceptor),
    FromTheStart(TlsAcceptor),
}

/// How mails to an address are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Accepted.
    Take,
    /// Refused permanently.
    Refuse,
    /// The same, in these words.
    RefuseSaying(&'static str),
    /// Refused temporarily.
    NotYet,
    /// The connection is reset in the middle of the mail.
    Reset,
    /// Not accepted, and the complete mail stays unanswered until the manner changes; then the
    /// connection is closed.
    Hang,
    /// Accepted, otherwise like [`Hang`](Self::Hang).
    TakeInSilence,
}

#[derive(Default)]
struct State {
    manners: Mutex<HashMap<String, Manner>>,
    changed: Notify,
    taken: Mutex<Vec<(String, String)>>,
    /// The AUTH commands received.
    logins: Mutex<Vec<String>>,
    refuses_logins: AtomicBool,
    /// The recipients named, in order.
    named: Mutex<Vec<String>>,
}

/// A running mail server.
pub struct MailServer {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<State>,
}

impl MailServer {
    /// A server without TLS.
    pub async fn start() -> Self {
        Self::start_on(ANY_PORT).await
    }

    /// The same at this address.
    pub async fn start_on(address: SocketAddr) -> Self {
        Self::start_as(address, Encryption::None).await
    }

    /// A server with TLS from the first byte.
    pub async fn start_encrypted(tls: TlsAcceptor) -> Self {
        Self::start_as(ANY_PORT, Encryption::FromTheStart(tls)).await
    }

    /// A server that offers STARTTLS.
    pub async fn start_upgrading(tls: TlsAcceptor) -> Self {
        Self::start_as(ANY_PORT, Encryption::Offered(tls)).await
    }

    async fn start_as(address: SocketAddr, encryption: Encryption) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let state = Arc::new(State::default());
        let server = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::clone(&state),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, encryption) = (Arc::clone(&state), encryption.clone());
                // Closing a connection here resets it for the client.
                stream.set_zero_linger().unwrap();
                // A client that disconnects in the middle is no failure of the server.
                tokio::spawn(async move { serve(stream, encryption, &state).await.ok() });
            }
        });
        server
    }

    /// The address of a server that does not run.
    pub fn nobody_at(address: SocketAddr) -> Self {
        Self {
            address,
            state: Arc::default(),
        }
    }

    /// Sets the treatment of an address.
    pub fn treat(&self, address: &str, manner: Manner) {
        let mut manners = self.state.manners.lock().unwrap();
        manners.insert(address.to_owned(), manner);
        self.state.changed.notify_waiters();
    }

    /// All mails accepted for an address.
    pub fn taken_for(&self, address: &str) -> Vec<String> {
        let taken = self.state.taken.lock().unwrap();
        let mails = taken.iter().filter(|(to, _)| to == address);
        mails.map(|(_, mail)| mail.clone()).collect()
    }

    /// The AUTH commands received.
    pub fn logins(&self) -> Vec<String> {
        self.state.logins.lock().unwrap().clone()
    }

    /// Refuses logins, or accepts them again.
    pub fn refuse_logins(&self, refuses: bool) {
        self.state.refuses_logins.store(refuses, Ordering::SeqCst);
    }

    /// How often an address was named as a recipient.
    pub fn times_named(&self, address: &str) -> usize {
        let named = self.state.named.lock().unwrap();
        named.iter().filter(|named| *named == address).count()
    }
}

impl State {
    fn manner(&self, address: &str) -> Manner {
        let manners = self.manners.lock().unwrap();
        manners.get(address).copied().unwrap_or(Manner::Take)
    }

    fn log_in(&self, line: &str) {
        let mut logins = self.logins.lock().unwrap();
        logins.push(line.trim_end().to_owned());
    }

    async fn until_changed(&self, address: &str) {
        let before = self.manner(address);
        while self.manner(address) == before {
            let _ = tokio::time::timeout(Duration::from_millis(100), self.changed.notified()).await;
        }
    }
}

async fn serve(stream: TcpStream, encryption: Encryption, state: &State) -> io::Result<()> {
    match encryption {
        Encryption::None => {
            let stream = greet(stream).await?;
            converse(stream, false, state).await?;
        }
        Encryption::FromTheStart(tls) => {
            let stream = greet(tls.accept(stream).await?).await?;
            converse(stream, false, state).await?;
        }
        Encryption::Offered(tls) => {
            let stream = greet(stream).await?;
            if let Some(plain) = converse(stream, true, state).await? {
                let encrypted = tls.accept(plain).await?;
                converse(BufReader::new(encrypted), false, state).await?;
            }
        }
    }
    Ok(())
}

async fn greet<S>(stream: S) -> io::Result<BufReader<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut stream = BufReader::new(stream);
    reply(&mut stream, "220 test").await?;
    Ok(stream)
}

/// Serves until the client disconnects or starts TLS on the returned stream.
async fn converse<S>(
    mut stream: BufReader<S>,
    offers_tls: bool,
    state: &State,
) -> io::Result<Option<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut to = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let word = line.split([' ', '\r']).next().unwrap_or_default();
        match word.to_uppercase().as_str() {
            "EHLO" if offers_tls => reply(&mut stream, "250-test\r\n250 STARTTLS").await?,
            "EHLO" => reply(&mut stream, "250-test\r\n250 AUTH PLAIN").await?,
            "STARTTLS" if offers_tls => {
                reply(&mut stream, "220 go on").await?;
                return Ok(Some(stream.into_inner()));
            }
            "AUTH" => {
                state.log_in(&line);
                let refuses = state.refuses_logins.load(Ordering::SeqCst);
                let answer = if refuses {
                    "535 5.7.8 bad credentials"
                } else {
                    "235 welcome"
                };
                reply(&mut stream, answer).await?;
            }
            "MAIL" | "RSET" | "NOOP" => reply(&mut stream, "250 fine").await?,
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1).unwrap_or_default();
                address.clone_into(&mut to);
                state.named.lock().unwrap().push(to.clone());
                let answer = match state.manner(&to) {
                    Manner::Refuse => "550 5.1.1 no such user here",
                    Manner::RefuseSaying(words) => words,
                    Manner::NotYet => "451 4.7.1 greylisted, come back later",
                    Manner::Take | Manner::Reset | Manner::Hang | Manner::TakeInSilence => {
                        "250 fine"
                    }
                };
                reply(&mut stream, answer).await?;
            }
            "DATA" => {
                reply(&mut stream, "354 go on").await?;
                if state.manner(&to) == Manner::Reset {
                    stream.read_exact(&mut [0; 64]).await?;
                    return Ok(None);
                }
                let mail = read_mail(&mut stream).await?;
                let manner = state.manner(&to);
                if manner != Manner::Hang {
                    state.taken.lock().unwrap().push((to.clone(), mail));
                }
                if matches!(manner, Manner::Hang | Manner::TakeInSilence) {
                    state.until_changed(&to).await;
                    return Ok(None);
                }
                reply(&mut stream, "250 taken as 4711").await?;
            }
            "QUIT" => {
                reply(&mut stream, "221 bye").await?;
                return Ok(None);
            }
            _ => reply(&mut stream, "502 what?").await?,
        }
    }
}

async fn read_mail<S>(stream: &mut BufReader<S>) -> io::Result<String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut mail = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(mail);
        }
        assert!(line.ends_with("\r\n"), "{line:?} has the line end of mail");
        mail.push_str(&line);
    }
}

async fn reply<S>(stream: &mut BufReader<S>, text: &str) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let line = format!("{text}\r\n");
    stream.get_mut().write_all(line.as_bytes()).await?;
    stream.get_mut().flush().await
}
