//! The mail queue: leases, the daily limit of an address, and the data shown.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::operation::{Actor, Command};
use preauth_core::port::{MailKind, Unavailable, Viewer};
use preauth_core::value::{CompanyId, Email, MailId, OperationId, Timestamp};
use preauth_server::clock::Clock;
use preauth_server::directory::{DirectoryError, MailFilter, MailStatus};
use preauth_server::mail::{
    Claimed, DailyShare, LeasedMail, Letterhead, MailClaim, MailLimits, MailParts, MailQueue,
    MailSender, NotTaken, Outcome, OutgoingMail, Transport,
};
use preauth_server::worker::{ShutdownTrigger, shutdown};
use tokio::task::JoinSet;

use crate::store::fixture::{FIRST_PAGE, Fixture};

const SHARE: u32 = 20;
/// Mails of one head office to as many mailboxes, and of another one.
const FLOOD: u32 = 400;
const FEW: u32 = 10;
/// Mails that are sent before the last of those few: what was listed before they were due, and their turns.
const MAX_BEFORE: usize = 64 + 16 + 2 * 10;

pub(crate) fn claim(now: Timestamp) -> MailClaim {
    claim_within(now, SHARE, 10_000)
}

/// A claim with these limits per head office: mails to a mailbox per day, and new mailboxes per
/// day.
fn claim_within(now: Timestamp, per_head_office: u32, new_mailboxes: u32) -> MailClaim {
    let limits = MailLimits {
        per_mailbox: NonZeroU32::new(100).unwrap(),
        per_head_office: NonZeroU32::new(per_head_office).unwrap(),
        new_mailboxes: NonZeroU32::new(new_mailboxes).unwrap(),
    };
    MailClaim {
        now,
        lease: TimeDelta::minutes(2),
        limit: 1,
        share: DailyShare::on_the_day_of(now, limits),
    }
}

/// A queue with `mails` mails to one address.
async fn staged(fixture: &Fixture, mails: u32) -> CompanyId {
    let payer = fixture.payer().await;
    for _ in 0..mails {
        fixture.offer(payer).await;
    }
    payer
}

/// Leases the next mail, skipping those put off; `None` when nothing is due.
async fn lease(queue: &dyn MailQueue, now: Timestamp) -> Option<LeasedMail> {
    lease_by(queue, &claim(now)).await
}

pub(crate) async fn lease_by(queue: &dyn MailQueue, claim: &MailClaim) -> Option<LeasedMail> {
    loop {
        match queue.claim(claim).await.unwrap().pop()? {
            Claimed::PutOff | Claimed::Canceled { .. } => {}
            Claimed::Leased(leased) => return Some(*leased),
        }
    }
}

/// Expires every lease.
async fn end_leases(fixture: &Fixture) {
    let sql = "UPDATE notices SET leased_until = 1 WHERE leased_until IS NOT NULL";
    sqlx::query(sql).execute(&fixture.sql).await.unwrap();
}

async fn count(fixture: &Fixture, company: CompanyId, status: MailStatus) -> u64 {
    let filter = MailFilter {
        status: Some(status),
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(company, filter, FIRST_PAGE);
    listed.await.unwrap().total
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_address_gets_exactly_its_share_however_many_claim_at_once() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, SHARE + 10).await;
    let mut lanes = JoinSet::new();
    for lane in 0..8 {
        let (queue, now) = (Arc::clone(&fixture.stores.mails), fixture.now);
        lanes.spawn(async move {
            let mut sent: u32 = 0;
            while let Some(leased) = lease(&*queue, now).await {
                // One in eight fails at first, and releases its place.
                let outcome = if lane == 0 && leased.attempts_made == 0 {
                    let error = "greylisted".to_owned();
                    Outcome::RetryAt { at: now, error }
                } else {
                    sent += 1;
                    Outcome::Sent { at: now }
                };
                assert!(queue.finish(&leased, &outcome).await.unwrap());
            }
            sent
        });
    }
    let sent: u32 = lanes.join_all().await.into_iter().sum();
    // A mail put off behind others in progress gets its turn when these have failed.
    let soon = fixture.later(claim(fixture.now).lease);
    let queue = &*fixture.stores.mails;
    let mut late = 0;
    while let Some(leased) = lease(queue, soon).await {
        let outcome = Outcome::Sent { at: soon };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
        late += 1;
    }
    assert!(sent + late <= SHARE, "{sent} and {late}");
    // The last one included the others; later ones are combined tomorrow.
    let tomorrow = claim(soon).share.ends;
    while let Some(leased) = lease(queue, tomorrow).await {
        let outcome = Outcome::Sent { at: tomorrow };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    let all = u64::from(SHARE + 10);
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, all);
}

