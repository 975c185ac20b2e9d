//! What the server reaches: the resolver, the mail server, and the receivers that the caller names.

use std::time::Duration;

use preauth_core::port::AttemptError;
use tokio::time::timeout;

use crate::config::Config;
use crate::dispatcher::{HttpSender, HttpSenderOptions, LookupError};
use crate::log::chain;
use crate::mail::SmtpRelay;

use super::report::Report;

const DNS: &str = "dns";
const MAIL: &str = "mail";
const OUTBOUND: &str = "outbound";
const REGISTER_HTTPS: &str =
    "; register an https URL: plain http goes to webhooks.allowed_networks only";
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// A name that no resolver has an address for: the answer shows that the resolver works. Below
/// `.invalid` nobody would be asked.
const NOWHERE: &str = "preauth-doctor.example";

/// A static glibc loads the modules of the machine for names. Those of another version end the process, here, too, so that
/// this comes before the first look-up.
pub(super) fn modules(report: &mut Report) {
    if cfg!(all(target_env = "gnu", target_feature = "crt-static"))
        && let Ok(switch) = std::fs::read_to_string("/etc/nsswitch.conf")
        && let Some(modules) = foreign_modules(&switch)
    {
        report.warning(
            DNS,
            &format!(
                "/etc/nsswitch.conf asks {modules} for names; modules of another glibc than this static program's \
                 end it at its first look-up"
            ),
            "let `hosts:` name files and dns only",
        );
    }
}

/// What `hosts:` names beside the two that are part of a static glibc.
fn foreign_modules(switch: &str) -> Option<String> {
    let hosts = switch
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("hosts:"))?;
    let sources = hosts.split('#').next()?.split_whitespace();
    // What to do after an answer stands in brackets, with blanks or without.
    let mut is_action = false;
    let modules = sources.filter(|word| {
        let is_source = !is_action && !word.starts_with('[');
        is_action = (is_action || word.starts_with('[')) && !word.ends_with(']');
        is_source && !matches!(*word, "files" | "dns")
    });
    let modules: Vec<_> = modules.collect();
    (!modules.is_empty()).then(|| modules.join(", "))
}

pub(super) async fn examine(config: &Config, urls: &[String], report: &mut Report) {
    resolver(config, report).await;
    mail(config, report).await;
    outbound(config, urls, report).await;
}

async fn resolver(config: &Config, report: &mut Report) {
    let (whose, next) = match config.webhooks.resolver {
        Some(address) => (
            format!("the resolver {address}"),
            "correct webhooks.resolver, or let this machine reach it by UDP and TCP",
        ),
        None => (
            "the operating system's resolver".to_owned(),
            "correct /etc/resolv.conf, or set webhooks.resolver",
        ),
    };
    let lookup = match config.webhooks.lookup() {
        Ok(lookup) => lookup,
        Err(error) => {
            report.failed(DNS, &format!("{whose}: {}", chain(&error)), Some(next));
            return;
        }
    };
    match timeout(LOOKUP_TIMEOUT, lookup.addresses(NOWHERE)).await {
        Ok(Err(LookupError::NoAddress)) => report.ok(DNS, &format!("{whose} answers")),
        Ok(Err(error)) => report.failed(DNS, &format!("{whose}: {}", chain(&error)), Some(next)),
        Ok(Ok(_)) => report.warning(
            DNS,
            &format!("{whose} has an address for {NOWHERE}, which does not exist"),
            "use a resolver that does not invent addresses",
        ),
        Err(_) => report.failed(DNS, &format!("{whose} does not answer"), Some(next)),
    }
}

async fn mail(config: &Config, report: &mut Report) {
    let Some(smtp) = &config.mail.smtp else {
        let found = "there is no mail server: mails become files in the data folder";
        report.warning(MAIL, found, "set mail.smtp_host and mail.from");
        return;
    };
    let hello = config.mail.letterhead.from.email.domain();
    let relay = match SmtpRelay::new(smtp.clone(), hello) {
        Ok(relay) => relay,
        Err(error) => {
            report.failed(MAIL, &chain(&error), None);
            return;
        }
    };
    let how = if smtp.login.is_some() {
        "accepts the login"
    } else {
        "answers"
    };
    match relay.check().await {
        Ok(()) => report.ok(MAIL, &format!("{}:{} {how}", smtp.host, smtp.port)),
        Err(reason) => report.failed(MAIL, &reason.recorded, None),
    }
}

async fn outbound(config: &Config, urls: &[String], report: &mut Report) {
    let Ok(validator) = config.webhooks.endpoint_validator() else {
        // The resolver's line says why.
        return;
    };
    let options = HttpSenderOptions {
        extra_roots: config.webhooks.extra_roots.clone(),
        ..HttpSenderOptions::new(validator)
    };
    let sender = match HttpSender::new(options) {
        Ok(sender) => sender,
        Err(error) => {
            let next = "install the platform's root certificates (ca-certificates)";
            report.failed(OUTBOUND, &chain(&error), Some(next));
            return;
        }
    };
    if urls.is_empty() {
        report.ok(
            OUTBOUND,
            "there are root certificates; no receiver is named by --url",
        );
    }
    for url in urls {
        // A path may be a secret.
        let shown = url::Url::parse(url)
            .map_or_else(|_| url.clone(), |url| url.origin().ascii_serialization());
        match sender.reach(url).await {
            Ok(()) => report.ok(OUTBOUND, &format!("{shown} can be reached")),
            Err(error) => report.failed(
                OUTBOUND,
                &format!("{shown}: {error} ({})", error.code()),
                Some(&format!(
                    "{}{}; docs/decisions.md explains the code",
                    way_to(error),
                    if shown.starts_with("http:") {
                        REGISTER_HTTPS
                    } else {
                        ""
                    }
                )),
            ),
        }
    }
}

/// The next step towards a receiver that was not reached.
const fn way_to(error: AttemptError) -> &'static str {
    match error {
        AttemptError::UrlRefused => "webhooks go to https on port 443, without user and password",
        AttemptError::AddressRefused => {
            "webhooks go to public addresses only, and to those of webhooks.allowed_networks"
        }
        AttemptError::NameUnknown => "publish an address of this name in the DNS",
        AttemptError::CertificateUntrusted => {
            "let the receiver send its whole chain, or name its root in webhooks.extra_roots"
        }
        AttemptError::ConnectionRefused => {
            "start the receiver, or correct the port: nothing listens there"
        }
        _ => "open https to it in the firewall",
    }
}

#[cfg(test)]
mod tests {
    use super::foreign_modules;

    #[test]
    fn modules_beside_files_and_dns_are_named() {
        for (switch, expected) in [
            ("passwd: files sss\nhosts:          files dns\n", None),
            ("hosts: files # resolve\n", None),
            (
                "hosts: files mdns4_minimal [NOTFOUND=return] dns",
                Some("mdns4_minimal"),
            ),
            (
                "hosts: files myhostname resolve [ !UNAVAIL = return ] dns",
                Some("myhostname, resolve"),
            ),
            ("passwd: files\n", None),
        ] {
            assert_eq!(foreign_modules(switch).as_deref(), expected, "{switch}");
        }
    }
}
