//! The cost of a mail: as many pages while a snapshot is held open, and after many earlier mails.

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use preauth_server::mail::{Claimed, DailyShare, MailClaim, MailLimits, Outcome};
use preauth_server::store::open;
use sqlx::{Executor, PgConnection, Row};

use crate::store::fixture::Fixture;

/// Mails that are staged and taken while pages are counted: more than one poll lists.
const MEASURED: i64 = 150;
/// Mails between two measurements while a snapshot is open.
const BETWEEN: i64 = 1_500;
/// Mails that were sent to a mailbox, and mailboxes that its head office reached today.
const HISTORY: i64 = 8_000;
/// So many times as many pages as a mail costs without either; an instance's first look is a complete one.
const MAX_FACTOR: i64 = 3;

/// Operations that mails may be about, like one that was offered.
const OPERATIONS: &str = "INSERT INTO operations
     SELECT (jsonb_populate_record(o, jsonb_build_object(
         'id', (SELECT max(id) FROM operations) + n, 'invoice_number', NULL))).*
     FROM operations o, generate_series(1, $1) AS n WHERE o.id = (SELECT min(id) FROM operations)";

/// Mails about the newest operations, as of so many milliseconds; one in three to a mailbox of its own.
const STAGED: &str =
    "INSERT INTO notices (id, head_office_id, operation_id, kind, recipient, content,
         staged_at, next_attempt_at)
     SELECT gen_random_uuid(), o.head_office_id, o.id, 'OFFER',
            CASE WHEN o.id % 3 = 0 THEN 'a' || o.id || '@example.com' ELSE 'fin@example.com' END,
            '{}', $2 + row_number() OVER (ORDER BY o.id), $2 + row_number() OVER (ORDER BY o.id)
     FROM (SELECT id, head_office_id FROM operations ORDER BY id DESC LIMIT $1) AS o";

fn claim(now: Timestamp) -> MailClaim {
    let limits = MailLimits {
        new_mailboxes: NonZeroU32::new(1_000_000).unwrap(),
        ..MailLimits::default()
    };
    MailClaim {
        now,
        lease: TimeDelta::minutes(2),
        limit: 1,
        share: DailyShare::on_the_day_of(now, limits),
    }
}

/// Operations and a mail about each, due within milliseconds from `at` on.
async fn stage(fixture: &Fixture, mails: i64, at: Timestamp) {
    let mut session = fixture.sql.acquire().await.unwrap();
    let operations = sqlx::query(OPERATIONS).bind(mails);
    operations.execute(&mut *session).await.unwrap();
    let staged = sqlx::query(STAGED).bind(mails).bind(at.unix_millis());
    staged.execute(&mut *session).await.unwrap();
    report_statistics(&mut session).await;
}

/// Sends or puts off all that is due, as an instance that has just been started; how many claims that
/// took. Its pages are counted when its connections have ended.
async fn send_all(fixture: &Fixture, now: Timestamp) -> i64 {
    let instance = open(&fixture.database.url()).await.unwrap();
    let queue = &*instance.mails;
    let mut claims = 0;
    while queue
        .next_due()
        .await
        .unwrap()
        .is_some_and(|due| due <= now)
    {
        claims += 1;
        let claimed = queue.claim(&claim(now)).await.unwrap().pop();
        if let Some(Claimed::Leased(leased)) = claimed {
            let sent = Outcome::Sent { at: now };
            assert!(queue.finish(&leased, &sent).await.unwrap());
        }
    }
    instance.lifecycle.close().await;
    while connections(fixture).await > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    claims
}

/// Connections of instances.
async fn connections(fixture: &Fixture) -> i64 {
    let sql = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'preauth-server'";
    let count = sqlx::query_scalar(sql).fetch_one(&fixture.sql);
    count.await.unwrap()
}

