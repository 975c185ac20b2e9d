//! A receiver on a real socket that misbehaves as configured.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The reaction of a receiver to a request.
#[derive(Clone)]
pub(super) enum Behaviour {
    /// Answers, and waits for the next request on the same connection.
    Answer(Vec<u8>),
    /// Begins to answer and never finishes.
    Stall(Vec<u8>),
    /// Begins to answer and repeats the same bytes for ever.
    Endless(Vec<u8>, Vec<u8>),
    /// Closes the connection.
    HangUp,
}

impl Behaviour {
    pub(super) fn answer(head: &str, body: &str) -> Self {
        let length = body.len();
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}");
        Self::Answer(answer.into_bytes())
    }
}

/// Listens on a loopback port until it is dropped.
pub(super) struct Receiver {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    hang_up: Arc<Notify>,
    task: tokio::task::JoinHandle<()>,
}

impl Receiver {
    pub(super) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::default());
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        let hang_up = Arc::new(Notify::new());
        let end = Arc::clone(&hang_up);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let serving = serve(stream, behaviour.clone(), Arc::clone(&seen));
                let end = Arc::clone(&end);
                tokio::spawn(async move {
                    tokio::select! {
                        () = serving => {}
                        () = end.notified() => {}
                    }
                });
            }
        });
        Self {
            port,
            requests,
            connections,
            hang_up,
            task,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?tenant=1", self.port)
    }

    /// Head and body of every request, as received.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Closes the open connections.
    pub(super) fn hang_up(&self) {
        self.hang_up.notify_waiters();
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, behaviour: Behaviour, seen: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read_request(&mut stream).await {
        seen.lock().unwrap().push(request);
        match &behaviour {
            Behaviour::Answer(answer) => stream.write_all(answer).await.unwrap(),
            Behaviour::Stall(beginning) => {
                stream.write_all(beginning).await.unwrap();
                std::future::pending::<()>().await;
            }
            Behaviour::Endless(beginning, again) => {
                stream.write_all(beginning).await.unwrap();
                while stream.write_all(again).await.is_ok() {}
            }
            Behaviour::HangUp => return,
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let length = lines.clone().find(|(name, _)| *name == "content-length");
            if length.is_some_and(|(_, length)| length.parse() == Ok(body.len())) {
                return Some(text);
            }
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
