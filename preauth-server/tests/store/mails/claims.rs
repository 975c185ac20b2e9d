//! Claims of mails: turns of head offices, several mails at once, and released leases.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Email, Timestamp};
use preauth_server::clock::Clock;
use preauth_server::live::Live;
use preauth_server::mail::{
    Claimed, LeasedMail, Letterhead, MailClaim, MailLimits, MailParts, MailQueue, MailSender,
    NotTaken, Outcome, OutgoingMail, Transport,
};
use preauth_server::worker::{ShutdownTrigger, shutdown};
use tokio::task::JoinSet;

use crate::store::fixture::Fixture;

use super::{SHARE, claim, claim_within, lease_several, offers_to_one_mailbox};

/// Mails of one head office to as many mailboxes, and of another one.
const FLOOD: u32 = 400;
const FEW: u32 = 10;
/// Mails that are sent before the last of those few: what was listed before they were due, and their turns.
const MAX_BEFORE: usize = 64 + 16 + 2 * 10;

/// Two head offices with as many mails each, all to mailboxes of their own: mails to one mailbox wait for each
/// other.
pub(crate) async fn two_flooded(fixture: &Fixture, mails: u32) -> [CompanyId; 2] {
    let payers = [fixture.payer().await, fixture.payer().await];
    for payer in payers {
        flood(fixture, payer, mails).await;
    }
    let mailboxes = "UPDATE notices SET recipient = 'x' || operation_id || '@example.com'";
    sqlx::query(mailboxes).execute(&fixture.sql).await.unwrap();
    payers
}

/// The number of mails of a head office with a recorded attempt.
pub(crate) async fn recorded(fixture: &Fixture, head_office: CompanyId) -> i64 {
    let sql = "SELECT count(*) FROM notices WHERE attempts_made > 0 AND head_office_id = $1";
    let count = sqlx::query_scalar(sql).bind(head_office.as_uuid());
    count.fetch_one(&fixture.sql).await.unwrap()
}

/// Mails of one head office to as many mailboxes, without anything else.
async fn flood(fixture: &Fixture, payer: CompanyId, mails: u32) {
    let operation = fixture.offer(payer).await.id.get();
    let base = operation * 1_000_000;
    for n in 0..i64::from(mails) {
        let operation_copy = "INSERT INTO operations (id, head_office_id, payer_id, supplier_id,
                 supplier_cnpj, version, origin, status, amount_cents, withheld_tax_cents, due_date,
                 expires_at, created_at)
             SELECT $2, head_office_id, payer_id, supplier_id, supplier_cnpj, version, origin, status,
                 amount_cents, withheld_tax_cents, due_date, expires_at, created_at
             FROM operations WHERE id = $1";
        let copied = sqlx::query(operation_copy).bind(operation).bind(base + n);
        copied.execute(&fixture.sql).await.unwrap();
        let mail_copy =
            "INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content,
                 staged_at, next_attempt_at)
             SELECT $4, head_office_id, $2, kind, $3, content, staged_at, staged_at
             FROM notices WHERE operation_id = $1";
        let mail = sqlx::query(mail_copy).bind(operation).bind(base + n);
        let mail = mail.bind(format!("x{n}@example.com")).bind(fixture.uuid());
        mail.execute(&fixture.sql).await.unwrap();
    }
}

#[tokio::test]
async fn a_mail_waits_for_few_of_another_head_office_however_many_these_are() {
    for limit in [1, 16] {
        let fixture = Fixture::new().await;
        let (many, few) = (fixture.payer().await, fixture.payer().await);
        flood(&fixture, many, FLOOD).await;
        let today = MailClaim {
            limit,
            ..claim(fixture.later(TimeDelta::seconds(1)))
        };
        let queue = &*fixture.stores.mails;
        // The mails that the queue has read ahead by now are the first head office's.
        let mut leased = lease_several(queue, &today).await.unwrap();
        for n in 0..FEW {
            let mut offer = fixture.new_offer(few);
            offer.supplier.email = Email::parse(&format!("y{n}@example.com")).unwrap();
            fixture.make(&offer).await;
        }
        let sql = "UPDATE notices SET next_attempt_at = $1 WHERE head_office_id = $2";
        let set = sqlx::query(sql).bind(today.now.unix_millis());
        set.bind(*few.as_uuid())
            .execute(&fixture.sql)
            .await
            .unwrap();
        let mut order = Vec::new();
        loop {
            for mail in leased {
                let outcome = Outcome::Sent { at: today.now };
                assert!(queue.finish(&mail, &outcome).await.unwrap());
                order.push(mail.head_office);
            }
            let Some(more) = lease_several(queue, &today).await else {
                break;
            };
            leased = more;
        }
        assert_eq!(order.len(), usize::try_from(FLOOD + 1 + FEW).unwrap());
        let last = order.iter().rposition(|office| *office == few).unwrap();
        assert!(last <= MAX_BEFORE, "{limit}: the last one after {last}");
    }
}

