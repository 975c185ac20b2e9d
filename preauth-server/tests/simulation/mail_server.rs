//! The mail server, which refuses, hangs and is gone at times, and one instance's connection to it.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_server::live::Live;
use preauth_server::mail::{Letterhead, MailLimits, MailParts, NotTaken, OutgoingMail, Transport};

use crate::clock::sleep_ms;
use crate::defect::Defect;
use crate::faults::{Call, Fault};
use crate::history::{Fact, MailFact};
use crate::mix::MailMix;
use crate::random::Random;
use crate::store::Database;

/// The most that a connection and a mail may take.
const MAX_HANG_MS: u64 = 60_000;

/// The daily limits of a run: so few mails that some wait for the next day.
pub(crate) fn limits() -> MailLimits {
    let number = |number| NonZeroU32::new(number).unwrap();
    MailLimits {
        per_mailbox: number(2),
        per_head_office: number(1),
        ..MailLimits::default()
    }
}

/// What an instance builds and sends its mails with.
pub(crate) fn parts(database: &Arc<Database>, instance: usize) -> MailParts {
    MailParts {
        letterhead: Letterhead {
            from: "avisos@preauth.example".parse().unwrap(),
            portal: None,
            pages: None,
        },
        limits: Live::new(limits()),
        transport: Arc::new(SimTransport {
            database: Arc::clone(database),
            instance,
        }),
    }
}

struct SimTransport {
    database: Arc<Database>,
    instance: usize,
}

/// The mail server's behaviour for one mail.
#[derive(Clone, Copy, Debug)]
enum Manners {
    Takes { after_ms: u64 },
    Hangs { for_ms: u64, takes: bool },
    IsGone,
    RefusesForNow,
    Refuses,
}

impl Manners {
    fn drawn(mix: &MailMix, random: &mut Random) -> Self {
        if random.chance(mix.hangs) {
            return Self::Hangs {
                for_ms: random.between(1_000, MAX_HANG_MS),
                takes: random.chance(500),
            };
        }
        if random.chance(mix.is_gone) {
            return Self::IsGone;
        }
        if random.chance(mix.refuses_for_now) {
            return Self::RefusesForNow;
        }
        if random.chance(mix.refuses) {
            return Self::Refuses;
        }
        let after_ms = random.between(1, 300);
        Self::Takes { after_ms }
    }
}

#[async_trait]
impl Transport for SimTransport {
    async fn hand_over(&self, mail: &OutgoingMail) -> Result<String, NotTaken> {
        let (faults, instance, id) = (&self.database.faults, self.instance, mail.id);
        let note = |fact| self.database.chronicle.note(Fact::Mail(fact));
        let recipient = mail.envelope.to().iter().map(ToString::to_string).collect();
        note(MailFact::GoesOut {
            instance,
            mail: id,
            recipient,
        });
        let never = Some(Defect::MailNeverHandedOver);
        if self.database.defect == never && faults.draw(|random| random.chance(300)) {
            return Ok("nowhere".to_owned());
        }
        let fault = faults.meet(instance, Call::SendMail).await;
        if fault == Some(Fault::Fails) {
            return Err(NotTaken::Nobody("no route".into()));
        }
        let manners = if faults.are_over() {
            Manners::Takes { after_ms: 10 }
        } else {
            faults.draw(|random| Manners::drawn(&faults.mix().mails, random))
        };
        match manners {
            Manners::Takes { after_ms } => {
                sleep_ms(after_ms / 2).await;
                note(MailFact::Taken { instance, mail: id });
                faults.leave(instance, fault).await;
                sleep_ms(after_ms / 2).await;
                Ok("taken".to_owned())
            }
            Manners::Hangs { for_ms, takes } => {
                let fact = if takes {
                    MailFact::Taken { instance, mail: id }
                } else {
                    MailFact::Refused { instance, mail: id }
                };
                note(fact);
                sleep_ms(for_ms).await;
                Err(NotTaken::NotYet("no answer".into()))
            }
            Manners::IsGone => Err(NotTaken::Nobody("connection refused".into())),
            Manners::RefusesForNow => {
                sleep_ms(5).await;
                note(MailFact::Refused { instance, mail: id });
                Err(NotTaken::NotYet("greylisted".into()))
            }
            Manners::Refuses => {
                sleep_ms(5).await;
                note(MailFact::Refused { instance, mail: id });
                Err(NotTaken::Refused("no such user".into()))
            }
        }
    }
}
