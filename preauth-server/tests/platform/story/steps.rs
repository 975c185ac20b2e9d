//! The steps of `month.md`.

use serde_json::{Value, json};

const MONTH: &str = include_str!("month.md");
const HEAD_AND_RULE: usize = 2;

/// An action on a day, and its event.
pub(super) struct Step {
    pub(super) day: u64,
    pub(super) name: &'static str,
    pub(super) action: &'static str,
    pub(super) received_by: ReceivedBy,
    event: [&'static str; 5],
}

/// Which endpoints the event goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceivedBy {
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
    // The cells before the first bar and after the last are empty.
    cells.pop();
    cells.remove(0);
    let [day, name, action, received_by, ref event @ ..] = cells[..] else {
        panic!("too few cells: {row}")
    };
    Step {
        day: day.parse().unwrap(),
        name,
        action,
        received_by: match received_by {
            "both" => ReceivedBy::Both,
            "company" => ReceivedBy::Company,
            other => panic!("{other} is nobody"),
        },
        event: event.try_into().unwrap(),
    }
}

impl Step {
    /// The expected summary of the event about `subject`, as [`summary`] extracts it.
    pub(super) fn expected_event(&self, subject: &Value) -> Value {
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

/// The summary of an event: its record, type, status, stage, net amount and reason.
pub(super) fn summary(event: &Value) -> Value {
    let data = &event["data"];
    // An order's event may also name an operation.
    let names = ["paymentOrderId", "invoiceId", "anticipationId"];
    let subject = names.iter().find(|name| data.get(name).is_some());
    let subject = subject.map(|name| json!({*name: data[*name]}));
    let [status, stage, net_amount, reason] =
        ["status", "stage", "netAmount", "reason"].map(|name| &data[name]);
    json!([subject, event["type"], status, stage, net_amount, reason])
}
