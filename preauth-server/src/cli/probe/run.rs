//! The checks, one after the other.

use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::port::AttemptError;

use crate::clock::{Clock, SystemClock};
use crate::language::Language;

use super::check::{self, Check};
use super::count::{Counter, NoCount};
use super::event::{ProbeEvent, Template};
use super::fault::Fault;
use super::finding::Finding;
use super::report::Report;
use super::sender::{CannotSend, ProbeSender, Reply, Signature};

/// Receivers refuse signatures that are older than five minutes.
const AGE_SECONDS: i64 = 600;
/// Number of deliveries under way at once.
const PARALLEL: usize = 8;
/// How much earlier than the event before it the late one happened.
const EARLIER: TimeDelta = TimeDelta::hours(1);

/// What is tried only on a receiver that confirms a genuine delivery.
const AFTER_GENUINE: &[&Check] = &[
    &check::DUPLICATE,
    &check::COUNTED,
    &check::OTHER_ENCODER,
    &check::OUT_OF_ORDER,
    &check::SECOND_SIGNATURE,
    &check::UNKNOWN_TYPE,
    &check::UNKNOWN_FIELD,
    &check::LARGE,
    &check::SLOW,
    &check::PARALLEL,
    &check::PARALLEL_DUPLICATES,
    &check::PARALLEL_COUNTED,
    &check::OLD,
    &check::FUTURE,
    &check::FORGED,
    &check::ALTERED,
    &check::UNSIGNED,
    &check::AFTERWARDS,
];

/// A probe of one receiver.
pub(super) struct Probe<'r> {
    sender: ProbeSender,
    template: Template,
    counter: Option<Counter>,
    report: &'r mut Report,
    /// Deliveries that were confirmed since the work was last counted.
    uncounted: u64,
}

/// Why a probe ended before its last check.
#[derive(Debug)]
pub(super) enum Aborted {
    Send(CannotSend),
    Count(NoCount),
}

impl Aborted {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Send(error) => error.text(language),
            Self::Count(error) => error.text(language),
        }
    }
}

impl<'r> Probe<'r> {
    pub(super) const fn new(
        sender: ProbeSender,
        template: Template,
        counter: Option<Counter>,
        report: &'r mut Report,
    ) -> Self {
        Self {
            sender,
            template,
            counter,
            report,
            uncounted: 0,
        }
    }

    pub(super) async fn run(mut self) -> Result<(), Aborted> {
        let before = self.count().await?;
        let event = self.template.event();
        let reply = self.sender.send(&event, Signature::Genuine).await;
        if let Err(error) = reply.status
            && is_unreachable(error)
        {
            return Err(Aborted::Send(CannotSend::Unreachable(error)));
        }
        self.evaluate(&check::GENUINE, &[reply]);
        if confirmed(&[reply]) == 0 {
            for skipped in AFTER_GENUINE {
                self.report.print(skipped, Finding::Skipped, &[]);
            }
            return Ok(());
        }
        self.each(&check::DUPLICATE, &[(&event, Signature::Genuine)])
            .await;
        let counted = self.compare_count(&check::COUNTED, before, true).await?;
        self.uncounted = 0;
        self.bear().await;
        self.bear_parallel(counted).await?;
        self.refuse().await;
        let last = self.template.event();
        self.each(&check::AFTERWARDS, &[(&last, Signature::Genuine)])
            .await;
        Ok(())
    }

    /// What is unusual and genuine.
    async fn bear(&mut self) {
        let other = self.template.printed_otherwise();
        self.each(&check::OTHER_ENCODER, &[(&other, Signature::Genuine)])
            .await;
        let now = SystemClock.now();
        let newer = self.template.event_at(now);
        let older = self.template.event_at(now.saturating_sub(EARLIER));
        let in_turn = [(&newer, Signature::Genuine), (&older, Signature::Genuine)];
        self.each(&check::OUT_OF_ORDER, &in_turn).await;
        let (one, two) = (self.template.event(), self.template.event());
        let rotated = [
            (&one, Signature::UnknownThenGenuine),
            (&two, Signature::GenuineThenUnknown),
        ];
        self.each(&check::SECOND_SIGNATURE, &rotated).await;
        for (check, event) in [
            (&check::UNKNOWN_TYPE, Template::of_unknown_type()),
            (&check::UNKNOWN_FIELD, self.template.with_unknown_fields()),
            (&check::LARGE, self.template.large()),
        ] {
            self.each(check, &[(&event, Signature::Genuine)]).await;
        }
        let reply = self.sender.send_slowly(&self.template.event()).await;
        self.evaluate(&check::SLOW, &[reply]);
    }

