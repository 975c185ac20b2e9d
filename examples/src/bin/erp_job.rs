//! An ERP job: offers every invoice of a CSV file in batches, shows progress, and prints a report.
//!
//! If it is interrupted, start it again: invoices in its journal are skipped, and an invoice that
//! was offered but not yet journaled is found by its idempotency key.
//!
//! `cargo run -p examples --bin erp_job -- invoices.csv ready.json`, or without the ready file and with
//! `PREAUTH_BASE_URL` and `PREAUTH_API_KEY` set.
#![expect(clippy::print_stdout, reason = "the job prints its progress")]

use std::collections::HashSet;
use std::error::Error as StdError;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use examples::{argument, end, setting};
use preauth_client::value::{Money, OperationId};
use preauth_client::{Client, Error, ManyOutcome, NewPreAuthorization};

#[tokio::main]
async fn main() -> ExitCode {
    end(run().await)
}

async fn run() -> Result<(), Box<dyn StdError>> {
    let csv = argument(1).ok_or("usage: erp_job INVOICES.csv [READY.json]")?;
    let base_url = setting(argument(2), "baseUrl", "PREAUTH_BASE_URL")?;
    let api_key = setting(argument(2), "apiKey", "PREAUTH_API_KEY")?;
    let client = Client::new(base_url, api_key)?;
    let (done, mut journal) = journal(&csv.with_extension("done"))?;

    let text = fs::read_to_string(&csv)?;
    // The first line names the columns.
    let rows: Vec<_> = text.lines().skip(1).collect();
    // Every row is read before the first one is offered.
    let (mut places, mut offers) = (Vec::new(), Vec::new());
    for (number, row) in (1..).zip(&rows) {
        let (order, offer) = read(row).map_err(|error| format!("row {number}: {error}"))?;
        if !done.contains(order) {
            places.push((number, order));
            offers.push(offer);
        }
    }
    let (mut offered, mut refused, mut unknown) = (0_u32, 0_u32, 0_u32);
    let mut outcomes = client.create_many(offers)?;
    while let Some(outcome) = outcomes.next().await {
        // A batch that was not answered, after all attempts: not the fault of its invoices. The next run
        // resumes here.
        let outcome = outcome?;
        let &(number, order) = places.get(outcome.index).ok_or("an outcome of no row")?;
        let place = format!("[{number}/{}] {order}", rows.len());
        match on_offer(outcome) {
            Ok((id, how)) => {
                journal.write_all(format!("{order};{id}\n").as_bytes())?;
                journal.sync_data()?;
                offered = offered.saturating_add(1);
                println!("{place}: operation {id}{how}");
            }
            // It may be there: the next run sends it again, under the same key.
            Err(error) if error.is_retryable() => {
                unknown = unknown.saturating_add(1);
                println!("{place}: not known: {error}");
            }
            Err(error) => {
                refused = refused.saturating_add(1);
                println!("{place}: {error}");
            }
        }
    }
    let before = done.len();
    println!("{offered} on offer now, {before} before, {refused} refused");
    if unknown > 0 {
        return Err(format!("{unknown} without an outcome: run this again").into());
    }
    Ok(())
}

/// The operation of an invoice, and how it came to be if it is not new.
fn on_offer(outcome: ManyOutcome) -> Result<(OperationId, &'static str), Error> {
    match outcome.result {
        Ok(created) if created.is_replayed => {
            Ok((created.operation.id, ", as this job did before"))
        }
        Ok(created) => Ok((created.operation.id, "")),
        // The invoice is on offer, though not under this key: the supplier's number is taken. Instalments need a number
        // each.
        Err(error) => match error.existing_operation_id() {
            Some(id) => Ok((id, ", which was there already")),
            None => Err(error),
        },
    }
}

/// The orders that earlier runs completed, and the file for further ones. An incomplete last line
/// is truncated.
fn journal(path: &Path) -> io::Result<(HashSet<String>, File)> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = options.open(path)?;
    let text = io::read_to_string(&file)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lengths = whole.lines().map(|line| line.len().saturating_add(1));
    let length: usize = lengths.sum();
    file.set_len(u64::try_from(length).map_err(io::Error::other)?)?;
    file.seek(SeekFrom::End(0))?;
    let orders = whole.lines().filter_map(|line| line.split_once(';'));
    Ok((orders.map(|(order, _)| order.to_owned()).collect(), file))
}

/// Reads `order;tax id;e-mail;name;contact;amount;due date;invoice number`.
fn read(row: &str) -> Result<(&str, NewPreAuthorization), Box<dyn StdError>> {
    let columns: Vec<_> = row.split(';').collect();
    let &[order, cnpj, email, name, contact, amount, due_date, number] = columns.as_slice() else {
        return Err(format!("{} columns in place of 8", columns.len()).into());
    };
    // Derived from what identifies the offer, never random. Another due date makes another offer;
    // under the same key it would be refused with IDEMPOTENCY_KEY_REUSED.
    let key = format!("erp-job:{order}:{due_date}");
    let offer = NewPreAuthorization::new(
        column("tax id", cnpj)?,
        column("e-mail", email)?,
        column::<Money>("amount", amount)?,
        column("due date", due_date)?,
        column("invoice number", number)?,
    )
    // The names are used when the supplier is new to the platform.
    .supplier_name(column("name", name)?)
    .contact_name(column("contact", contact)?)
    .external_reference(column("order", order)?)
    .idempotency_key(column("order", &key)?);
    Ok((order, offer))
}

fn column<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{name}: {error}"))
}
