//! The failing receivers of webhooks, and the sender that reaches them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use preauth_core::port::{AttemptError, EventRecord};
use preauth_core::value::{EndpointId, EventId};
use preauth_server::dispatcher::{Answer, Request, RetryAfter, Sender};
use webhook_verify::{EVENT_ID_HEADER, EVENT_TYPE_HEADER};

use crate::clock::sleep_ms;
use crate::faults::{Call, Fault, Faults};
use crate::history::{Chronicle, Fact};
use crate::letterbox::Letterboxes;
use crate::mix::ReceiverMix;
use crate::newer::stored_type;
use crate::random::Random;
use crate::scene::Scene;

/// Both receivers of the scene.
#[derive(Debug)]
pub(crate) struct Receivers {
    scene: Scene,
    chronicle: Chronicle,
    pub(crate) letterboxes: Letterboxes,
    are_well: AtomicBool,
}

/// One instance's connection to them.
#[derive(Clone, Debug)]
pub(crate) struct SimSender {
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) instance: usize,
}

/// A receiver's behaviour for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
    Takes { after_ms: u64 },
    Refuses { status: u16 },
    Hangs { takes: bool },
    IsUnreachable,
    TakesAndBreaksOff,
}

impl Receivers {
    pub(crate) fn new(scene: Scene, chronicle: Chronicle) -> Self {
        Self {
            letterboxes: scene.letterboxes(),
            scene,
            chronicle,
            are_well: AtomicBool::new(false),
        }
    }

    /// Ends the failures of both.
    pub(crate) fn recover(&self) {
        self.are_well.store(true, Ordering::Relaxed);
    }

    /// Takes an event that was not sent as a webhook.
    pub(crate) fn take(&self, endpoint: EndpointId, event: &EventRecord) {
        self.chronicle.note(Fact::Received {
            endpoint,
            event: event.id,
            event_type: stored_type(event.id, event.event_type).to_owned(),
            body: event.body.clone(),
            objection: None,
            is_taken: true,
        });
    }

    fn received(&self, arrived: &Arrived, is_taken: bool) {
        self.chronicle.note(Fact::Received {
            endpoint: arrived.endpoint,
            event: arrived.event,
            event_type: arrived.event_type.clone(),
            body: arrived.body.clone(),
            objection: arrived.objection.clone(),
            is_taken,
        });
    }

    /// A receiver's view of a request sent at this time.
    fn arrived(&self, request: Request) -> Arrived {
        let endpoint = self.scene.subscriber(&request.url).endpoint;
        let header = |name| {
            let mut headers = request.headers.iter();
            headers.find(|(known, _)| *known == name).unwrap().1.clone()
        };
        let now = self.chronicle.now();
        Arrived {
            endpoint,
            event: EventId::parse(&header(EVENT_ID_HEADER)).unwrap(),
            event_type: header(EVENT_TYPE_HEADER),
            objection: self.letterboxes.objection(endpoint, &request, now),
            body: request.body,
        }
    }

    fn manners(&self, mix: &ReceiverMix, endpoint: EndpointId, random: &mut Random) -> Manners {
        if self.are_well.load(Ordering::Relaxed) {
            return Manners::Takes { after_ms: 10 };
        }
        let [_, supplier] = &self.scene.subscribers;
        if mix.one_is_dead && supplier.endpoint == endpoint {
            return Manners::IsUnreachable;
        }
        if random.chance(mix.is_slow) {
            let after_ms = random.between(4_000, 14_000);
            return Manners::Takes { after_ms };
        }
        if random.chance(mix.hangs) {
            let takes = random.chance(500);
            return Manners::Hangs { takes };
        }
        if random.chance(mix.is_unreachable) {
            return Manners::IsUnreachable;
        }
        if random.chance(mix.breaks_off) {
            return Manners::TakesAndBreaksOff;
        }
        if random.chance(mix.refuses) {
            let status = random.pick(&[500, 503, 429, 301, 410, 400]);
            return Manners::Refuses { status };
        }
        let after_ms = random.between(1, 300);
        Manners::Takes { after_ms }
    }
}

struct Arrived {
    endpoint: EndpointId,
    event: EventId,
    event_type: String,
    body: String,
    objection: Option<String>,
}

#[async_trait]
impl Sender for SimSender {
    async fn send(&self, request: Request) -> Result<Answer, AttemptError> {
        // The signature is checked as of its creation: the clock may jump while a request travels.
        let arrived = self.receivers.arrived(request);
        let fault = self.faults.meet(self.instance, Call::Send).await;
        if fault == Some(Fault::Fails) {
            return Err(AttemptError::Connection);
        }
        let mix = &self.faults.mix().receiver;
        let manners = self
            .faults
            .draw(|random| self.receivers.manners(mix, arrived.endpoint, random));
        let answer = self.exchange(&arrived, manners, fault).await;
        self.faults.leave(self.instance, fault).await;
        answer
    }
}

impl SimSender {
    async fn exchange(
        &self,
        arrived: &Arrived,
        manners: Manners,
        fault: Option<Fault>,
    ) -> Result<Answer, AttemptError> {
        let receivers = &self.receivers;
        match manners {
            Manners::Takes { after_ms } => {
                sleep_ms(after_ms / 2).await;
                receivers.received(arrived, true);
                self.faults.leave(self.instance, fault).await;
                sleep_ms(after_ms / 2).await;
                Ok(answer(204))
            }
            Manners::Refuses { status } => {
                sleep_ms(5).await;
                receivers.received(arrived, false);
                Ok(answer(status))
            }
            Manners::Hangs { takes } => {
                receivers.received(arrived, takes);
                sleep_ms(60_000).await;
                Err(AttemptError::TimedOut)
            }
            Manners::IsUnreachable => Err(AttemptError::Connection),
            Manners::TakesAndBreaksOff => {
                receivers.received(arrived, true);
                sleep_ms(5).await;
                Err(AttemptError::Connection)
            }
        }
    }
}

fn answer(status: u16) -> Answer {
    Answer {
        status,
        retry_after: (status == 503).then_some(RetryAfter::Seconds(20)),
        body: Vec::new(),
    }
}
