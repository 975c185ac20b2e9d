//! An ERP without any open port: reads its events on request, and acts on each exactly once, whenever it is
//! killed. What it did stands in a journal, and where it is in a cursor beside it.
//!
//! `cargo run -p examples --bin event_reader -- events ready.json`, where `events` is a folder, or with
//! `PREAUTH_BASE_URL` and `PREAUTH_API_KEY` set in place of the ready file.
#![expect(clippy::print_stdout, reason = "the program prints what it does")]

use std::collections::HashSet;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use examples::{argument, chain, end, setting};
use preauth_client::wire::{EventData, RawEventEnvelope};
use preauth_client::{Client, FileCursor};

/// Pause after a failure that the client's own retries did not outlast.
const PAUSE: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> ExitCode {
    end(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = argument(1).ok_or("the first argument is a folder")?;
    let ready = || argument(2);
    let base_url = setting(ready(), "baseUrl", "PREAUTH_BASE_URL")?;
    let api_key = setting(ready(), "apiKey", "PREAUTH_API_KEY")?;
    fs::create_dir_all(&folder)?;
    let mut journal = Journal::open(&folder.join("journal"))?;
    let client = Client::new(base_url, api_key)?;
    let mut events = client.events(FileCursor::new(folder.join("cursor")));
    // Asking for the next event states that the one before is done.
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => act_on(&event, &mut journal)?,
            Err(error) if error.is_retryable() => {
                println!("later: {}", chain(&error));
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn act_on(event: &RawEventEnvelope, journal: &mut Journal) -> Result<(), Box<dyn Error>> {
    let subject = match event.data() {
        Ok(EventData::Operation(operation)) => {
            format!(
                "operation {} is {}",
                operation.anticipation_id, operation.status
            )
        }
        // Including types newer than this program.
        _ => "noted".to_owned(),
    };
    let text = format!("{}: {subject}", event.event_type);
    // The events of the last answer come again after a crash.
    if journal.enter(&event.id.to_string(), &text)? {
        println!("{text}");
    }
    Ok(())
}

/// What was done, a line for each event. A real ERP has a table with the event's id as its key, and writes to it
/// in the transaction that acts on the event.
struct Journal {
    file: File,
    done: HashSet<String>,
}

impl Journal {
    fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let text = fs::read_to_string(path)?;
        // A line without its end was being written when the program was killed: it was not done.
        let whole = text.rfind('\n').map_or(0, |end| end.saturating_add(1));
        file.set_len(u64::try_from(whole)?)?;
        let lines = text.get(..whole).unwrap_or_default().lines();
        let ids = lines.filter_map(|line| line.split_once(' '));
        Ok(Self {
            done: ids.map(|(id, _)| id.to_owned()).collect(),
            file,
        })
    }

    /// Enters an event, durably; `false` if it was entered before.
    fn enter(&mut self, id: &str, text: &str) -> Result<bool, Box<dyn Error>> {
        if !self.done.insert(id.to_owned()) {
            return Ok(false);
        }
        self.file.write_all(format!("{id} {text}\n").as_bytes())?;
        self.file.sync_data()?;
        Ok(true)
    }
}