#[tokio::test]
async fn a_claim_leases_several_mails_each_to_another_mailbox() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    flood(&fixture, payer, 20).await;
    offers_to_one_mailbox(&fixture, payer, 3).await;
    let today = MailClaim {
        limit: 16,
        ..claim(fixture.later(TimeDelta::seconds(1)))
    };
    let queue = &*fixture.stores.mails;
    let mut sizes = Vec::new();
    let mut mailboxes = Vec::new();
    while let Some(leased) = lease_several(queue, &today).await {
        let recipients = leased
            .iter()
            .map(|mail| mail.recipient.as_str().to_lowercase());
        let recipients = recipients.map(|address| match address.split_once('+') {
            Some((mailbox, _)) => format!("{mailbox}@example.com"),
            None => address,
        });
        let one_claim: BTreeSet<_> = recipients.collect();
        assert_eq!(one_claim.len(), leased.len(), "{one_claim:?}");
        sizes.push(leased.len());
        mailboxes.extend(one_claim);
    }
    assert_eq!(sizes[0], 16, "{sizes:?}");
    assert_eq!(mailboxes.len(), 24);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mails_that_are_claimed_and_finished_together_are_each_sent_once() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    flood(&fixture, payer, 100).await;
    let today = MailClaim {
        limit: 7,
        ..claim_within(fixture.later(TimeDelta::seconds(1)), SHARE, 60)
    };
    let mut lanes = JoinSet::new();
    for _ in 0..8 {
        let queue = Arc::clone(&fixture.stores.mails);
        lanes.spawn(async move {
            let mut sent = Vec::new();
            while let Some(leased) = lease_several(&*queue, &today).await {
                let finished = join_all(leased.iter().map(async |mail| {
                    let outcome = Outcome::Sent { at: today.now };
                    queue.finish(mail, &outcome).await.unwrap()
                }));
                assert!(finished.await.into_iter().all(|is_recorded| is_recorded));
                sent.extend(leased.into_iter().map(|mail| (mail.id, mail.new_mailboxes)));
            }
            sent
        });
    }
    let sent: Vec<_> = lanes.join_all().await.into_iter().flatten().collect();
    let mails: BTreeSet<_> = sent.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(mails.len(), sent.len(), "each is sent once");
    let mut reached: Vec<_> = sent
        .into_iter()
        .filter_map(|(_, reached)| reached)
        .collect();
    reached.sort_unstable();
    assert_eq!(
        reached,
        (1..=60).collect::<Vec<_>>(),
        "numbered without a gap"
    );
    assert_eq!(mails.len(), 60);
}

/// A clock that stands still.
pub(crate) struct Standing(pub(crate) Timestamp);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A queue that has the server stop when it leases the first mails.
struct LastClaim(Arc<dyn MailQueue>, Mutex<Option<ShutdownTrigger>>);

#[async_trait]
impl MailQueue for LastClaim {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        let claimed = self.0.claim(claim).await;
        self.1.lock().unwrap().take();
        claimed
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        self.0.finish(leased, outcome).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.0.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.0.next_due().await
    }
}

pub(super) struct Accepting;

#[async_trait]
impl Transport for Accepting {
    async fn hand_over(&self, _: &OutgoingMail) -> Result<String, NotTaken> {
        Ok("accepted".to_owned())
    }
}

pub(crate) fn accepting_parts() -> MailParts {
    MailParts {
        letterhead: Letterhead {
            pages: None,
            from: "avisos@preauth.example".parse().unwrap(),
            portal: None,
        },
        limits: Live::new(MailLimits::default()),
        transport: Arc::new(Accepting),
    }
}

#[tokio::test]
async fn leased_mails_that_were_not_attempted_are_released_when_the_server_stops() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    flood(&fixture, payer, 15).await;
    let (trigger, shutdown) = shutdown();
    let mails = Arc::clone(&fixture.stores.mails);
    let queue = LastClaim(mails, Mutex::new(Some(trigger)));
    let parts = accepting_parts();
    let clock = Arc::new(Standing(fixture.later(TimeDelta::seconds(1))));
    let sender = MailSender::new(Arc::new(queue), parts, clock, Arc::default());
    sender.run(shutdown).await;
    let number = async |condition: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM notices WHERE {condition}");
        let number = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
        number.fetch_one(&fixture.sql).await.unwrap()
    };
    assert_eq!(number("lease_token = 1").await, 16);
    assert_eq!(number("leased_until IS NOT NULL").await, 0);
    let attempted = number("attempts_made > 0").await;
    assert!((1..=4).contains(&attempted), "{attempted}");
}
