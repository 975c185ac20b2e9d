//! An ERP job: offers a supplier an advance on the invoice of an order, looks at it, takes it back.
//!
//! `cargo run -p examples --bin erp_job -- ready.json`, or with `PREAUTH_BASE_URL` and
//! `PREAUTH_API_KEY` set.
#![expect(clippy::print_stdout, reason = "the job says what it does")]

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use examples::setting;
use preauth_client::value::{DueDate, Money, OperationId, Timestamp, calendar};
use preauth_client::wire::Open;
use preauth_client::{Client, ErrorCode, ListFilter, NewPreAuthorization};

/// The ERP's own number. Reference and idempotency key are made of it, never drawn: a job that
/// crashed and starts again finds what it did, and does nothing a second time.
const ORDER: &str = "PED-2026-0042";
const DUE_IN: Duration = Duration::from_hours(30 * 24);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
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
    let offer = NewPreAuthorization::new(supplier, email, amount, due_date()?, number)
        // The names are for a supplier that is new to the platform.
        .supplier_name("Fornecedor Exemplo Ltda.".parse()?)
        .contact_name("Maria Lima".parse()?)
        .external_reference(ORDER.parse()?)
        .idempotency_key(format!("erp-job:{ORDER}").parse()?);

    let id = match client.create(&offer).await {
        Ok(created) => created.id,
        // Whoever offered it, the invoice is on offer: that is what was wanted.
        Err(error) => error.existing_operation_id().ok_or(error)?,
    };
    println!("order {ORDER} is operation {id}");
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
