//! The sandbox's greeting: addresses, credentials, and commands to paste.

use std::fmt::Write;
use std::net::SocketAddr;

use preauth_core::value::calendar;
use preauth_core::value::{OperationId, Timestamp};
use preauth_core::wire::path;

use super::{ReadyFile, words};
use crate::language::Language;

const DUE_IN_DAYS: u64 = 60;
/// Between a label and its value.
const GAP: usize = 2;

/// The greeting; `next` is the id that the first command's operation will probably have.
#[must_use]
pub fn greeting(
    ready: &ReadyFile<'_>,
    webhook_url: &str,
    next: OperationId,
    now: Timestamp,
    language: Language,
) -> String {
    let ReadyFile {
        base_url,
        platform_url,
        portal_url,
        credentials,
    } = ready;
    let due_date = calendar::today(now)
        .checked_add_days(chrono::Days::new(DUE_IN_DAYS))
        .unwrap_or_default();
    let (key, token) = (&credentials.api_key, &credentials.platform_token);
    let (supplier, offers) = (&credentials.supplier_cnpj, path::PRE_AUTHORIZATIONS);
    let integration = format!("{base_url}{}", path::PREFIX);
    let platform = format!("{platform_url}/api/platform/v1");
    let now = now.to_string();
    let secret = &credentials.webhook_secret;
    let lines = facts(
        [
            &integration,
            &platform,
            portal_url,
            key,
            token,
            webhook_url,
            secret,
            &now,
        ],
        language,
    );
    format!(
        "\
{title}

{warning}{lines}
{second}

export BASE={integration} KEY={key}
export PLATFORM={platform} TOKEN={token}

{offer}

curl -sS -w '\\n' {base_url}{offers} \\
  -H 'Authorization: Bearer {key}' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: pedido-{next}-nf' \\
  -d '{{\"supplier\":{{\"cnpj\":\"{supplier}\",\"email\":\"financeiro@fornecedor.example.com\"}},\
\"invoice\":{{\"amount\":12500.50,\"dueDate\":\"{due_date}\",\"number\":\"NF-{next}\"}},\
\"externalReference\":\"PEDIDO-{next}\"}}'

{look}

curl -sS -w '\\n' {base_url}{find} \\
  -H 'Authorization: Bearer {key}'

{play}

curl -sS -w '\\n' -X POST {platform}/operations/{next}/request \\
  -H 'Authorization: Bearer {token}'

{or_type}
{magic}

{stop}
",
        title = words::title(language),
        warning = warning(platform_url, language),
        second = words::for_a_second_terminal(language),
        offer = words::offer(language, supplier),
        look = words::look(language),
        find = path::pre_authorization(next),
        play = words::play_the_supplier(language),
        or_type = words::or_type(language, next),
        magic = words::magic(language),
        stop = words::stop(language),
    )
}

/// A paragraph, if other machines reach the platform API.
fn warning(platform_url: &str, language: Language) -> String {
    let address = platform_url.trim_start_matches("http://");
    match address.parse::<SocketAddr>() {
        Ok(bound) if !bound.ip().is_loopback() => {
            format!("{}\n\n", words::open_to_the_network(language, address))
        }
        Ok(_) | Err(_) => String::new(),
    }
}

/// A line per label with its value.
fn facts(values: [&str; words::LABELS.len()], language: Language) -> String {
    let labels = words::LABELS.map(|label| label.of(language));
    let longest = labels.iter().map(|label| label.chars().count()).max();
    let width = longest.unwrap_or_default().saturating_add(GAP);
    let mut lines = String::new();
    for (label, value) in labels.iter().zip(values) {
        // Writing to a string does not fail.
        let _ = writeln!(lines, "  {label:<width$}{value}");
    }
    lines
}
