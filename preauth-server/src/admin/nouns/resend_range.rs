//! `delivery resend --company`: sends again what ended in a range of time, request after request.

use clap::Args;
use preauth_core::value::{EventType, Timestamp};

use crate::admin::Failure;
use crate::admin::arguments::{among, moment};
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::question::require_answerer;
use crate::admin::session::Session;
use crate::directory::EndedStatus;
use crate::http::platform::resend_range::{ResendRangeRequest, ResentRangeShape};
use crate::labels;
use crate::language::texts;

/// Which deliveries of a company to send again.
#[derive(Debug, Args)]
pub(crate) struct RangeArgs {
    /// Send again what ended of this head office, by its id or CNPJ; shows how many and asks first.
    #[arg(long, value_parser = CompanyRef::parse, requires = "since")]
    company: Option<CompanyRef>,
    /// Only events that happened at this moment, in UTC, or later.
    #[arg(long, value_name = "MOMENT", value_parser = moment, requires = "company")]
    since: Option<Timestamp>,
    /// Only events that happened before this moment; until now unless given.
    #[arg(long, value_name = "MOMENT", value_parser = moment, requires = "company")]
    until: Option<Timestamp>,
    /// Only events of these types.
    #[arg(long = "type", alias = "event", value_name = "TYPE", value_delimiter = ',', requires = "company",
          value_parser = among(EventType::ALL), hide_possible_values = true)]
    types: Vec<EventType>,
    /// Only deliveries that ended so; both unless given.
    #[arg(long, value_delimiter = ',', requires = "company",
          value_parser = among(EndedStatus::ALL), ignore_case = true)]
    status: Vec<EndedStatus>,
    /// Go on where an interrupted run ended: what it printed.
    #[arg(long, value_name = "PLACE", requires = "company")]
    after: Option<String>,
    /// Only show how many.
    #[arg(long, requires = "company")]
    dry_run: bool,
}

const COUNTED: View<ResentRangeShape> = View::of(&[
    Field::new(labels::TO_RESEND, |it| it.count.cell()),
    PAUSED,
    REMOVED,
]);
const RESENT: View<ResentRangeShape> = View::of(&[
    Field::new(labels::RESENT, |it| it.count.cell()),
    PAUSED,
    REMOVED,
]);
const PAUSED: Field<ResentRangeShape> =
    Field::new(labels::WAIT_FOR_ENDPOINT, |it| it.paused.cell());
const REMOVED: Field<ResentRangeShape> =
    Field::new(labels::OF_REMOVED_ENDPOINT, |it| it.endpoint_removed.cell());

texts! {
    resend(count: u64, paused: u64, removed: u64) {
        en: "Send {count} deliveries again, with the same event ids? {paused} of them wait until the endpoint is resumed; {removed} of removed endpoints are left out.",
        pt: "Reenviar {count} entregas, com os mesmos ids de evento? {paused} delas esperam até que o endpoint seja retomado; {removed} de endpoints removidos ficam de fora.",
    }
    so_far(count: u64, place: &str) {
        en: "{count} sent again so far; if this is interrupted, add --after {place} to the same command",
        pt: "{count} reenviadas até aqui; se isto for interrompido, acrescente --after {place} ao mesmo comando",
    }
}

impl RangeArgs {
    pub(super) async fn run(self, session: &Session) -> Result<(), Failure> {
        // The command line does not parse without them.
        let (Some(company), Some(since)) = (&self.company, self.since) else {
            return Ok(());
        };
        let company = session.company(company).await?;
        let path = format!("companies/{company}/deliveries/resend-range");
        let count = format!("{path}/count");
        let mut request = ResendRangeRequest {
            since,
            until: self.until,
            event_types: some(self.types),
            statuses: some(self.status),
            after: self.after,
        };
        if self.dry_run {
            let (found, _) = walk(session, &count, request, |_| Ok(())).await?;
            return session.show_part(&found, &COUNTED);
        }
        let mut first = None;
        if session.asks() {
            require_answerer()?;
            let (found, place) = walk(session, &count, request.clone(), |_| Ok(())).await?;
            first = place;
            if found.count == 0 {
                return session.show_part(&found, &RESENT);
            }
            let removed = found.endpoint_removed;
            session
                .confirm_found(|language| resend(language, found.count, found.paused, removed))?;
        }
        if request.after.is_none() {
            // From here on an interrupted or repeated run sends nothing twice.
            if first.is_none() {
                let call = Call::post(&count).body(&request);
                let counted: ResentRangeShape = session.ask(call).await?;
                first = counted.first;
            }
            request.after = first;
            if let Some(place) = &request.after {
                session.report(|language| so_far(language, 0, place))?;
            }
        }
        let progress = |total: &ResentRangeShape| {
            let Some(place) = &total.next else {
                return Ok(());
            };
            session.report(|language| so_far(language, total.count, place))
        };
        let (total, _) = walk(session, &path, request, progress).await?;
        session.show_part(&total, &RESENT)
    }
}

/// Sends the request until nothing is left; returns the sums, and of a count the place where a first request begins.
async fn walk(
    session: &Session,
    path: &str,
    mut request: ResendRangeRequest,
    progress: impl Fn(&ResentRangeShape) -> Result<(), Failure>,
) -> Result<(ResentRangeShape, Option<String>), Failure> {
    let mut first = None;
    let mut total = ResentRangeShape {
        count: 0,
        paused: 0,
        endpoint_removed: 0,
        next: None,
        first: None,
    };
    loop {
        let call = Call::post(path).body(&request);
        let answer: ResentRangeShape = session.ask(call).await?;
        first = first.or(answer.first);
        total = ResentRangeShape {
            count: total.count.saturating_add(answer.count),
            paused: total.paused.saturating_add(answer.paused),
            endpoint_removed: total
                .endpoint_removed
                .saturating_add(answer.endpoint_removed),
            next: answer.next,
            first: None,
        };
        progress(&total)?;
        if total.next.is_none() {
            return Ok((total, first));
        }
        request.after.clone_from(&total.next);
    }
}

fn some<T, S: FromIterator<T>>(members: Vec<T>) -> Option<S> {
    (!members.is_empty()).then(|| members.into_iter().collect())
}