/// Offers of one head office to one mailbox, with different spellings of its address.
async fn offers_to_one_mailbox(fixture: &Fixture, payer: CompanyId, offers: u32) {
    let addresses = ["fin@example.com", "FIN+x@Example.com", "fin+y@example.com"];
    for (_, address) in (0..offers).zip(addresses.into_iter().cycle()) {
        let mut offer = fixture.new_offer(payer);
        offer.supplier.email = Email::parse(address).unwrap();
        let offered = fixture
            .service
            .offer(&offer, Actor::Company, None, fixture.now);
        offered.await.unwrap();
    }
}

fn ids(leased: &LeasedMail) -> Vec<MailId> {
    let joined = leased.joined.iter().map(|it| it.id);
    std::iter::once(leased.id).chain(joined).collect()
}

async fn operation_of(fixture: &Fixture, mail: MailId) -> OperationId {
    let found = fixture.directory().mail(mail).await.unwrap();
    found.unwrap().operation.unwrap()
}

/// Mails of one head office to as many mailboxes, without anything else.
async fn flood(fixture: &Fixture, payer: CompanyId, mails: u32) {
    let operation = fixture.offer(payer).await.id.get();
    let base = operation + 1_000_000;
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

/// All mails that one claim leases.
async fn lease_several(queue: &dyn MailQueue, claim: &MailClaim) -> Option<Vec<LeasedMail>> {
    let claimed = queue.claim(claim).await.unwrap();
    (!claimed.is_empty()).then(|| {
        let leased = claimed.into_iter().filter_map(|mail| match mail {
            Claimed::Leased(leased) => Some(*leased),
            Claimed::PutOff | Claimed::Canceled { .. } => None,
        });
        leased.collect()
    })
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
        // What the queue has read ahead by now is of the first head office.
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
struct Standing(Timestamp);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A queue that has the server stop when it records the first attempt.
struct LastAttempt(Arc<dyn MailQueue>, Mutex<Option<ShutdownTrigger>>);

#[async_trait]
impl MailQueue for LastAttempt {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        self.0.claim(claim).await
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        self.1.lock().unwrap().take();
        self.0.finish(leased, outcome).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.0.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.0.next_due().await
    }
}

struct Accepting;

#[async_trait]
impl Transport for Accepting {
    async fn hand_over(&self, _: &OutgoingMail) -> Result<String, NotTaken> {
        Ok("accepted".to_owned())
    }
}

#[tokio::test]
async fn leased_mails_that_were_not_attempted_are_released_when_the_server_stops() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    flood(&fixture, payer, 15).await;
    let (trigger, shutdown) = shutdown();
    let mails = Arc::clone(&fixture.stores.mails);
    let queue = LastAttempt(mails, Mutex::new(Some(trigger)));
    let parts = MailParts {
        letterhead: Letterhead {
            from: "avisos@preauth.example".parse().unwrap(),
            portal: None,
        },
        limits: MailLimits::default(),
        transport: Arc::new(Accepting),
    };
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

#[tokio::test]
async fn the_last_mail_of_a_day_takes_along_what_waits_and_all_stay_together() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    offers_to_one_mailbox(&fixture, payer, 6).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 2, 10_000);
    let first = lease_by(queue, &today).await.unwrap();
    assert_eq!(first.joined, []);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(queue.finish(&first, &sent).await.unwrap());
    let last = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&last).len(), 5);
    assert_eq!(lease_by(queue, &today).await, None);
    // The process ends before it records the outcome; meanwhile one of the offers is closed.
    let closed = operation_of(&fixture, last.joined[1].id).await;
    command_done(&fixture, closed, &Command::Cancel).await;
    end_leases(&fixture).await;
    let again = lease_by(queue, &today).await.unwrap();
    let mut left = ids(&last);
    left.remove(2);
    assert_eq!(ids(&again), left);
    assert_eq!(count(&fixture, payer, MailStatus::Canceled).await, 1);
    // They are retried together.
    let (at, error) = (fixture.now, "busy".to_owned());
    let retried = Outcome::RetryAt { at, error };
    assert!(queue.finish(&again, &retried).await.unwrap());
    let retry = lease_by(queue, &today).await.unwrap();
    assert_eq!((ids(&retry), retry.attempts_made), (left, 1));
    let sent = Outcome::Sent { at };
    assert!(queue.finish(&retry, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 5);
    // The head office's limit for this mailbox is reached; another head office's is not.
    offers_to_one_mailbox(&fixture, payer, 1).await;
    assert_eq!(lease_by(queue, &today).await, None);
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 1);
    offers_to_one_mailbox(&fixture, other, 1).await;
    let others = lease_by(queue, &today).await.unwrap();
    assert_eq!((others.head_office, others.joined), (other, Vec::new()));
}

