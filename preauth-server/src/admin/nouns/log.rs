//! `log`: what operators did.

use clap::Subcommand;
use preauth_core::value::{OperatorName, Timestamp};

use crate::admin::Failure;
use crate::admin::arguments::moment;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::audit_log::{AuditEntryShape, ChangeShape};
use crate::labels;

use super::Run;

/// Commands on the audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// List what operators did, and what their role did not permit, the newest first.
    #[command(
        after_help = "Example:\n  preauth-server log list --operator 'Ana Souza' --record operations/42"
    )]
    List {
        /// Only of the operator with this name.
        #[arg(long, value_name = "NAME", value_parser = OperatorName::parse)]
        operator: Option<OperatorName>,
        /// Only this action, by its name in the description of the platform API.
        #[arg(long)]
        action: Option<String>,
        /// Only about this record, as the platform API's paths name it.
        #[arg(long, value_name = "KIND/ID")]
        record: Option<String>,
        /// Only on behalf of this company: its id or CNPJ.
        #[arg(long, value_parser = CompanyRef::parse)]
        company: Option<CompanyRef>,
        /// Only from this moment on, in UTC.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        from: Option<Timestamp>,
        /// Only before this moment, in UTC.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        until: Option<Timestamp>,
        #[command(flatten)]
        paging: Paging,
    },
}

const COLUMNS: &[Field<AuditEntryShape>] = &[
    Field::new(labels::AT, |it| it.at.cell()),
    Field::new(labels::OPERATOR, |it| it.operator.name.cell()),
    Field::new(labels::ROLE, |it| it.role.cell()),
    Field::new(labels::ACTION, |it| it.action.cell()),
    Field::new(labels::OUTCOME, |it| it.outcome.cell()),
    Field::new(labels::RECORD, |it| it.record.cell()),
    Field::new(labels::COMPANY, |it| it.company_id.cell()),
    Field::new(labels::ADDRESS, |it| it.operator.address.cell()),
    Field::new(labels::CHANGES, |it| {
        it.changes.iter().map(shown).collect::<Vec<_>>().cell()
    }),
];

fn shown(change: &ChangeShape) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let (before, after) = (value(&change.before), value(&change.after));
    format!("{}: {before} -> {after}", change.setting)
}

impl Run for LogCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let Self::List {
            operator,
            action,
            record,
            company,
            from,
            until,
            paging,
        } = self;
        let company = match company {
            Some(company) => Some(session.company(&company).await?),
            None => None,
        };
        let call = Call::get("audit-log")
            .query("operator", operator)
            .query("action", action)
            .query("record", record)
            .query("companyId", company)
            .query("from", from)
            .query("until", until);
        session.list(call, &paging, COLUMNS).await
    }
}
