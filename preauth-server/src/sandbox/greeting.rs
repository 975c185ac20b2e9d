//! The sandbox's greeting: addresses, credentials, and commands to paste.

use preauth_core::value::calendar;
use preauth_core::value::{OperationId, Timestamp};
use preauth_core::wire::path;

use super::ReadyFile;

const DUE_IN_DAYS: u64 = 60;

/// The greeting; `next` is the id that the first command's operation will probably have.
#[must_use]
pub fn greeting(
    ready: &ReadyFile<'_>,
    webhook_url: &str,
    next: OperationId,
    now: Timestamp,
) -> String {
    let ReadyFile {
        base_url,
        platform_url,
        credentials,
    } = ready;
    let due_date = calendar::today(now)
        .checked_add_days(chrono::Days::new(DUE_IN_DAYS))
        .unwrap_or_default();
    let (key, token) = (&credentials.api_key, &credentials.platform_token);
    let offers = path::PRE_AUTHORIZATIONS;
    format!(
        "\
preauth sandbox: the whole service with demo data, for trying it out on this machine

  integration API  {base_url}{prefix}
  platform API     {platform_url}/api/platform/v1
  API key          {key}
  operator token   {token}
  webhooks go to   {webhook_url}
  webhook secret   {secret}
  time here        {now}

For a second terminal:

export BASE={base_url}{prefix} KEY={key}
export PLATFORM={platform_url}/api/platform/v1 TOKEN={token}

1. Offer supplier {supplier} an advance:

curl -sS -w '\\n' {base_url}{offers} \\
  -H 'Authorization: Bearer {key}' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: pedido-{next}-nf' \\
  -d '{{\"supplier\":{{\"cnpj\":\"{supplier}\",\"email\":\"financeiro@fornecedor.example.com\"}},\
\"invoice\":{{\"amount\":12500.50,\"dueDate\":\"{due_date}\",\"number\":\"NF-{next}\"}},\
\"externalReference\":\"PEDIDO-{next}\"}}'

2. Look at it:

curl -sS -w '\\n' {base_url}{find} \\
  -H 'Authorization: Bearer {key}'

3. Play the supplier, who requests the advance:

curl -sS -w '\\n' -X POST {platform_url}/api/platform/v1/operations/{next}/request \\
  -H 'Authorization: Bearer {token}'

Or type here: request {next}, approve {next}, show {next}; advance 3d lets time pass; help lists all commands.
An invoice number of sandbox:RATE_LIMITED, or of any other error code, provokes that answer.

Stop with quit or Ctrl-C. From here on, a line per request, status change and delivery:
",
        prefix = path::PREFIX,
        secret = credentials.webhook_secret,
        supplier = credentials.supplier_cnpj,
        find = path::pre_authorization(next),
    )
}
