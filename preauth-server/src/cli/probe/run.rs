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
        if !reply
            .status
            .is_ok_and(|status| (200..300).contains(&status))
        {
            for skipped in AFTER_GENUINE {
                self.report.print(skipped, Finding::Skipped, &[]);
            }
            return Ok(());
        }
        self.each(&check::DUPLICATE, &[(&event, Signature::Genuine)])
            .await;
        self.compare_count(&check::COUNTED, before).await?;
        self.bear().await;
        self.bear_parallel().await?;
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

    async fn bear_parallel(&mut self) -> Result<(), Aborted> {
        let events: Vec<_> = (0..PARALLEL).map(|_| self.template.event()).collect();
        let replies = self.at_once(&events).await;
        self.evaluate(&check::PARALLEL, &replies);
        let before = self.count().await?;
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
        self.compare_count(&check::PARALLEL_COUNTED, before).await
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
        self.report
            .print(check, Finding::of(check, replies), replies);
    }

    async fn count(&self) -> Result<Option<u64>, Aborted> {
        match &self.counter {
            Some(counter) => counter.count().await.map(Some).map_err(Aborted::Count),
            None => Ok(None),
        }
    }

    /// One event was sent several times since the work was counted as `before`.
    async fn compare_count(
        &mut self,
        check: &'static Check,
        before: Option<u64>,
    ) -> Result<(), Aborted> {
        let finding = match (&self.counter, before) {
            (Some(counter), Some(before)) => {
                let settled = counter.settled(before.saturating_add(1)).await;
                match settled.map_err(Aborted::Count)?.checked_sub(before) {
                    Some(1) => Finding::Right,
                    None | Some(0) => Finding::Note(Fault::WorkNotCounted),
                    Some(_) => Finding::Wrong(Fault::WorksTwice),
                }
            }
            _ => Finding::Note(Fault::WorkUnseen),
        };
        self.report.print(check, finding, &[]);
        Ok(())
    }
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
