//! Executes commands by the same use cases as the platform API, and returns their result as text.

use std::sync::Arc;

use preauth_core::delivery::recipients;
use preauth_core::operation::{
    Action, Command, DirectAdvance, Invoice, Operation, Party, Rejection, State,
};
use preauth_core::port::{Filter, PageRequest, Queries, Subscription, Viewer};
use preauth_core::service::{CommandOutcome, OfferOutcome, Operations, ServiceError};
use preauth_core::value::{Cnpj, EventType, OperationId, calendar};

use crate::clock::Clock;
use crate::clock::TimeMachine;
use crate::directory::{Directory, Endpoint};
use crate::language::Language;
use crate::log;
use crate::sandbox::seed::{HEAD_OFFICE_CNPJ, SUPPLIER_CNPJ};
use crate::sandbox::words;

use super::commands::{possible, statuses_for};
use super::refused::Refused;
use super::summary::summary;
use super::terminal_command::{ExtensionEnd, NewExtension};

/// Maximum number of operations in a list.
const LISTED: u32 = 20;

/// Plays every party except the ERP: supplier, company, platform, bank and time.
pub struct Player {
    /// The use cases of operations.
    pub operations: Arc<Operations>,
    /// The read side of operations.
    pub queries: Arc<dyn Queries>,
    /// Companies, their endpoints, and ids of extensions.
    pub directory: Arc<dyn Directory>,
    /// Moves the clock.
    pub time_machine: Arc<TimeMachine>,
    /// The language of the answers.
    pub language: Language,
}

type Answer = Result<String, Refused>;

impl Player {
    /// The current time, in UTC and in São Paulo, whose calendar days decide on due dates.
    pub(super) fn now(&self) -> String {
        let clock = self.time_machine.clock();
        let now = clock.now();
        let ahead_days = clock.ahead().num_days();
        words::now(self.language, now, calendar::today(now), ahead_days)
    }

    /// Moves the clock forward; the story shows the consequences.
    pub(super) async fn advance(&self, by_seconds: u64) -> Answer {
        let machine = Arc::clone(&self.time_machine);
        let advanced = tokio::task::spawn_blocking(move || machine.advance(by_seconds)).await;
        advanced.map_err(|error| Refused::from(ServiceError::NotDone(error.into())))??;
        Ok(self.now())
    }

    pub(super) async fn list(&self) -> Answer {
        let newest = PageRequest {
            page: 1,
            limit: LISTED,
        };
        let everything = Filter::default();
        let found = self.queries.list(Viewer::Platform, &everything, newest);
        let found = found.await?;
        if found.operations.is_empty() {
            return Ok(words::NO_OPERATION_YET.of(self.language).to_owned());
        }
        let operations = found.operations.iter();
        let lines: Vec<_> = operations.map(|it| summary(it, self.language)).collect();
        Ok(lines.join("\n"))
    }

    pub(super) async fn show(&self, id: OperationId) -> Answer {
        let found = self.find(id).await?;
        let possible = words::possible_now(self.language, &possible(&found, self.language));
        Ok(format!("{}\n{possible}", summary(&found, self.language)))
    }

    /// Executes the command as the actor in the transition table.
    pub(super) async fn act(&self, id: OperationId, command: &Command) -> Answer {
        let before = self.find(id).await?.status();
        let (actor, now) = (command.platform_actor(), self.time_machine.clock().now());
        let done = self
            .operations
            .command(Viewer::Platform, id, command, actor, now)
            .await;
        let done = match done {
            Ok(done) => done,
            Err(refused) => return Err(self.why(id, command.action(), refused).await),
        };
        log::moved(&done, None);
        let CommandOutcome {
            operation: after,
            event,
        } = done;
        let Some(event) = event else {
            return Ok(words::unchanged(self.language, id, after.status()));
        };
        let changed = words::changed(self.language, id, before, after.status());
        let receivers = self.receivers(&after, event).await?;
        Ok(format!("{changed}, {event} {receivers}"))
    }

    pub(super) async fn extend(&self, id: OperationId, extension: NewExtension) -> Answer {
        let command = Command::CreateExtension {
            id: self.directory.reserve_extension().await?,
            new_due_date: extension.new_due_date,
            total_amount: extension.total_amount,
        };
        self.act(id, &command).await
    }