/// Pages of the mails' table and its indexes that ended connections went over.
async fn pages(fixture: &Fixture) -> i64 {
    let row = fixture
        .sql
        .fetch_one(
            "SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
             FROM pg_statio_user_tables WHERE relname = 'notices'",
        )
        .await
        .unwrap();
    row.get(0)
}

/// Pages for each claim of an instance that takes what is staged for it.
async fn pages_of_a_claim(fixture: &Fixture, at: Timestamp) -> i64 {
    stage(fixture, MEASURED, at).await;
    let before = pages(fixture).await;
    let claims = send_all(fixture, at.saturating_add(TimeDelta::seconds(1))).await;
    (pages(fixture).await - before) / claims
}

/// Has a session report its statistics, before others' are counted.
async fn report_statistics(session: &mut PgConnection) {
    session
        .execute("SELECT pg_stat_force_next_flush()")
        .await
        .unwrap();
    session.execute("SELECT 1").await.unwrap();
}

/// A database with an offer, the mail about which has been sent, and a snapshot of it.
async fn with_an_offer() -> Fixture {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    fixture.offer(payer).await;
    // Other work on the database is not counted.
    fixture.stores.lifecycle.close().await;
    send_all(&fixture, fixture.now).await;
    fixture
}

#[tokio::test]
async fn a_mail_behind_a_held_snapshot_goes_over_as_many_pages_as_without_one() {
    let fixture = with_an_offer().await;
    let mut snapshot = fixture.sql.begin().await.unwrap();
    snapshot
        .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        .await
        .unwrap();
    snapshot
        .execute("SELECT count(*) FROM notices")
        .await
        .unwrap();
    let seconds = |seconds| fixture.later(TimeDelta::seconds(seconds));
    let at_first = pages_of_a_claim(&fixture, seconds(10)).await;
    stage(&fixture, BETWEEN, seconds(20)).await;
    send_all(&fixture, seconds(30)).await;
    let later = pages_of_a_claim(&fixture, seconds(40)).await;
    assert!(
        later <= at_first * MAX_FACTOR,
        "{later}, {at_first} at first"
    );
    snapshot.rollback().await.unwrap();
}

/// Whatever is known of the table, and even if nearly all of them went to one mailbox.
#[tokio::test]
async fn a_mail_goes_over_as_many_pages_however_many_were_sent_before() {
    for (analysed, one_in) in [(false, 2_i64), (true, 2), (true, 1)] {
        let fixture = with_an_offer().await;
        let at_first = pages_of_a_claim(&fixture, fixture.later(TimeDelta::seconds(10))).await;
        stage(&fixture, HISTORY, fixture.now).await;
        // Half or all of them were sent to one mailbox on days before, the others opened mailboxes today.
        let sent = "UPDATE notices
             SET status = 'SENT', next_attempt_at = NULL,
                 recipient = CASE WHEN operation_id % $2 = 0 THEN 'fin@example.com' ELSE recipient END,
                 ended_at = CASE WHEN operation_id % $2 = 0 THEN 1 ELSE $1 END,
                 opened_at = CASE WHEN operation_id % $2 > 0 THEN $1 END,
                 opened_number = CASE WHEN operation_id % $2 > 0 THEN operation_id END
             WHERE status = 'PENDING' AND NOT is_held";
        let sent = sqlx::query(sent)
            .bind(fixture.now.unix_millis())
            .bind(one_in);
        let mut session = fixture.sql.acquire().await.unwrap();
        sent.execute(&mut *session).await.unwrap();
        let vacuum = if analysed {
            "VACUUM ANALYZE notices"
        } else {
            "VACUUM notices"
        };
        session.execute(vacuum).await.unwrap();
        report_statistics(&mut session).await;
        drop(session);
        let later = pages_of_a_claim(&fixture, fixture.later(TimeDelta::seconds(40))).await;
        assert!(
            later <= at_first * MAX_FACTOR,
            "{later}, {at_first} at first, analysed: {analysed}, one in {one_in}"
        );
    }
}
