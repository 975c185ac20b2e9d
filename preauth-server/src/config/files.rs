//! The settings of invoice files.

use std::num::NonZeroU64;
use std::path::Path;

use crate::invoice_files;
use crate::store::DatabaseUrl;

use super::reader::Reader;

const MAX_QUOTA_GIB: u64 = 1_000_000;
const BYTES_PER_GIB: u64 = 1024 * 1024 * 1024;

impl Reader<'_> {
    pub(super) fn files_place(
        &mut self,
        data: &Path,
        database_url: &DatabaseUrl,
    ) -> Option<String> {
        let is_shared = self.parse::<bool>("files.shared", "true or false")?;
        let given = self.text("files.place");
        if database_url.is_postgres() && !invoice_files::is_s3(&given) && !is_shared {
            self.problems.push(
                "files.shared must be true on PostgreSQL, where every instance must reach the \
                 folder of the invoice files; or files.place must be s3://BUCKET/PREFIX"
                    .to_owned(),
            );
            return None;
        }
        if given.is_empty() {
            return Some(data.join("invoice-files").display().to_string());
        }
        Some(given)
    }

    /// `None` also after a problem.
    pub(super) fn files_quota(&mut self) -> Option<NonZeroU64> {
        let text = self.text("files.quota_gib");
        if text.is_empty() {
            return None;
        }
        let quota = quota_bytes(&text);
        if quota.is_none() {
            self.problems.push(format!(
                "files.quota_gib must be from 0.001 to {MAX_QUOTA_GIB}, with 3 decimals at most, not \
                 {text:?}"
            ));
        }
        quota
    }
}

/// A number of GiB, with up to 3 decimals, in bytes.
fn quota_bytes(text: &str) -> Option<NonZeroU64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{decimals:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let thousandths = whole.checked_mul(1000)?.checked_add(thousandths)?;
    if thousandths > MAX_QUOTA_GIB.saturating_mul(1000) {
        return None;
    }
    NonZeroU64::new(thousandths.checked_mul(BYTES_PER_GIB)?.checked_div(1000)?)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use crate::config::{Config, Layers};

    const SHARED: (&str, &str) = ("PREAUTH_FILES_SHARED", "true");
    const TOKEN: (&str, &str) = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");

    #[test]
    fn files_on_postgres_lie_where_every_instance_reaches_them() {
        let place = |pairs: &[(&str, &str)]| {
            let config = Config::from_layers(&Layers::of_environment(pairs));
            config.map(|config| config.files_place)
        };
        let postgres = ("PREAUTH_DATABASE", "postgres://localhost/preauth");
        let s3 = ("PREAUTH_FILES_PLACE", "s3://bucket/invoices");
        assert_eq!(place(&[]).unwrap(), "preauth-data/invoice-files");
        assert_eq!(
            place(&[postgres, TOKEN, SHARED]).unwrap(),
            "preauth-data/invoice-files"
        );
        assert_eq!(place(&[postgres, TOKEN, s3]).unwrap(), s3.1);
        for folder in ["", "/srv/invoices"] {
            let given = ("PREAUTH_FILES_PLACE", folder);
            let refused = place(&[postgres, TOKEN, given]).unwrap_err().to_string();
            assert!(refused.contains("files.shared must be true"), "{refused}");
        }
    }

    #[test]
    fn a_quota_of_files_is_a_number_of_gib() {
        let quota = |text: &str| {
            let config = Config::from_layers(&Layers::of_environment(&[(
                "PREAUTH_FILES_QUOTA_GIB",
                text,
            )]));
            config.map(|config| config.files_quota_bytes.map(NonZeroU64::get))
        };
        assert_eq!(quota("").unwrap(), None);
        assert_eq!(quota("20").unwrap(), Some(20 << 30));
        assert_eq!(quota("0.5").unwrap(), Some(1 << 29));
        for refused in [
            "0",
            "0.0001",
            "-1",
            "+1",
            "1e3",
            ".5",
            "1.",
            "1000000.001",
            "none",
        ] {
            let error = quota(refused).unwrap_err().to_string();
            assert!(
                error.contains("files.quota_gib must be"),
                "{refused}: {error}"
            );
        }
    }
}
