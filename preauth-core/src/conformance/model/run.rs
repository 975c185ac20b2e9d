//! Runs a script through the service and the model side by side.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta};

use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents};
use crate::memory::CompanyKind;
use crate::operation::{
    Action, Actor, Command, Credit, DirectAdvance, Invoice, InvoiceAmounts, Offer, Operation,
    Rejection, ReprovedBy, State,
};
use crate::port::{Filter, PageRequest, Viewer};
use crate::service::{Offered, ServiceError};
use crate::value::{
    Cnpj, CompanyId, ContactName, DueDate, Email, ExtensionId, IdempotencyKey, InvoiceNumber,
    OperationId, SupplierName, Timestamp,
};

use super::reference::{Arguments, Model, Outcome, today};
use super::step::{CREDIT_CENTS, CREDIT_DAYS, OfferStep, Pass, Payer, Step, Supplier};
use super::table::Deed;

const ADVANCE_CENTS: i64 = 900_000;
const WITHHELD_CENTS: i64 = 0;

/// Holds a host to the model: after every step both give the same answer and show the same
/// operations.
///
/// Panics with the script's step at the first difference.
pub async fn model_run(host: &dyn Host, script: &[u64]) {
    let mut run = Run::new(host).await;
    for (number, spelling) in script.iter().enumerate() {
        let step = Step::spelled_by(*spelling);
        let (expected, found) = run.step(step).await;
        assert_eq!(found, expected, "step {number}, {step:?}, of {script:?}");
        run.compare_lists(number).await;
    }
    run.compare_operations().await;
}

/// The two sides of a run.
struct Run<'a> {
    scene: Scene<'a>,
    model: Model,
    /// By the model's index: the real id, and the answer to the creation.
    ids: Vec<(OperationId, String)>,
    extensions: Vec<Option<ExtensionId>>,
    other_payer: CompanyId,
    email: Email,
    keys: [IdempotencyKey; 2],
    new_cnpj: Cnpj,
    blocked_cnpj: Cnpj,
    payer_cnpj: Cnpj,
}

