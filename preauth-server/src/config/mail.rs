//! The section `mail`: settings that depend on each other are checked together.

use std::num::NonZeroU32;
use std::path::PathBuf;

use url::Url;

use super::reader::Reader;
use crate::mail::{
    Letterhead, MailLimits, MailSettings, Mailbox, SmtpLogin, SmtpSettings, SmtpTls,
};

/// The sender of mails that only become files.
const NOBODY: &str = "Preauth <nao-responda@preauth.invalid>";
const MAX_SHARE: u32 = 100_000;
const MAX_NEW_ADDRESSES: u32 = 10_000_000;

impl Reader<'_> {
    pub(super) fn mail(&mut self) -> Option<MailSettings> {
        let smtp = self.smtp();
        let from = self.from(smtp.is_some());
        let portal = self.portal();
        let limits = self.mail_limits();
        Some(MailSettings {
            letterhead: Letterhead {
                from: from?,
                portal,
                pages: None,
            },
            limits: limits?,
            smtp,
        })
    }

    fn mail_limits(&mut self) -> Option<MailLimits> {
        let per_mailbox = self.daily_share();
        let per_head_office = self.whole("mail.daily_share_per_company", MAX_SHARE);
        let new_mailboxes = self.whole("mail.new_addresses_per_day", MAX_NEW_ADDRESSES);
        Some(MailLimits {
            per_mailbox: per_mailbox?,
            per_head_office: per_head_office?.try_into().ok()?,
            new_mailboxes: new_mailboxes?.try_into().ok()?,
        })
    }

    pub(super) fn daily_share(&mut self) -> Option<NonZeroU32> {
        let share = self.whole("mail.daily_share", MAX_SHARE)?;
        share.try_into().ok()
    }

    fn from(&mut self, is_sent: bool) -> Option<Mailbox> {
        if self.text("mail.from").is_empty() {
            if is_sent {
                self.problem("mail.from must be given with mail.smtp_host");
            }
            return NOBODY.parse().ok();
        }
        self.parse(
            "mail.from",
            "an address like Plataforma <avisos@example.com>",
        )
    }

    fn portal(&mut self) -> Option<Url> {
        if self.text("mail.portal_url").is_empty() {
            return None;
        }
        let url: Url = self.parse("mail.portal_url", "a URL like https://example.com/entrar")?;
        let is_plain = matches!(url.scheme(), "https" | "http")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_plain {
            self.problem("mail.portal_url must begin with https:// and name nobody");
        }
        is_plain.then_some(url)
    }

    /// The mail server; `None` without one, and after a problem.
    fn smtp(&mut self) -> Option<SmtpSettings> {
        let host = self.text("mail.smtp_host");
        let tls = self.tls();
        let login = self.login();
        let is_port_given = !self.text("mail.smtp_port").is_empty();
        if host.is_empty() {
            if is_port_given || login.is_some() {
                self.problem("mail.smtp_port and mail.smtp_user need mail.smtp_host");
            }
            return None;
        }
        let tls = tls?;
        if tls == SmtpTls::None && login.is_some() && !is_this_machine(&host) {
            self.problem("mail.smtp_tls = none would show the password to everybody on the way");
        }
        let port = if is_port_given {
            self.parse("mail.smtp_port", "a port from 1 to 65535")?
        } else {
            tls.usual_port()
        };
        Some(SmtpSettings {
            host,
            port,
            tls,
            login,
        })
    }

    fn tls(&mut self) -> Option<SmtpTls> {
        match self.text("mail.smtp_tls").as_str() {
            "starttls" => Some(SmtpTls::StartTls),
            "tls" => Some(SmtpTls::Implicit),
            "none" => Some(SmtpTls::None),
            other => {
                self.problem(&format!(
                    "mail.smtp_tls must be starttls, tls or none, not {other}"
                ));
                None
            }
        }
    }

    fn login(&mut self) -> Option<SmtpLogin> {
        let (user, file) = (
            self.text("mail.smtp_user"),
            self.text("mail.smtp_password_file"),
        );
        match (user.is_empty(), file.is_empty()) {
            (true, true) => None,
            (false, false) => Some(SmtpLogin {
                user,
                password_file: PathBuf::from(file),
            }),
            _ => {
                self.problem("mail.smtp_user and mail.smtp_password_file are given together");
                None
            }
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ConfigError, Layers};
    use crate::mail::{MailSettings, SmtpTls};

    fn mail(pairs: &[(&str, &str)]) -> Result<MailSettings, ConfigError> {
        let named = pairs
            .iter()
            .map(|(name, text)| (format!("PREAUTH_MAIL_{name}"), *text));
        let named: Vec<_> = named.collect();
        Config::from_layers(&Layers::of_environment(&named)).map(|config| config.mail)
    }

    const FROM: (&str, &str) = ("FROM", "Plataforma Ação <avisos@example.com>");
    const HOST: (&str, &str) = ("SMTP_HOST", "smtp.example.com");
    const USER: (&str, &str) = ("SMTP_USER", "avisos");
    const PASSWORD: (&str, &str) = ("SMTP_PASSWORD_FILE", "/run/secrets/smtp");

    #[test]
    fn without_a_mail_server_nothing_needs_to_be_said() {
        let mail = mail(&[]).unwrap();
        assert!(mail.smtp.is_none());
        assert_eq!(mail.limits, crate::mail::MailLimits::default());
    }

    #[test]
    fn a_mail_server_needs_a_sender_and_has_usual_ports() {
        for (tls, is, port) in [
            ("starttls", SmtpTls::StartTls, 587),
            ("tls", SmtpTls::Implicit, 465),
            ("none", SmtpTls::None, 25),
        ] {
            let smtp = mail(&[FROM, HOST, ("SMTP_TLS", tls)])
                .unwrap()
                .smtp
                .unwrap();
            assert_eq!((smtp.tls, smtp.port), (is, port));
        }
        let error = mail(&[HOST]).unwrap_err();
        assert!(
            error.to_string().contains("mail.from must be given"),
            "{error}"
        );
    }

    #[test]
    fn a_password_goes_encrypted_or_stays_on_this_machine() {
        let none = ("SMTP_TLS", "none");
        assert!(mail(&[FROM, HOST, USER, PASSWORD]).is_ok());
        assert!(mail(&[FROM, ("SMTP_HOST", "127.0.0.1"), USER, PASSWORD, none]).is_ok());
        let error = mail(&[FROM, HOST, USER, PASSWORD, none]).unwrap_err();
        assert!(error.to_string().contains("show the password"), "{error}");
    }

    #[test]
    fn each_invalid_mail_setting_is_one_problem() {
        for pairs in [
            &[("FROM", "nobody")][..],
            &[("PORTAL_URL", "javascript:alert(1)")],
            &[("PORTAL_URL", "https://ana:x@example.com")],
            &[("DAILY_SHARE", "0")],
            &[("SMTP_PORT", "25")],
            &[FROM, HOST, ("SMTP_PORT", "70000")],
            &[FROM, HOST, ("SMTP_TLS", "maybe")],
            &[FROM, HOST, USER],
            &[USER, PASSWORD],
        ] {
            let error = mail(pairs).unwrap_err();
            assert_eq!(error.0.len(), 1, "{pairs:?}: {error}");
        }
    }
}
