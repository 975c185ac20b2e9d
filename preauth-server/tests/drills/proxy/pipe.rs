//! One connection: both directions, until either side closes it or it is cut.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

use super::wire::Requests;
use super::{FailureMode, Way};

/// Where around a commit a connection is cut.
#[derive(Clone, Copy)]
enum Moment {
    /// The server never receives it.
    Before,
    /// The server receives it; the connection is cut without waiting for the answer.
    Within,
    /// The server has answered; the client never receives the answer.
    After,
}

const MOMENTS: [Moment; 3] = [Moment::After, Moment::Within, Moment::Before];

/// Forwards in both directions; both connections close when this returns.
pub(super) async fn between(from: TcpStream, to: TcpStream, way: &Way) {
    let (from_reader, from_writer) = from.into_split();
    let (to_reader, to_writer) = to.into_split();
    let is_cut_at_answer = AtomicBool::new(false);
    let requests = pass_requests(from_reader, to_writer, way, &is_cut_at_answer);
    let answers = pass_answers(to_reader, from_writer, way, &is_cut_at_answer);
    tokio::select! {
        _ = requests => {}
        _ = answers => {}
    }
}

async fn pass_requests(
    mut reader: OwnedReadHalf,
    mut writer: OwnedWriteHalf,
    way: &Way,
    is_cut_at_answer: &AtomicBool,
) -> io::Result<()> {
    let mut requests = Requests::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = reader.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        let bytes = &buffer[..read];
        let is_commit = way.is_to_database && requests.see(bytes);
        way.let_pass(|failure_mode| failure_mode != FailureMode::Stall)
            .await;
        match is_commit.then(|| way.moment_to_cut()).flatten() {
            None => writer.write_all(bytes).await?,
            Some(Moment::Before) => return Ok(()),
            Some(Moment::Within) => return writer.write_all(bytes).await,
            Some(Moment::After) => {
                is_cut_at_answer.store(true, Ordering::Relaxed);
                writer.write_all(bytes).await?;
            }
        }
    }
}

async fn pass_answers(
    mut reader: OwnedReadHalf,
    mut writer: OwnedWriteHalf,
    way: &Way,
    is_cut_at_answer: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = reader.read(&mut buffer).await?;
        if read == 0 || is_cut_at_answer.load(Ordering::Relaxed) {
            return Ok(());
        }
        way.let_pass(|failure_mode| {
            !matches!(failure_mode, FailureMode::Stall | FailureMode::HoldAnswers)
        })
        .await;
        writer.write_all(&buffer[..read]).await?;
    }
}

impl Way {
    /// Waits until the failure mode lets data pass, and for its delay.
    async fn let_pass(&self, allows: impl Fn(FailureMode) -> bool) {
        let mut failure_mode = self.failure_mode.subscribe();
        let now = *failure_mode.borrow();
        if let FailureMode::Delay(delay) = now {
            sleep(delay).await;
        }
        let _ = failure_mode
            .wait_for(|failure_mode| allows(*failure_mode))
            .await;
    }

    fn moment_to_cut(&self) -> Option<Moment> {
        let FailureMode::CutCommits { every } = *self.failure_mode.borrow() else {
            return None;
        };
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if !commits.is_multiple_of(every) {
            return None;
        }
        let cut = self.cuts.fetch_add(1, Ordering::Relaxed);
        let moment = usize::try_from(cut).unwrap() % MOMENTS.len();
        Some(MOMENTS[moment])
    }
}
