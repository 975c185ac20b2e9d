//! The loop: leases mails, builds each, sends it, and records the outcome.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;

use crate::clock::{Clock, Stopwatch};
use crate::hold::Hold;
use crate::ids::jitter;
use crate::live::Live;
use crate::worker::{LoopHealth, Next, Shutdown, pause, repeat, retry_briefly};

use super::letterhead::Letterhead;
use super::queue::{Claimed, LeasedMail, MailQueue, Outcome};
use super::recorder::Recorder;
use super::retry;
use super::share::{DailyShare, MailClaim, MailLimits};
use super::transport::{NotTaken, Transport};

/// The worker's name in metrics and in the log, where dashboards look for it.
const WORKER: &str = "notices";
/// Maximum number of mails in progress in one process: mail servers accept few connections, and a
/// slow mail blocks only its own lane.
const LANES: usize = 4;
/// Maximum number of mails that one claim leases, for all lanes.
const MAX_LEASED: u32 = 16;
/// Maximum time that a leased mail waits for a lane: its offer may close meanwhile.
const MAX_WAIT: TimeDelta = TimeDelta::seconds(2);
/// Minimum interval between two claims while fewer mails are due than one leases: mails that come one by
/// one are leased together.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// Interval at which an idle lane polls.
const REST: Duration = Duration::from_secs(1);
/// The part of the limit of new mailboxes from which a head office is close to it.
const NEAR_PERCENT: u64 = 80;
/// Duration of a lease: longer than waiting for a lane, a transport and the recording take.
const LEASE: TimeDelta = TimeDelta::minutes(2);
/// Time that a mail in progress has when the server stops.
const LAST_MOMENTS: Duration = Duration::from_secs(4);
/// A slow transport, and three calls that the database gives up after 45 s each.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(5);

/// Sends stored mails; any number of instances may share one queue.
///
/// [`run_once`](Self::run_once) is a single step, [`run`](Self::run) the loop.
pub struct MailSender {
    queue: Arc<dyn MailQueue>,
    parts: MailParts,
    clock: Arc<dyn Clock>,
    wake: Arc<Notify>,
    hold: Hold,
    /// Lanes wait for each other's claim, and share what it leases.
    batch: Mutex<LeasedBatch>,
    recorder: Recorder,
    health: Arc<LoopHealth>,
}

/// Mails that were leased together, until lanes take them.
#[derive(Default)]
struct LeasedBatch {
    mails: VecDeque<Box<LeasedMail>>,
    since: Option<Stopwatch>,
    /// Whether the claim found as many mails as it may lease.
    was_full: bool,
}

impl LeasedBatch {
    /// The time until the next claim.
    fn rest(&self) -> Option<Duration> {
        let since = self.since.filter(|_| !self.was_full)?;
        MIN_INTERVAL.checked_sub(since.elapsed().to_std().unwrap_or_default())
    }
}

/// Builds, limits and transports mails.
#[derive(Clone)]
pub struct MailParts {
    /// Common to all mails.
    pub letterhead: Letterhead,
    /// The daily limits of offers and invitations.
    pub limits: Live<MailLimits>,
    /// The transport.
    pub transport: Arc<dyn Transport>,
}

impl MailSender {
    /// A sender that polls when `wake` is notified, and every second otherwise.
    #[must_use]
    pub fn new(
        queue: Arc<dyn MailQueue>,
        parts: MailParts,
        clock: Arc<dyn Clock>,
        wake: Arc<Notify>,
    ) -> Self {
        queue.follow(&parts.limits);
        Self {
            queue,
            parts,
            clock,
            wake,
            hold: Hold::default(),
            batch: Mutex::default(),
            recorder: Recorder::default(),
            health: Arc::new(LoopHealth::new(WORKER, STALLS_AFTER)),
        }
    }

