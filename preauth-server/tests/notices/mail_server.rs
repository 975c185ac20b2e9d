//! A mail server of one's own, which treats each address as it is told to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What becomes of mails to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Taken.
    Take,
    /// Refused for good.
    Refuse,
    /// Refused for now.
    NotYet,
    /// The connection is reset in the middle of the mail.
    Reset,
    /// Not taken, and no answer to the whole mail until the manner changes; then the connection is
    /// closed.
    Hang,
    /// Taken, and the rest like [`Hang`](Self::Hang).
    TakeInSilence,
}

#[derive(Default)]
struct State {
    manners: Mutex<HashMap<String, Manner>>,
    changed: Notify,
    taken: Mutex<Vec<(String, String)>>,
    /// Addresses that were named, in their order.
    named: Mutex<Vec<String>>,
}

/// A running mail server.
pub(crate) struct MailServer {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

impl MailServer {
    pub(crate) async fn start() -> Self {
        Self::start_on("127.0.0.1:0".parse().unwrap()).await
    }

    pub(crate) async fn start_on(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let state = Arc::new(State::default());
        let server = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::clone(&state),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&state);
                // A client that goes away in the middle is none of our business.
                tokio::spawn(async move { converse(stream, &state).await.ok() });
            }
        });
        server
    }

    /// Where a server would be, if there were one.
    pub(crate) fn nobody_at(address: SocketAddr) -> Self {
        Self {
            address,
            state: Arc::default(),
        }
    }

    /// Treats an address so from now on.
    pub(crate) fn treat(&self, address: &str, manner: Manner) {
        let mut manners = self.state.manners.lock().unwrap();
        manners.insert(address.to_owned(), manner);
        self.state.changed.notify_waiters();
    }

    /// Everything that was taken for an address.
    pub(crate) fn taken_for(&self, address: &str) -> Vec<String> {
        let taken = self.state.taken.lock().unwrap();
        let mails = taken.iter().filter(|(to, _)| to == address);
        mails.map(|(_, mail)| mail.clone()).collect()
    }

    /// How often an address was named.
    pub(crate) fn times_named(&self, address: &str) -> usize {
        let named = self.state.named.lock().unwrap();
        named.iter().filter(|named| *named == address).count()
    }
}

impl State {
    fn manner(&self, address: &str) -> Manner {
        let manners = self.manners.lock().unwrap();
        manners.get(address).copied().unwrap_or(Manner::Take)
    }

    async fn until_changed(&self, address: &str) {
        let before = self.manner(address);
        while self.manner(address) == before {
            let _ = tokio::time::timeout(Duration::from_millis(100), self.changed.notified()).await;
        }
    }
}

async fn converse(stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut to = String::new();
    say(&mut stream, "220 test").await?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let word = line.split([' ', '\r']).next().unwrap_or_default();
        match word.to_uppercase().as_str() {
            "EHLO" => say(&mut stream, "250 test").await?,
            "MAIL" | "RSET" | "NOOP" => say(&mut stream, "250 fine").await?,
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1).unwrap_or_default();
                address.clone_into(&mut to);
                state.named.lock().unwrap().push(to.clone());
                let answer = match state.manner(&to) {
                    Manner::Refuse => "550 5.1.1 no such user here",
                    Manner::NotYet => "451 4.7.1 greylisted, come back later",
                    Manner::Take | Manner::Reset | Manner::Hang | Manner::TakeInSilence => {
                        "250 fine"
                    }
                };
                say(&mut stream, answer).await?;
            }
            "DATA" => {
                say(&mut stream, "354 go on").await?;
                if state.manner(&to) == Manner::Reset {
                    stream.read_exact(&mut [0; 64]).await?;
                    stream.get_ref().set_zero_linger()?;
                    return Ok(());
                }
                let mail = read_mail(&mut stream).await?;
                let manner = state.manner(&to);
                if manner != Manner::Hang {
                    state.taken.lock().unwrap().push((to.clone(), mail));
                }
                if matches!(manner, Manner::Hang | Manner::TakeInSilence) {
                    state.until_changed(&to).await;
                    return Ok(());
                }
                say(&mut stream, "250 taken as 4711").await?;
            }
            "QUIT" => return say(&mut stream, "221 bye").await,
            _ => say(&mut stream, "502 what?").await?,
        }
    }
}

async fn read_mail(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut mail = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(mail);
        }
        assert!(line.ends_with("\r\n"), "{line:?} has the line end of mail");
        mail.push_str(&line);
    }
}

async fn say(stream: &mut BufReader<TcpStream>, text: &str) -> std::io::Result<()> {
    let line = format!("{text}\r\n");
    stream.get_mut().write_all(line.as_bytes()).await
}