impl<'a> Run<'a> {
    async fn new(host: &'a dyn Host) -> Run<'a> {
        let scene = Scene::new(host).await;
        let credit = Credit {
            max_term_days: u32::try_from(CREDIT_DAYS).unwrap(),
            max_invoice_amount: cents(CREDIT_CENTS),
        };
        host.set_credit(scene.payer, credit).await;
        let id = scene.new_company_id();
        let branch = scene.company(id, Some(scene.payer), CompanyKind::Construction);
        host.add_company(branch.clone()).await;
        let blocked_cnpj = scene.new_cnpj();
        host.block_supplier(scene.payer, blocked_cnpj).await;
        let model = Model::at(scene.now.unix_millis());
        Run {
            other_payer: scene.another_payer().await,
            email: scene.new_email(),
            keys: [scene.new_key(), scene.new_key()],
            new_cnpj: scene.new_cnpj(),
            blocked_cnpj,
            payer_cnpj: branch.cnpj,
            scene,
            model,
            ids: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// What the model expects and what was found.
    async fn step(&mut self, step: Step) -> (Outcome, Outcome) {
        match step {
            Step::Offer(offer) => {
                let sent = self.offer(offer);
                let key = offer.key.map(|key| &self.keys[usize::from(key == 1)]);
                let service = &self.scene.service;
                let found = service.offer(&sent, Actor::Company, key, self.scene.now);
                let found = found.await;
                (self.model.offer(offer), self.outcome_of_beginning(found))
            }
            Step::Advance {
                payer,
                supplier,
                number,
            } => {
                let due_day = today(self.model.now_ms) + 60;
                let sent = self.advance(payer, supplier, number, due_day);
                let service = &self.scene.service;
                let found = service.advance_directly(&sent, Actor::Supplier, self.scene.now);
                let found = found.await;
                let model = &mut self.model;
                let expected = model.advance(payer, supplier, number, ADVANCE_CENTS, due_day);
                (expected, self.outcome_of_beginning(found))
            }
            Step::Do {
                index,
                deed,
                spelling,
            } => self.act(index, deed, spelling).await,
            Step::Pass(pass) => {
                self.pass(pass);
                (Outcome::Unchanged, Outcome::Unchanged)
            }
            Step::Sweep => self.sweep().await,
        }
    }

    async fn act(&mut self, index: u64, deed: Deed, spelling: u64) -> (Outcome, Outcome) {
        let Some(index) = index.checked_rem(u64::try_from(self.ids.len()).unwrap()) else {
            return (Outcome::Unchanged, Outcome::Unchanged);
        };
        let index = usize::try_from(index).unwrap();
        let (command, arguments) = self.command(index, deed, spelling);
        let (service, now) = (&self.scene.service, self.scene.now);
        let id = self.ids[index].0;
        let found = service
            .command(Viewer::Platform, id, &command, Actor::Platform, now)
            .await;
        let found = match found {
            Ok(commanded) => match commanded.event {
                Some(event) => Outcome::Changed(event),
                None => Outcome::Unchanged,
            },
            Err(error) => self.refusal(&error),
        };
        let expected = self.model.act(index, deed, arguments);
        if let (Command::CreateExtension { id, .. }, Outcome::Changed(_)) = (&command, &found) {
            self.extensions[index] = Some(*id);
        }
        (expected, found)
    }

    async fn sweep(&mut self) -> (Outcome, Outcome) {
        let (queries, now) = (self.scene.host.queries(), self.scene.now);
        let named = queries.overdue(now, 1_000_000).await.unwrap();
        let own = self.ids.iter().enumerate();
        let found: BTreeSet<usize> = own
            .filter(|(_, (id, _))| named.contains(id))
            .map(|(index, _)| index)
            .collect();
        assert_eq!(found, self.model.overdue());
        for index in found {
            let recorded = self.scene.service.expire(self.ids[index].0, now).await;
            assert!(recorded.unwrap());
            self.model.expire(index);
        }
        (Outcome::Unchanged, Outcome::Unchanged)
    }

    fn pass(&mut self, pass: Pass) {
        let now = self.model.now_ms;
        let until = match pass {
            Pass::Millis(millis) => now + millis,
            Pass::ToNextExpiry => self.model.next_expiry().unwrap_or(now),
            Pass::PastNextExpiry => self.model.next_expiry().map_or(now, |end| end + 1),
        };
        self.model.now_ms = until;
        self.scene.now = Timestamp::from_unix_millis(until).unwrap();
    }

    fn offer(&self, step: OfferStep) -> Offer {
        let number = format!("NF-{}", step.number);
        let mut offer = self.scene.offer_of(&number);
        let is_named = matches!(step.supplier, Supplier::New | Supplier::Blocked);
        offer.payer = self.payer(step.payer);
        offer.supplier.cnpj = self.cnpj(step.supplier);
        offer.supplier.email = self.email.clone();
        if is_named {
            offer.supplier.name = Some(SupplierName::parse("Fornecedora").unwrap());
            offer.supplier.contact_name = Some(ContactName::parse("Contato").unwrap());
        }
        let due_day = today(self.model.now_ms) + step.days_ahead;
        offer.invoice = invoice(step.cents, due_day, Some(&number));
        offer
    }

    fn advance(
        &self,
        payer: Payer,
        supplier: Supplier,
        number: Option<u64>,
        due_day: i64,
    ) -> DirectAdvance {
        let number = number.map(|number| format!("NF-{number}"));
        DirectAdvance {
            payer: self.payer(payer),
            supplier: self.cnpj(supplier),
            invoice: invoice(ADVANCE_CENTS, due_day, number.as_deref()),
            external_reference: None,
        }
    }

    fn payer(&self, payer: Payer) -> CompanyId {
        match payer {
            Payer::Head => self.scene.payer,
            Payer::Branch => self.scene.branch,
            Payer::Other => self.other_payer,
        }
    }

    fn cnpj(&self, supplier: Supplier) -> Cnpj {
        match supplier {
            Supplier::Registered => self.scene.supplier.cnpj,
            Supplier::New | Supplier::Unnamed => self.new_cnpj,
            Supplier::Blocked => self.blocked_cnpj,
            Supplier::Payer => self.payer_cnpj,
        }
    }

    fn command(&self, index: usize, deed: Deed, spelling: u64) -> (Command, Arguments) {
        let boleto_day = self.model.operations[index].boleto_day;
        let today = today(self.model.now_ms);
        let is_good = spelling < 4;
        let net = if is_good {
            45_000
        } else {
            [0, CREDIT_CENTS + 2][usize::from(spelling == 5)]
        };
        let extension_day = match spelling {
            4 => boleto_day,
            5 => today + 181,
            _ => boleto_day + 1,
        };
        let arguments = Arguments {
            net_cents: net,
            extension_day,
            extension_cents: i64::from(spelling != 3),
            names_the_open_extension: is_good,
        };
        let reason = None;
        let reprove = |by| Command::Reprove { by, reason: None };
        // A good spelling names the extension created last; without one, any id is wrong.
        let named = self.extensions[index].filter(|_| is_good);
        let id = named.unwrap_or_else(|| self.scene.new_extension_id());
        let command = match deed {
            Deed::Request => Command::Request,
            Deed::Decline => Command::Decline { reason },
            Deed::Cancel => Command::Cancel,
            Deed::Withdraw => Command::Withdraw { reason },
            Deed::Expire => Command::Expire,
            Deed::Verify => Command::Verify,
            Deed::Approve => Command::Approve,
            Deed::Release => Command::Release {
                net_amount: cents(net),
            },
            Deed::Pay => Command::Pay,
            Deed::ReturnPayout => Command::ReturnPayout,
            Deed::Bill => Command::Bill,
            Deed::Conclude => Command::Conclude,
            Deed::ReproveByCompany => reprove(ReprovedBy::Company),
            Deed::ReproveByPlatform => reprove(ReprovedBy::Platform),
            Deed::Reopen => Command::Reopen,
            Deed::CreateExtension => Command::CreateExtension {
                id: self.scene.new_extension_id(),
                new_due_date: day(extension_day),
                total_amount: cents(arguments.extension_cents),
            },
            Deed::ConcludeExtension => Command::ConcludeExtension { id },
            Deed::CancelExtension => Command::CancelExtension { id },
        };
        (command, arguments)
    }

    fn outcome_of_beginning(&mut self, found: Result<Offered, ServiceError>) -> Outcome {
        match found {
            Ok(Offered::Created { operation, body }) => {
                self.ids.push((operation.id, body));
                self.extensions.push(None);
                Outcome::Created
            }
            Ok(Offered::Replayed { body }) => {
                let original = self.ids.iter().position(|(_, original)| *original == body);
                Outcome::Replayed(original.unwrap())
            }
            Err(error) => self.refusal(&error),
        }
    }

    fn refusal(&self, error: &ServiceError) -> Outcome {
        let rejection = match error {
            ServiceError::IdempotencyKeyReused => return Outcome::KeyReused,
            ServiceError::Rejected(rejection) => *rejection,
            other => panic!("{other:?}"),
        };
        Outcome::Refused(match rejection {
            Rejection::DuplicateInvoice { existing } => {
                let index = self.ids.iter().position(|(id, _)| *id == existing);
                return Outcome::Duplicate(index.unwrap());
            }
            Rejection::DueDateTooNear => "due date too near",
            Rejection::DueDateTooFar => "due date too far",
            Rejection::SupplierIsSelf => "self",
            Rejection::SupplierBlocked => "blocked",
            Rejection::SupplierNameRequired => "name required",
            Rejection::CreditTermExceeded => "credit term",
            Rejection::CreditAmountExceeded => "credit amount",
            Rejection::NotFound => "not found",
            Rejection::AlreadyRequested => "already requested",
            Rejection::AlreadyClosed => "already closed",
            Rejection::InvalidTransition { .. } => "transition",
            Rejection::NetAmountOutOfRange => "net amount",
            Rejection::ExtensionDueDateOutOfRange => "extension date",
            Rejection::ExtensionTotalOutOfRange => "extension total",
            Rejection::ExtensionNotOpen => "extension not open",
        })
    }

    /// Both groups' lists show the same operations in the same statuses, newest first.
    async fn compare_lists(&self, step: usize) {
        let viewers = [
            (Viewer::HeadOffice(self.scene.payer), false),
            (Viewer::HeadOffice(self.other_payer), true),
        ];
        for (viewer, is_other) in viewers {
            let page = PageRequest {
                page: 1,
                limit: 100,
            };
            let queries = self.scene.host.queries();
            let found = queries
                .list(viewer, &Filter::default(), page)
                .await
                .unwrap();
            let modelled = self.model.operations.iter().zip(&self.ids);
            let mut expected: Vec<_> = modelled
                .filter(|(it, _)| (it.payer == Payer::Other) == is_other)
                .map(|(it, (id, _))| (*id, it.status))
                .collect();
            expected.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
            assert_eq!(found.total, u64::try_from(expected.len()).unwrap());
            expected.truncate(100);
            let found: Vec<_> = found
                .operations
                .iter()
                .map(|it| (it.id, it.status()))
                .collect();
            assert_eq!(found, expected, "after step {step}");
        }
    }

    /// Every operation is what the model says, with its events.
    async fn compare_operations(&self) {
        for (expected, (id, _)) in self.model.operations.iter().zip(&self.ids) {
            let found = self.scene.stored(*id).await;
            let history = self.scene.history(*id).await;
            let events: Vec<_> = history.iter().map(|entry| entry.event_type).collect();
            assert_eq!(events, expected.events, "{found:?}");
            assert_eq!(found.version.get(), i64::try_from(events.len()).unwrap());
            assert_eq!(found.status(), expected.status);
            assert_eq!(
                found.net_amount.map(crate::value::Money::cents),
                expected.net_cents
            );
            assert_eq!(
                found.expires_at.map(Timestamp::unix_millis),
                expected.expires_ms
            );
            let closed_by = found.closing().map(|closing| closing.action);
            assert_eq!(closed_by, expected.closed_by.map(action_of));
            compare_boleto(&found, expected.boleto_day, expected.extension_day);
        }
    }
}

fn compare_boleto(found: &Operation, boleto_day: i64, extension_day: Option<i64>) {
    if let State::ToReceive {
        boleto_due_date,
        extension,
    } = &found.state
    {
        assert_eq!(*boleto_due_date, day(boleto_day));
        assert_eq!(extension.map(|it| it.new_due_date), extension_day.map(day));
    }
}

fn action_of(deed: Deed) -> Action {
    match deed {
        Deed::Decline => Action::Decline,
        Deed::Cancel => Action::Cancel,
        Deed::Withdraw => Action::Withdraw,
        Deed::Expire => Action::Expire,
        Deed::ReproveByCompany => Action::ReproveByCompany,
        Deed::ReproveByPlatform => Action::ReproveByPlatform,
        other => panic!("{other:?} closes nothing"),
    }
}

fn invoice(amount: i64, due_day: i64, number: Option<&str>) -> Invoice {
    Invoice {
        amounts: InvoiceAmounts::from_cents(cents(amount), cents(WITHHELD_CENTS)).unwrap(),
        due_date: day(due_day),
        number: number.map(|number| InvoiceNumber::parse(number).unwrap()),
    }
}

fn day(days_since_1970: i64) -> DueDate {
    let epoch: NaiveDate = DateTime::UNIX_EPOCH.date_naive();
    DueDate::from_date(epoch + TimeDelta::days(days_since_1970)).unwrap()
}