    /// The same sender, which pauses while the instance is held.
    #[must_use]
    pub fn held_by(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// Sends until shutdown is requested; then mails in progress have a few seconds.
    pub async fn run(&self, shutdown: Shutdown) {
        let lane = |_| {
            let until = shutdown.clone();
            repeat(&self.health, &self.hold, REST, &self.wake, until, || {
                self.run_once(shutdown.clone())
            })
        };
        join_all((0..LANES).map(lane)).await;
        let left = mem::take(&mut self.batch.lock().await.mails);
        give_back_all(self.queue.as_ref(), left).await;
        // A mail whose outcome is still unrecorded then is sent again when its lease expires.
        let _ = timeout(LAST_MOMENTS, self.recorder.end()).await;
    }

    /// Sends the next mail. The lease of a mail that is still in progress some seconds after shutdown was
    /// requested is returned.
    pub async fn run_once(&self, mut shutdown: Shutdown) -> Result<Next, Unavailable> {
        let mut batch = self.batch.lock().await;
        if shutdown.is_requested() {
            return Ok(Next::AfterRest);
        }
        if batch.since.is_some_and(|since| since.elapsed() > MAX_WAIT) {
            // No lane waits for a row that another session holds.
            let (queue, mails) = (Arc::clone(&self.queue), mem::take(&mut batch.mails));
            tokio::spawn(async move { give_back_all(queue.as_ref(), mails).await });
        }
        if batch.mails.is_empty() {
            // A claim counts what is recorded as sent.
            self.recorder.begin();
            if let Some(rest) = batch.rest() {
                pause(rest, &mut shutdown).await;
                if shutdown.is_requested() || self.hold.is_held() {
                    return Ok(Next::AfterRest);
                }
            }
            let Some(leased) = self.lease().await? else {
                return Ok(Next::AfterRest);
            };
            *batch = leased;
            // Lanes that rest have work now.
            self.wake.notify_waiters();
        }
        let next = batch.mails.pop_front();
        drop(batch);
        match next {
            Some(leased) => Ok(self.send(leased, shutdown).await),
            None => Ok(Next::AtOnce),
        }
    }

    /// Leases mails; `None` when none is due.
    async fn lease(&self) -> Result<Option<LeasedBatch>, Unavailable> {
        let now = self.clock.now();
        let due = self.queue.next_due().await?;
        if due.is_none_or(|due| due > now) {
            // Without a due mail nothing is written.
            return Ok(None);
        }
        let claim = MailClaim {
            now,
            lease: LEASE,
            limit: MAX_LEASED,
            share: DailyShare::on_the_day_of(now, self.parts.limits.get()),
        };
        let claimed = self.queue.claim(&claim).await?;
        if claimed.is_empty() {
            return Ok(None);
        }
        let was_full = u32::try_from(claimed.len()).is_ok_and(|claimed| claimed >= MAX_LEASED);
        let leased = claimed.into_iter().filter_map(|mail| match mail {
            Claimed::PutOff => None,
            Claimed::Canceled { id, kind, reason } => {
                let (kind, reason) = (kind.as_str(), reason.as_str());
                tracing::info!(target: "mail", mail = %id, kind, reason, "canceled");
                None
            }
            Claimed::Leased(leased) => {
                self.warn_of_many(&leased);
                Some(leased)
            }
        });
        Ok(Some(LeasedBatch {
            mails: leased.collect(),
            since: Some(Stopwatch::start()),
            was_full,
        }))
    }

    /// The health of the loop; a step is one mail at most.
    #[must_use]
    pub fn health(&self) -> Arc<LoopHealth> {
        Arc::clone(&self.health)
    }

    async fn send(&self, leased: Box<LeasedMail>, shutdown: Shutdown) -> Next {
        let handed_over = tokio::select! {
            biased;
            handed_over = self.hand_over(&leased) => handed_over,
            () = last_moments(shutdown) => {
                give_back(self.queue.as_ref(), &leased).await;
                return Next::AfterRest;
            }
        };
        let (outcome, next) = validated(&leased, &handed_over, self.clock.now());
        let queue = Arc::clone(&self.queue);
        let recording = async move {
            let recorded = retry_briefly(|| queue.finish(&leased, &outcome)).await;
            log(&leased, &outcome, &handed_over, recorded);
        };
        // Locked, the batch is being filled: it was empty.
        let has_more = self.batch.try_lock().is_ok_and(|it| !it.mails.is_empty());
        self.recorder.record(recording, has_more).await;
        next
    }

    async fn hand_over(&self, leased: &LeasedMail) -> Result<String, NotTaken> {
        let mail = self.parts.letterhead.write(leased, self.clock.now());
        // A newer version may have stored it, and be able to build it.
        let mail =
            mail.map_err(|unwritable| NotTaken::NotYet(crate::log::chain(&unwritable).into()))?;
        self.parts.transport.hand_over(&mail).await
    }

    /// Warns once when a head office comes close to the limit of new mailboxes, and once when it
    /// reaches it.
    fn warn_of_many(&self, leased: &LeasedMail) {
        let bound = u64::from(self.parts.limits.get().new_mailboxes.get());
        let near = bound.saturating_mul(NEAR_PERCENT).div_euclid(100);
        if let Some(reached) = leased.new_mailboxes.filter(|it| [near, bound].contains(it)) {
            tracing::warn!(
                target: WORKER,
                head_office = %leased.head_office,
                reached,
                bound,
                "many new addresses of one head office today; when the bound is reached, its mails to \
                 further ones wait until tomorrow (mail.new_addresses_per_day)"
            );
        }
    }
}

/// Returns the leases of mails that no lane has taken.
async fn give_back_all(queue: &dyn MailQueue, mails: VecDeque<Box<LeasedMail>>) {
    join_all(mails.iter().map(|leased| give_back(queue, leased))).await;
}

async fn give_back(queue: &dyn MailQueue, leased: &LeasedMail) {
    if let Err(error) = queue.release(leased).await {
        let (mail, error) = (leased.id, crate::log::chain(&error));
        // The mail will be due again when its lease expires.
        tracing::warn!(target: WORKER, %mail, error, "lease not returned");
    }
}

/// The consequence for the mail, and whether this lane continues immediately: not while no mail can
/// be sent.
fn validated(
    leased: &LeasedMail,
    handed_over: &Result<String, NotTaken>,
    now: Timestamp,
) -> (Outcome, Next) {
    let Err(failure) = handed_over else {
        return (Outcome::Sent { at: now }, Next::AtOnce);
    };
    let made = leased.attempts_made.saturating_add(1);
    let jitter = jitter(leased.id.as_uuid(), made);
    let next = match failure {
        NotTaken::Nobody(_) => Next::AfterRest,
        NotTaken::Refused(_) | NotTaken::NotYet(_) => Next::AtOnce,
    };
    (retry::outcome_after(failure, made, jitter, now), next)
}

async fn last_moments(mut shutdown: Shutdown) {
    shutdown.requested().await;
    tokio::time::sleep(LAST_MOMENTS).await;
}

fn log(
    leased: &LeasedMail,
    outcome: &Outcome,
    handed_over: &Result<String, NotTaken>,
    recorded: Option<bool>,
) {
    let (mail, kind) = (leased.id, leased.kind.as_str());
    // The recorded error may contain a mail server's text with addresses in it.
    let error = handed_over.as_ref().err().map(NotTaken::logged);
    let place = handed_over.as_deref().ok();
    let joined = Some(leased.joined.len()).filter(|joined| *joined > 0);
    let attempt = leased.attempts_made.saturating_add(1);
    let note = match recorded {
        Some(true) => None,
        Some(false) => Some("lease lost"),
        None => Some("database lost"),
    };
    match outcome {
        Outcome::Sent { .. } => {
            tracing::info!(target: "mail", %mail, kind, attempt, place, joined, unrecorded = note, "sent");
        }
        Outcome::RetryAt { at, .. } => {
            tracing::warn!(target: "mail", %mail, kind, attempt, error, %at, unrecorded = note, "retried");
        }
        Outcome::Failed { .. } => {
            tracing::warn!(target: "mail", %mail, kind, attempt, error, unrecorded = note, "given up");
        }
    }
}

impl fmt::Debug for MailSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailSender").finish_non_exhaustive()
    }
}

impl fmt::Debug for MailParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailParts")
            .field("letterhead", &self.letterhead)
            .finish_non_exhaustive()
    }
}