    pub(super) async fn end_extension(&self, operation: OperationId, end: ExtensionEnd) -> Answer {
        let found = self.find(operation).await?;
        let State::ToReceive {
            extension: Some(open),
            ..
        } = &found.state
        else {
            return Err(Refused::NoExtension(operation));
        };
        let id = open.id;
        let command = match end {
            ExtensionEnd::Concluded => Command::ConcludeExtension { id },
            ExtensionEnd::Cancelled => Command::CancelExtension { id },
        };
        self.act(operation, &command).await
    }

    /// The demo supplier advances an invoice of the demo company.
    pub(super) async fn advance_directly(&self, invoice: Invoice) -> Answer {
        let [payer, supplier] = [HEAD_OFFICE_CNPJ, SUPPLIER_CNPJ].map(Cnpj::parse);
        let (Ok(payer), Ok(supplier)) = (payer, supplier) else {
            return Err(Refused::NoDemoCompany);
        };
        let payer = self.directory.company_by_cnpj(&payer).await?;
        let advance = DirectAdvance {
            payer: payer.ok_or(Refused::NoDemoCompany)?.id,
            supplier,
            invoice,
            external_reference: None,
        };
        let actor = preauth_core::operation::Actor::Supplier;
        let now = self.time_machine.clock().now();
        let offered = self
            .operations
            .advance_directly(&advance, actor, None, now)
            .await;
        let OfferOutcome::Created {
            operation: created, ..
        } = offered.map_err(Refused::from)?
        else {
            return Ok(String::new());
        };
        log::began(&created, None);
        let event = Action::AdvanceDirectly.transition().event;
        let receivers = self.receivers(&created, event).await?;
        let created = words::is(self.language, created.id, created.status().as_str());
        Ok(format!("{created}, {event} {receivers}"))
    }

    async fn find(&self, id: OperationId) -> Result<Operation, Refused> {
        let found = self.queries.find(Viewer::Platform, id).await?;
        found.ok_or(Refused::NoSuchOperation(id))
    }

    /// The reason for a refused action, for the user.
    async fn why(&self, id: OperationId, action: Action, refused: ServiceError) -> Refused {
        let ServiceError::Rejected(Rejection::InvalidTransition { .. }) = refused else {
            return refused.into();
        };
        match self.find(id).await {
            Ok(found) => Refused::NotNow {
                id,
                status: found.status(),
                wanted: statuses_for(action, self.language),
                possible: possible(&found, self.language),
            },
            Err(refused) => refused,
        }
    }

    /// The receivers of an event.
    async fn receivers(&self, operation: &Operation, event: EventType) -> Result<String, Refused> {
        let mut endpoints = Vec::new();
        for party in [&operation.payer, &operation.supplier] {
            if let Some(endpoint) = self.directory.endpoint(party.head_office).await? {
                endpoints.push((party, endpoint));
            }
        }
        let subscriptions: Vec<_> = endpoints.iter().map(|(_, it)| subscription(it)).collect();
        let payer = operation.payer.head_office;
        let hearing = recipients(event, payer, &subscriptions);
        let named: Vec<_> = endpoints
            .iter()
            .filter(|(_, it)| hearing.iter().any(|each| each.endpoint == it.id))
            .map(|(party, endpoint)| receiver(party, endpoint, self.language))
            .collect();
        Ok(match named.as_slice() {
            [] => words::NO_RECEIVER.of(self.language).to_owned(),
            named => {
                let named = named.join(words::AND.of(self.language));
                words::goes_to(self.language, &named)
            }
        })
    }
}

fn subscription(endpoint: &Endpoint) -> Subscription {
    Subscription {
        endpoint: endpoint.id,
        head_office: endpoint.company,
        events: endpoint.events,
    }
}

fn receiver(party: &Party, endpoint: &Endpoint, language: Language) -> String {
    let paused = match endpoint.paused_at {
        Some(_) => words::PAUSED.of(language),
        None => "",
    };
    words::receiver(language, party.name.as_str(), &endpoint.url, paused)
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player")
            .field("time_machine", &self.time_machine)
            .finish_non_exhaustive()
    }
}
