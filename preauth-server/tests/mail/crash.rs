//! A server killed while it sends mails.

use test_support::{
    Backend, Home, MailServer, Manner,
    office::{offer, start, start_in, until, until_true},
    on_each_database,
};

on_each_database! {
    a_kill_between_sending_and_recording_loses_no_mail_and_a_repeat_is_recognised,
}

const ADDRESS: &str = "a@fornecedor.example.com";

// Contract: service/mails
async fn a_kill_between_sending_and_recording_loses_no_mail_and_a_repeat_is_recognised(
    backend: Backend,
) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::TakeInSilence);
    let sandbox = start(backend, &server).await;
    for n in 0..3 {
        offer(&sandbox, &format!("NF-{n}"), ADDRESS).await;
    }
    until_true("three are taken", async || {
        server.taken_for(ADDRESS).len() == 3
    })
    .await;
    let home = sandbox.kill();
    server.treat(ADDRESS, Manner::Take);
    end_leases(&home).await;
    let sandbox = start_in(home, &server).await;
    let sent = until(&sandbox, 3, "SENT").await;
    // Each arrived twice, with the same message id.
    let taken = server.taken_for(ADDRESS);
    for mail in sent {
        let id = mail["id"].as_str().unwrap();
        let header = format!("Message-ID: <{id}@");
        let times = taken.iter().filter(|mail| mail.contains(&header)).count();
        assert_eq!(times, 2);
    }
}

/// Ends every lease now, instead of waiting for it.
async fn end_leases(home: &Home) {
    let sql = "UPDATE notices SET leased_until = 1 WHERE leased_until IS NOT NULL";
    let flags = home.database_flags();
    let ended = if let Some(url) = flags.last() {
        let pool = sqlx::PgPool::connect(url).await.unwrap();
        sqlx::query(sql)
            .execute(&pool)
            .await
            .unwrap()
            .rows_affected()
    } else {
        let path = home.folder().join("data").join("preauth.db");
        let url = format!("sqlite://{}", path.display());
        let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
        let done = sqlx::query(sql).execute(&pool).await.unwrap();
        pool.close().await;
        done.rows_affected()
    };
    assert_eq!(ended, 3);
}
