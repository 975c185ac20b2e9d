//! An ERP job: offers a supplier an advance on the invoice of an order, looks at it, takes it back.
//!
//! `cargo run -p examples --bin erp_job -- ready.json`, or with `PREAUTH_BASE_URL` and
//! `PREAUTH_API_KEY` set.
#![expect(clippy::print_stdout, reason = "the job says what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use examples::{end, setting};
use preauth_client::value::{DueDate, Money, OperationId, Timestamp, calendar};
use preauth_client::wire::Open;
use preauth_client::{Client, ErrorCode, ListFilter, NewPreAuthorization};

/// The ERP's own numbers.
const ORDER: &str = "PED-2026-0042";
const INSTALLMENT: u32 = 1;
const DUE_IN: Duration = Duration::from_hours(30 * 24);

#[tokio::main]
async fn main() -> ExitCode {
    end(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let base_url = setting("baseUrl", "PREAUTH_BASE_URL")?;
    let client = Client::new(base_url, setting("apiKey", "PREAUTH_API_KEY")?)?;
    let id = offer(&client).await?;

    let operation = client.get(id).await?;
    let amount = operation.invoice.amount.money();
    println!("operation {id} over {amount} reais is {}", operation.status);

    let of_the_order = ListFilter::new().external_reference(ORDER.parse()?);
    let total = client.list(&of_the_order).await?.pagination.total;
    println!("operations of order {ORDER}: {total}");

    match client.cancel(id).await {
        Ok(cancelled) => println!("operation {id} is {}", cancelled.status),
        Err(error) => match error.code() {
            Some(Open::Known(ErrorCode::PreAuthAlreadyRequested)) => {
                println!("operation {id} goes on: the supplier was faster");
            }
            _ => return Err(error.into()),
        },
    }
    Ok(())
}

/// Makes the offer, unless this job or somebody else made it before.
async fn offer(client: &Client) -> Result<OperationId, Box<dyn Error>> {
    let supplier = "11.444.777/0001-61".parse()?;
    let email = "financeiro@fornecedor.example.com".parse()?;
    let (amount, number) = (Money::parse("12500.50")?, format!("NF-{ORDER}").parse()?);
    let due_date = due_date()?;
    // Made of what tells this offer from any other, never drawn: a job that crashed and starts again
    // finds what it did. An offer with another due date is another offer; under the same key it would
    // be IDEMPOTENCY_KEY_REUSED.
    let key = format!("erp-job:{ORDER}:{INSTALLMENT}:{due_date}").parse()?;
    let offer = NewPreAuthorization::new(supplier, email, amount, due_date, number)
        // The names are for a supplier that is new to the platform.
        .supplier_name("Fornecedor Exemplo Ltda.".parse()?)
        .contact_name("Maria Lima".parse()?)
        .external_reference(ORDER.parse()?)
        .idempotency_key(key);

    let (id, how) = match client.create(&offer).await {
        // The answer is the first one, whatever became of the operation since.
        Ok(created) if created.is_replayed() => (created.id, ", as this job did before"),
        Ok(created) => (created.id, ""),
        // Whoever offered it, the invoice is on offer: that is what was wanted.
        Err(error) => {
            let existing = error.existing_operation_id();
            (existing.ok_or(error)?, ", which was there already")
        }
    };
    println!("order {ORDER} is operation {id}{how}");
    Ok(id)
}

/// A day some time ahead, as days are counted in São Paulo.
fn due_date() -> Result<DueDate, Box<dyn Error>> {
    #[expect(clippy::disallowed_methods, reason = "a job lives by the clock")]
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let due_at_ms = i64::try_from(since_1970.saturating_add(DUE_IN).as_millis())?;
    let due_at = Timestamp::from_unix_millis(due_at_ms);
    let day = due_at.and_then(|at| DueDate::from_date(calendar::today(at)));
    Ok(day.ok_or("the clock is beyond the calendar")?)
}