#[tokio::test]
async fn a_joined_mail_goes_on_when_its_first_offer_is_closed() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    offers_to_one_mailbox(&fixture, payer, 4).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 1, 10_000);
    let joined = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&joined).len(), 4);
    let closed = operation_of(&fixture, joined.id).await;
    command_done(&fixture, closed, &Command::Cancel).await;
    queue.release(&joined).await.unwrap();
    let rest = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&rest), ids(&joined)[1..]);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&joined, &sent).await.unwrap());
    assert!(queue.finish(&rest, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 3);
}

#[tokio::test]
async fn a_joined_mail_that_failed_is_sent_again_whole() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    offers_to_one_mailbox(&fixture, payer, 3).await;
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 1, 10_000);
    let joined = lease_by(queue, &today).await.unwrap();
    let (at, error) = (fixture.now, "no such user".to_owned());
    let failed = Outcome::Failed { at, error };
    assert!(queue.finish(&joined, &failed).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Failed).await, 3);
    let resent = fixture.directory().resend_mail(joined.id, fixture.now);
    resent.await.unwrap();
    let again = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&again), ids(&joined));
    assert!(queue.finish(&again, &failed).await.unwrap());
    // A single remaining offer has a mail of its own.
    let one = joined.joined[0].id;
    let joined_to = async |id| {
        let found = fixture.directory().mail(id).await.unwrap();
        found.unwrap().joined_to
    };
    assert_eq!(joined_to(one).await, Some(joined.id));
    fixture.directory().resend_mail(one, at).await.unwrap();
    assert_eq!(joined_to(one).await, None);
    let alone = lease_by(queue, &today).await.unwrap();
    assert_eq!(ids(&alone), [one]);
}

#[tokio::test]
async fn new_addresses_of_a_head_office_are_bounded_and_known_ones_are_not() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for address in [
        "a@example.com",
        "b@example.com",
        "c@example.com",
        "a+1@example.com",
    ] {
        let mut offer = fixture.new_offer(payer);
        offer.supplier.email = Email::parse(address).unwrap();
        let offered = fixture
            .service
            .offer(&offer, Actor::Company, None, fixture.now);
        offered.await.unwrap();
    }
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 5, 2);
    let mut reached = Vec::new();
    while let Some(leased) = lease_by(queue, &today).await {
        reached.push((leased.recipient.as_str().to_owned(), leased.new_mailboxes));
        let sent = Outcome::Sent { at: fixture.now };
        assert!(queue.finish(&leased, &sent).await.unwrap());
    }
    let expected = [
        ("a@example.com", Some(1)),
        ("b@example.com", Some(2)),
        ("a+1@example.com", None),
    ];
    assert_eq!(
        reached,
        expected.map(|(to, reached)| (to.to_owned(), reached))
    );
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 1);
    let tomorrow = claim_within(today.share.ends, 5, 2);
    let held = lease_by(queue, &tomorrow).await.unwrap();
    assert_eq!(held.recipient.as_str(), "c@example.com");
}