    /// `counted` was the number before what is unusual.
    async fn bear_parallel(&mut self, counted: Option<u64>) -> Result<(), Aborted> {
        // A receiver may confirm first and work later: what it still has to do is none of the next events'.
        let before = self.settled(counted, self.uncounted).await?;
        let events: Vec<_> = (0..PARALLEL).map(|_| self.template.event()).collect();
        let replies = self.at_once(&events).await;
        self.evaluate(&check::PARALLEL, &replies);
        let more = confirmed(&replies);
        let expected = before.map(|before| before.saturating_add(more));
        let before = self.settled(before, more).await?;
        // If it is slower than that, the rest would be taken for work of the next event.
        let is_settled = before >= expected;
        let same = vec![self.template.event(); PARALLEL];
        let replies = self.at_once(&same).await;
        let found = Finding::of(&check::PARALLEL_DUPLICATES, &replies);
        let finding = match same.first() {
            // Those that were not confirmed come again.
            Some(event) if found == Finding::Right => {
                let again = self.sender.send(event, Signature::Genuine).await;
                Finding::of(&check::DUPLICATE, &[again])
            }
            Some(_) | None => found,
        };
        self.report
            .print(&check::PARALLEL_DUPLICATES, finding, &replies);
        let counted = self.compare_count(&check::PARALLEL_COUNTED, before, is_settled);
        counted.await.map(drop)
    }

    /// What nobody may confirm.
    async fn refuse(&mut self) {
        for (check, signature) in [
            (&check::OLD, Signature::Aged(AGE_SECONDS)),
            (
                &check::FUTURE,
                Signature::Aged(AGE_SECONDS.saturating_neg()),
            ),
            (&check::FORGED, Signature::Forged),
            (&check::ALTERED, Signature::OfAnotherBody),
            (&check::UNSIGNED, Signature::Absent),
        ] {
            let event = self.template.event();
            self.each(check, &[(&event, signature)]).await;
        }
    }

    async fn each(&mut self, check: &'static Check, sent: &[(&ProbeEvent, Signature)]) {
        let mut replies = Vec::new();
        for (event, signature) in sent {
            replies.push(self.sender.send(event, *signature).await);
        }
        self.evaluate(check, &replies);
    }

    async fn at_once(&self, events: &[ProbeEvent]) -> Vec<Reply> {
        let sending = events
            .iter()
            .map(|event| self.sender.send(event, Signature::Genuine));
        join_all(sending).await
    }

    fn evaluate(&mut self, check: &'static Check, replies: &[Reply]) {
        self.uncounted = self.uncounted.saturating_add(confirmed(replies));
        self.report
            .print(check, Finding::of(check, replies), replies);
    }

    async fn count(&self) -> Result<Option<u64>, Aborted> {
        match &self.counter {
            Some(counter) => counter.count().await.map(Some).map_err(Aborted::Count),
            None => Ok(None),
        }
    }

    /// The number when `more` were done since it was `before`, and nothing more is.
    async fn settled(&self, before: Option<u64>, more: u64) -> Result<Option<u64>, Aborted> {
        let (Some(counter), Some(before)) = (&self.counter, before) else {
            return Ok(None);
        };
        let settled = counter.settled(before.saturating_add(more)).await;
        settled.map(Some).map_err(Aborted::Count)
    }

    /// One event was sent several times since the work was counted as `before`; it was all of the work then if it
    /// `is_settled`. Returns the number now.
    async fn compare_count(
        &mut self,
        check: &'static Check,
        before: Option<u64>,
        is_settled: bool,
    ) -> Result<Option<u64>, Aborted> {
        let settled = self.settled(before, 1).await?;
        let finding = match (settled, before) {
            (Some(settled), Some(before)) => match settled.checked_sub(before) {
                Some(1) => Finding::Right,
                Some(2..) if is_settled => Finding::Wrong(Fault::WorksTwice),
                None | Some(_) => Finding::Note(Fault::WorkNotCounted),
            },
            _ => Finding::Note(Fault::WorkUnseen),
        };
        self.report.print(check, finding, &[]);
        Ok(settled)
    }
}

/// The number of deliveries that were confirmed.
fn confirmed(replies: &[Reply]) -> u64 {
    let confirmed = replies.iter().filter(|reply| {
        let status = reply.status;
        status.is_ok_and(|status| (200..300).contains(&status))
    });
    u64::try_from(confirmed.count()).unwrap_or(u64::MAX)
}

/// Whether nothing was sent, because nobody was found who may get it.
const fn is_unreachable(error: AttemptError) -> bool {
    !matches!(
        error,
        AttemptError::Connection
            | AttemptError::TimedOut
            | AttemptError::AnswerTooLarge
            | AttemptError::AnswerMalformed
    )
}
