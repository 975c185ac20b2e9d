//! Mails leave over an encrypted connection to a trusted server, or not at all.

use test_support::{
    Authority, Backend, Home, LOG_EVERYTHING, MailServer, Sandbox,
    office::{FLAGS, SENDER, mail_of, offer, until, until_true},
    on_each_database,
    travel::advance,
    write_secret,
};

on_each_database! {
    the_password_goes_encrypted_and_stands_in_no_log,
    by_starttls_nothing_but_the_upgrade_goes_in_the_clear,
    a_server_that_nobody_vouches_for_gets_neither_password_nor_mail,
    a_server_that_is_somebody_else_gets_neither_password_nor_mail,
    a_server_without_starttls_gets_neither_password_nor_mail,
    a_refused_login_is_reported_with_its_correction_and_loses_nothing,
}

const ADDRESS: &str = "a@fornecedor.example.com";
const PASSWORD: &str = "segredo-do-relay";
/// `\0avisos\0segredo-do-relay`.
const LOGIN: &str = "AUTH PLAIN AGF2aXNvcwBzZWdyZWRvLWRvLXJlbGF5";

/// A sandbox that logs in to `server` over `tls` and trusts the certificates of `authority`.
async fn start(backend: Backend, server: &MailServer, tls: &str, authority: &Authority) -> Sandbox {
    let home = Home::of_a_sandbox(backend).await;
    let roots = home.folder().join("roots.pem");
    authority.write(&roots);
    let password_file = home.folder().join("password");
    write_secret(&password_file, &format!("{PASSWORD}\n"));
    let port = server.address.port().to_string();
    let variables = [
        ("SSL_CERT_FILE", roots.to_str().unwrap()),
        ("PREAUTH_MAIL_FROM", SENDER),
        ("PREAUTH_MAIL_SMTP_HOST", "localhost"),
        ("PREAUTH_MAIL_SMTP_PORT", &port),
        ("PREAUTH_MAIL_SMTP_TLS", tls),
        ("PREAUTH_MAIL_SMTP_USER", "avisos"),
        (
            "PREAUTH_MAIL_SMTP_PASSWORD_FILE",
            password_file.to_str().unwrap(),
        ),
        LOG_EVERYTHING,
    ];
    Sandbox::start_as(home, FLAGS, &variables).await
}

async fn the_password_goes_encrypted_and_stands_in_no_log(backend: Backend) {
    let authority = Authority::new();
    let server = MailServer::start_encrypted(authority.proves("localhost")).await;
    let sandbox = start(backend, &server, "tls", &authority).await;
    takes_a_mail(&server, &sandbox).await;
    let log = sandbox.log();
    assert!(!log.contains(PASSWORD), "{log}");
    assert!(!log.contains(&LOGIN[11..]), "{log}");
}

async fn by_starttls_nothing_but_the_upgrade_goes_in_the_clear(backend: Backend) {
    let authority = Authority::new();
    // Without TLS it accepts no login.
    let server = MailServer::start_upgrading(authority.proves("localhost")).await;
    let sandbox = start(backend, &server, "starttls", &authority).await;
    takes_a_mail(&server, &sandbox).await;
}

async fn a_server_that_nobody_vouches_for_gets_neither_password_nor_mail(backend: Backend) {
    let strange = || Authority::new().proves("localhost");
    let server = MailServer::start_encrypted(strange()).await;
    let sandbox = start(backend, &server, "tls", &Authority::new()).await;
    let error = is_not_trusted(&server, &sandbox).await;
    assert!(error.contains("trusts the authority"), "{error}");
    let server = MailServer::start_upgrading(strange()).await;
    let sandbox = start(backend, &server, "starttls", &Authority::new()).await;
    let error = is_not_trusted(&server, &sandbox).await;
    assert!(error.contains("trusts the authority"), "{error}");
}

async fn a_server_that_is_somebody_else_gets_neither_password_nor_mail(backend: Backend) {
    let authority = Authority::new();
    let server = MailServer::start_encrypted(authority.proves("mx.example.com")).await;
    let sandbox = start(backend, &server, "tls", &authority).await;
    let error = is_not_trusted(&server, &sandbox).await;
    assert!(error.contains("not valid for name"), "{error}");
}

async fn a_server_without_starttls_gets_neither_password_nor_mail(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server, "starttls", &Authority::new()).await;
    let error = is_not_trusted(&server, &sandbox).await;
    assert!(error.contains("check mail.smtp_tls"), "{error}");
}

async fn a_refused_login_is_reported_with_its_correction_and_loses_nothing(backend: Backend) {
    let authority = Authority::new();
    let server = MailServer::start_encrypted(authority.proves("localhost")).await;
    server.refuse_logins(true);
    let sandbox = start(backend, &server, "tls", &authority).await;
    let error = waits_after_an_attempt(&sandbox).await;
    for expected in [
        "refuses the login",
        "535",
        "bad credentials",
        "mail.smtp_user",
        "mail.smtp_password_file",
    ] {
        assert!(error.contains(expected), "{expected} in {error}");
    }
    assert!(!sandbox.log().contains(PASSWORD));
    server.refuse_logins(false);
    until_true("it is tried again", async || {
        advance(&sandbox, 600).await;
        !server.taken_for(ADDRESS).is_empty()
    })
    .await;
    until(&sandbox, 1, "SENT").await;
}

async fn takes_a_mail(server: &MailServer, sandbox: &Sandbox) {
    offer(sandbox, "NF-1", ADDRESS).await;
    until(sandbox, 1, "SENT").await;
    assert_eq!(server.logins(), [LOGIN]);
    assert_eq!(server.taken_for(ADDRESS).len(), 1);
}

/// The error of a mail that `server` did not get.
async fn is_not_trusted(server: &MailServer, sandbox: &Sandbox) -> String {
    let error = waits_after_an_attempt(sandbox).await;
    assert!(server.logins().is_empty());
    assert!(server.taken_for(ADDRESS).is_empty());
    error
}

/// Creates an offer, and returns why its mail is still pending.
async fn waits_after_an_attempt(sandbox: &Sandbox) -> String {
    let operation = offer(sandbox, "NF-1", ADDRESS).await;
    until_true("it was tried", async || {
        mail_of(sandbox, operation).await["attempts"].as_u64() >= Some(1)
    })
    .await;
    let waiting = mail_of(sandbox, operation).await;
    assert_eq!(waiting["status"], "PENDING");
    waiting["lastError"].as_str().unwrap().to_owned()
}