#[tokio::test]
async fn the_holder_of_an_old_lease_changes_nothing() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.mails;
    let old = lease(queue, fixture.now).await.unwrap();
    assert_eq!(lease(queue, fixture.now).await, None);
    assert_eq!(queue.next_due().await.unwrap(), None);
    end_leases(&fixture).await;
    let new = lease(queue, fixture.now).await.unwrap();
    assert_eq!(old.id, new.id);
    let outcome = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &outcome).await.unwrap());
    queue.release(&old).await.unwrap();
    assert_eq!(count(&fixture, payer, MailStatus::Pending).await, 1);
    assert!(queue.finish(&new, &outcome).await.unwrap());
    assert!(!queue.finish(&new, &outcome).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 1);
}

#[tokio::test]
async fn a_mail_whose_lease_ran_out_keeps_its_place_in_the_share() {
    let fixture = Fixture::new().await;
    staged(&fixture, SHARE + 1).await;
    let queue = &*fixture.stores.mails;
    for _ in 0..SHARE {
        assert!(lease(queue, fixture.now).await.is_some());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    // The outcome of these is unknown: they are claimed again, and no others.
    end_leases(&fixture).await;
    let mut again = 0;
    while lease(queue, fixture.now).await.is_some() {
        again += 1;
    }
    assert_eq!(again, SHARE);
}

#[tokio::test]
async fn a_mail_is_shown_with_how_it_fared() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 2).await;
    let queue = &*fixture.stores.mails;
    let leased = lease(queue, fixture.now).await.unwrap();
    let shown = || async {
        let found = fixture.directory().mail(leased.id).await.unwrap();
        found.unwrap()
    };
    let staged = shown().await;
    assert_eq!((staged.kind, staged.company), (MailKind::Invitation, payer));
    assert_eq!(staged.created_at, fixture.now);
    let (at, error) = (fixture.later(TimeDelta::seconds(5)), "busy".to_owned());
    let outcome = Outcome::RetryAt { at, error };
    assert!(queue.finish(&leased, &outcome).await.unwrap());
    let waiting = shown().await;
    assert_eq!(waiting.status, MailStatus::Pending);
    assert_eq!(
        (waiting.attempts_made, waiting.next_attempt_at),
        (1, Some(at))
    );
    assert_eq!(waiting.last_error.as_deref(), Some("busy"));
    let filter = MailFilter {
        operation: waiting.operation,
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(payer, filter, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().items, [waiting]);
    let stranger = fixture.payer().await;
    let all = MailFilter::default();
    let listed = fixture.directory().mails(stranger, all, FIRST_PAGE);
    assert_eq!(listed.await.unwrap().total, 0);
}

#[tokio::test]
async fn a_failed_mail_is_due_again_with_a_fresh_schedule_and_no_other_is() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 1).await;
    let queue = &*fixture.stores.mails;
    let resend = async |id| {
        let at = fixture.later(TimeDelta::hours(1));
        fixture.directory().resend_mail(id, at).await
    };
    let leased = lease(queue, fixture.now).await.unwrap();
    let refused = resend(leased.id).await;
    assert!(matches!(refused, Err(DirectoryError::Conflict)), "leased");
    let (at, error) = (fixture.now, "no such user".to_owned());
    let failed = Outcome::Failed { at, error };
    assert!(queue.finish(&leased, &failed).await.unwrap());
    resend(leased.id).await.unwrap();
    let shown = fixture.directory().mail(leased.id).await.unwrap();
    let shown = shown.unwrap();
    assert_eq!(shown.status, MailStatus::Pending);
    assert_eq!((shown.attempts_made, shown.ended_at), (0, None));
    assert_eq!(
        shown.last_error.as_deref(),
        Some("no such user"),
        "why it failed is seen until it is tried"
    );
    let later = fixture.later(TimeDelta::hours(1));
    assert_eq!(shown.next_attempt_at, Some(later));
    assert!(
        !queue.finish(&leased, &failed).await.unwrap(),
        "its lease is over"
    );
    let again = lease(queue, later).await.unwrap();
    assert_eq!((again.id, again.attempts_made), (leased.id, 0));
    let sent = Outcome::Sent { at: later };
    assert!(queue.finish(&again, &sent).await.unwrap());
    let refused = resend(leased.id).await;
    assert!(matches!(refused, Err(DirectoryError::Conflict)), "sent");
    let missing = resend(MailId::new(fixture.uuid())).await;
    assert!(matches!(missing, Err(DirectoryError::NotFound)));
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, 1);
}

