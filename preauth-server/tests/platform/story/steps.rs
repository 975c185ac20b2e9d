//! The steps of `month.md`.

use serde_json::{Value, json};

const MONTH: &str = include_str!("month.md");
const HEAD_AND_RULE: usize = 2;

/// Something done on a day, and the event that tells of it.
pub(super) struct Step {
    pub(super) day: u64,
    pub(super) name: &'static str,
    pub(super) action: &'static str,
    pub(super) heard_by: HeardBy,
    event: [&'static str; 5],
}

/// Whose endpoints the event goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeardBy {
    Both,
    Company,
}

/// The rows of the table, in their order.
pub(super) fn steps() -> Vec<Step> {
    let rows = MONTH.lines().filter(|line| line.starts_with('|'));
    let steps: Vec<_> = rows.skip(HEAD_AND_RULE).map(step).collect();
    assert!(steps.is_sorted_by_key(|step| step.day));
    steps
}

fn step(row: &'static str) -> Step {
    let mut cells: Vec<_> = row.split('|').map(str::trim).collect();
    // Nothing stands before the first bar and after the last.
    cells.pop();
    cells.remove(0);
    let [day, name, action, heard_by, ref event @ ..] = cells[..] else {
        panic!("too few cells: {row}")
    };
    Step {
        day: day.parse().unwrap(),
        name,
        action,
        heard_by: match heard_by {
            "both" => HeardBy::Both,
            "company" => HeardBy::Company,
            other => panic!("{other} is nobody"),
        },
        event: event.try_into().unwrap(),
    }
}

impl Step {
    /// What the event must tell of `subject`, as [`told`] reads it.
    pub(super) fn tells(&self, subject: &Value) -> Value {
        let [event, status, stage, net_amount, reason] = self.event;
        let text = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
        let amount = text(net_amount).map(|amount| amount.parse::<f64>().unwrap());
        json!([
            subject,
            event,
            text(status),
            text(stage),
            amount,
            text(reason)
        ])
    }
}

/// What an event tells: of which record, its type, status, stage, net amount and reason.
pub(super) fn told(event: &Value) -> Value {
    let data = &event["data"];
    // An order's event may name an operation, too.
    let names = ["paymentOrderId", "invoiceId", "anticipationId"];
    let subject = names.iter().find(|name| data.get(name).is_some());
    let subject = subject.map(|name| json!({*name: data[*name]}));
    let [status, stage, net_amount, reason] =
        ["status", "stage", "netAmount", "reason"].map(|name| &data[name]);
    json!([subject, event["type"], status, stage, net_amount, reason])
}
