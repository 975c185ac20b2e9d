//! The effect of a deed on an operation, in the model.

use crate::value::Status;

use super::reference::{Arguments, Model, Outcome, today};
use super::table::Deed;

impl Model {
    pub(super) fn act(&mut self, index: usize, deed: Deed, arguments: Arguments) -> Outcome {
        if deed != Deed::Expire && self.is_overdue(index) {
            self.expire(index);
        }
        let operation = self.operations[index].clone();
        let holder = match operation.status {
            // While it is in progress, the operation itself holds its invoice.
            Status::Reproved | Status::Concluded => {
                self.meet_holder(operation.payer, operation.supplier, operation.number)
            }
            _ => None,
        };
        if deed == Deed::Cancel && operation.status != Status::InPreAuth {
            return match (operation.status, operation.closed_by) {
                (Status::Reproved, Some(Deed::Cancel)) => Outcome::Unchanged,
                (Status::Reproved, _) => Outcome::Refused("already closed"),
                _ => Outcome::Refused("already requested"),
            };
        }
        let Some((status, event)) = deed.leads(operation.status, operation.refused_in) else {
            return Outcome::Refused("transition");
        };
        if let Some(refusal) = self.refuse_deed(index, deed, arguments) {
            return Outcome::Refused(refusal);
        }
        if let (Deed::Reopen, Some(holder)) = (deed, holder) {
            return Outcome::Duplicate(holder);
        }
        let changed = &mut self.operations[index];
        changed.status = status;
        changed.events.push(event);
        changed.closed_by = (status == Status::Reproved).then_some(deed);
        match deed {
            Deed::Release => changed.net_cents = Some(arguments.net_cents),
            Deed::Reopen => changed.net_cents = None,
            Deed::ReproveByCompany | Deed::ReproveByPlatform => {
                changed.refused_in = Some(operation.status);
            }
            Deed::Bill => changed.boleto_day = changed.extended_day.unwrap_or(changed.due_day),
            Deed::CreateExtension => changed.extension_day = Some(arguments.extension_day),
            Deed::CancelExtension => changed.extension_day = None,
            Deed::ConcludeExtension => {
                changed.boleto_day = changed.extension_day.take().unwrap();
                changed.extended_day = Some(changed.boleto_day);
            }
            _ => {}
        }
        Outcome::Changed(event)
    }

    fn refuse_deed(&self, index: usize, deed: Deed, it: Arguments) -> Option<&'static str> {
        let operation = &self.operations[index];
        let is_open = operation.extension_day.is_some();
        let farthest = today(self.now_ms) + 180;
        let is_later = it.extension_day > operation.boleto_day && it.extension_day <= farthest;
        let was_reproved = matches!(
            operation.closed_by,
            Some(Deed::ReproveByCompany | Deed::ReproveByPlatform)
        );
        let in_range = it.net_cents > 0 && it.net_cents <= operation.net_limit_cents;
        match deed {
            Deed::Expire if !self.is_overdue(index) => Some("transition"),
            Deed::Reopen if !was_reproved => Some("transition"),
            Deed::Conclude | Deed::ReturnPayout | Deed::CreateExtension if is_open => {
                Some("transition")
            }
            Deed::Release if !in_range => Some("net amount"),
            Deed::CreateExtension if !is_later => Some("extension date"),
            Deed::CreateExtension if it.extension_cents == 0 => Some("extension total"),
            Deed::ConcludeExtension | Deed::CancelExtension
                if !is_open || !it.names_the_open_extension =>
            {
                Some("extension not open")
            }
            _ => None,
        }
    }
}