#[tokio::test]
async fn mail_of_a_closed_offer_is_cancelled_and_takes_no_place() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let mut ended = Vec::new();
    for command in [
        Command::Cancel,
        Command::Decline { reason: None },
        Command::Request,
    ] {
        let offer = fixture.offer(payer).await;
        command_done(&fixture, offer.id, &command).await;
        ended.push(offer.id);
    }
    for _ in 0..SHARE {
        fixture.offer(payer).await;
    }
    let queue = &*fixture.stores.mails;
    for _ in 0..SHARE {
        let leased = lease(queue, fixture.now).await.unwrap();
        let outcome = Outcome::Sent { at: fixture.now };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    let filter = MailFilter {
        status: Some(MailStatus::Canceled),
        ..MailFilter::default()
    };
    let listed = fixture.directory().mails(payer, filter, FIRST_PAGE);
    let mut canceled: Vec<_> = listed.await.unwrap().items;
    canceled.sort_by_key(|mail| mail.operation);
    let of: Vec<_> = canceled.iter().filter_map(|it| it.operation).collect();
    assert_eq!(of, ended);
    for mail in &canceled {
        assert_eq!((mail.attempts_made, mail.next_attempt_at), (0, None));
        assert_eq!(mail.ended_at, Some(fixture.now));
        let resent = fixture.directory().resend_mail(mail.id, fixture.now);
        assert!(matches!(resent.await, Err(DirectoryError::Conflict)));
    }
}

#[tokio::test]
async fn mail_of_an_expired_offer_is_cancelled_before_its_expiry_is_recorded() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let end = offer.expires_at.unwrap();
    let leased = lease(queue, end).await.unwrap();
    queue.release(&leased).await.unwrap();
    let after = end.saturating_add(TimeDelta::milliseconds(1));
    let claimed = queue.claim(&claim(after)).await.unwrap();
    let (id, kind) = (leased.id, leased.kind);
    assert_eq!(claimed, [Claimed::Canceled { id, kind }]);
    assert_eq!(queue.claim(&claim(after)).await.unwrap(), []);
}

#[tokio::test]
async fn the_holder_of_a_cancelled_mail_cannot_finish_it() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let offer = fixture.offer(payer).await;
    let queue = &*fixture.stores.mails;
    let old = lease(queue, fixture.now).await.unwrap();
    command_done(&fixture, offer.id, &Command::Cancel).await;
    end_leases(&fixture).await;
    assert_eq!(lease(queue, fixture.now).await, None);
    let sent = Outcome::Sent { at: fixture.now };
    assert!(!queue.finish(&old, &sent).await.unwrap());
    assert_eq!(count(&fixture, payer, MailStatus::Canceled).await, 1);
}

pub(crate) async fn command_done(fixture: &Fixture, operation: OperationId, command: &Command) {
    let (viewer, actor) = (Viewer::Platform, Actor::Platform);
    let done = fixture
        .service
        .command(viewer, operation, command, actor, fixture.now);
    done.await.unwrap();
}

#[tokio::test]
async fn mails_finished_long_ago_are_removed_and_pending_ones_stay() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, 3).await;
    let queue = &*fixture.stores.mails;
    let (at, error) = (fixture.now, "no such user".to_owned());
    for outcome in [Outcome::Sent { at }, Outcome::Failed { at, error }] {
        let leased = lease(queue, fixture.now).await.unwrap();
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    let housekeeping = &fixture.stores.housekeeping;
    let later = fixture.later(TimeDelta::milliseconds(1));
    let forget = |before, limit| housekeeping.forget_ended_mails(before, limit);
    assert_eq!(forget(fixture.now, 10).await.unwrap(), 0);
    assert_eq!(forget(later, 1).await.unwrap(), 1);
    assert_eq!(forget(later, 10).await.unwrap(), 1);
    assert_eq!(count(&fixture, payer, MailStatus::Pending).await, 1);
}
