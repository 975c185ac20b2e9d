//! Runs a script through the service and the model side by side.

use std::collections::BTreeSet;

use crate::conformance::Host;
use crate::conformance::scene::{Scene, cents};

use crate::operation::{Actor, Command, Credit, KnownSupplier};
use crate::port::{OfferTarget, Viewer};
use crate::value::{
    Cnpj, CompanyId, CompanyKind, Email, ExtensionId, IdempotencyKey, OperationId, Timestamp,
};

use super::reference::{Model, Outcome, today};
use super::step::{ADVANCE_CENTS, CREDIT_CENTS, CREDIT_DAYS, Pass, Step};
use super::table::Deed;

/// Compares a host with the model: after every step both must give the same answer and show the same
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
pub(super) struct Run<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) model: Model,
    /// By the model's index: the real id, and the answer to the creation.
    pub(super) ids: Vec<(OperationId, String)>,
    pub(super) extensions: Vec<Option<ExtensionId>>,
    pub(super) other_payer: CompanyId,
    pub(super) email: Email,
    pub(super) keys: [IdempotencyKey; 2],
    pub(super) new_cnpj: Cnpj,
    pub(super) blocked_cnpj: Cnpj,
    /// The tax id of a branch of the payer.
    pub(super) payer_cnpj: Cnpj,
    /// Another tax id of the same legal entity.
    pub(super) payers_entity_cnpj: Cnpj,
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
            blocked_cnpj: scene.unregistered_branch_of(blocked_cnpj),
            payer_cnpj: branch.cnpj,
            payers_entity_cnpj: scene.unregistered_branch_of(branch.cnpj),
            scene,
            model,
            ids: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// Executes a step on both sides; returns the expected outcome and the actual one.
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
                let found = service.advance_directly(&sent, Actor::Supplier, None, self.scene.now);
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
            Step::Register => {
                self.register().await;
                (Outcome::Unchanged, Outcome::Unchanged)
            }
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

    async fn register(&mut self) {
        let store = self.scene.host.store();
        let target = OfferTarget {
            payer: self.scene.payer,
            supplier: self.new_cnpj,
            invoice_number: None,
            idempotency_key: None,
        };
        let known = store
            .load_offer(&target)
            .await
            .unwrap()
            .unwrap()
            .context
            .supplier;
        let id = match known {
            KnownSupplier::Unknown | KnownSupplier::Registered(_) => return,
            KnownSupplier::InvitedByOthers(id) => id,
            KnownSupplier::Invited(party) => party.company,
        };
        let mut company = self.scene.company(id, None, CompanyKind::Supplier);
        company.cnpj = self.new_cnpj;
        self.scene.host.add_company(company).await;
        self.model.new_supplier_is_registered = true;
    }

    async fn sweep(&mut self) -> (Outcome, Outcome) {
        let (store, now) = (self.scene.host.store(), self.scene.now);
        let loaded = store.load_overdue(now, 1_000_000).await.unwrap();
        let named: BTreeSet<_> = loaded.iter().map(|it| it.operation.id).collect();
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
}
