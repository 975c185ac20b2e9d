//! `payment-order`: orders to pay suppliers.

use clap::{Args, Subcommand};
use preauth_core::value::{
    Cnpj, DueDate, Money, OperationId, PaymentOrderId, PaymentOrderStatus, Reason,
};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::if_version::IfVersion;
use crate::admin::once::Once;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::payment_orders::{NewPaymentOrder, PaymentOrderShape, Schedule};
use crate::http::platform::reason::NewReason;
use crate::labels;
use crate::language::{Text, texts};
use crate::printable::{printable, reais};
use crate::typed_amount;

use super::Run;

/// Commands on payment orders. Those that end one unpaid ask first.
#[derive(Debug, Subcommand)]
pub(crate) enum PaymentOrderCommand {
    /// Generate an order to pay a supplier.
    #[command(after_help = "Example:\n  preauth-server payment-order add \
                            --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 \
                            --amount 11900.00 --scheduled-for 2027-01-20 --operation 12")]
    Add(Order),
    /// List payment orders, the newest first.
    #[command(after_help = "Example:\n  preauth-server payment-order list --limit 50")]
    List {
        /// Filter by status.
        #[arg(long, value_parser = among(PaymentOrderStatus::ALL), ignore_case = true)]
        status: Option<PaymentOrderStatus>,
        /// Only those of this operation.
        #[arg(long, value_name = "ID", value_parser = OperationId::parse)]
        operation: Option<OperationId>,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a payment order.
    #[command(after_help = "Example:\n  preauth-server payment-order show 7")]
    Show {
        /// Id of the payment order.
        #[arg(value_parser = PaymentOrderId::parse)]
        order: PaymentOrderId,
    },
    /// Put an order under review.
    #[command(after_help = "Example:\n  preauth-server payment-order review 7")]
    Review(Plain),
    /// Schedule an order.
    #[command(after_help = "Example:\n  preauth-server payment-order schedule 7 \
                            --scheduled-for 2027-01-20")]
    Schedule {
        #[command(flatten)]
        on: Plain,
        /// When it is to be paid; by default as it stands.
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = DueDate::parse)]
        scheduled_for: Option<DueDate>,
    },
    /// The order was paid.
    #[command(after_help = "Example:\n  preauth-server payment-order pay 7")]
    Pay(Plain),
    /// Cancel an order. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server payment-order cancel 7 \
                            --reason 'Pedido em duplicidade'")]
    Cancel(Reasoned),
    /// Refuse an order. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server payment-order reprove 7 --yes")]
    Reprove(Reasoned),
}

/// Who is paid what, by whom.
#[derive(Debug, Args)]
pub(crate) struct Order {
    /// Id or CNPJ of the construction company.
    #[arg(long, value_name = "COMPANY", value_parser = CompanyRef::parse)]
    payer: CompanyRef,
    /// CNPJ of the supplier.
    #[arg(long, value_name = "CNPJ", value_parser = Cnpj::parse)]
    supplier: Cnpj,
    /// How much, in reais.
    #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
    amount: Money,
    /// When it is to be paid, if that is known.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = DueDate::parse)]
    scheduled_for: Option<DueDate>,
    /// Id of the operation it belongs to, if any.
    #[arg(long, value_name = "ID", value_parser = OperationId::parse)]
    operation: Option<OperationId>,
    #[command(flatten)]
    once: Once,
}

/// Which order.
#[derive(Debug, Args)]
pub(crate) struct Plain {
    /// Id of the payment order.
    #[arg(value_parser = PaymentOrderId::parse)]
    order: PaymentOrderId,
    #[command(flatten)]
    seen: IfVersion,
}

/// Which order, and why.
#[derive(Debug, Args)]
pub(crate) struct Reasoned {
    /// Id of the payment order.
    #[arg(value_parser = PaymentOrderId::parse)]
    order: PaymentOrderId,
    /// The reason that the company reads.
    #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
    reason: Option<Reason>,
    #[command(flatten)]
    seen: IfVersion,
}

const ORDER: View<PaymentOrderShape> = View::of(&[
    Field::new(labels::PAYMENT_ORDER, |it| it.id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::VERSION, |it| it.version.cell()),
    Field::new(labels::PAYER, |it| it.payer.name.cell()),
    Field::new(labels::PAYER_CNPJ, |it| it.payer.cnpj.cell()),
    Field::new(labels::SUPPLIER, |it| it.supplier.name.cell()),
    Field::new(labels::SUPPLIER_CNPJ, |it| it.supplier.cnpj.cell()),
    Field::new(labels::AMOUNT, |it| it.amount.cell()),
    Field::new(labels::SCHEDULED_FOR, |it| it.scheduled_for.cell()),
    Field::new(labels::OPERATION, |it| it.operation_id.cell()),
    Field::new(labels::CLOSED_BECAUSE, |it| it.reason.cell()),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
]);

const COLUMNS: &[Field<PaymentOrderShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::PAYER, |it| it.payer.name.cell()),
    Field::new(labels::SUPPLIER, |it| it.supplier.name.cell()),
    Field::new(labels::AMOUNT, |it| it.amount.cell()),
    Field::new(labels::SCHEDULED_FOR, |it| it.scheduled_for.cell()),
];

/// The verbs of the question.
const CANCEL: Text = Text::new("Cancel", "Cancelar");
const REPROVE: Text = Text::new("Reprove", "Reprovar");

texts! {
    question(verb: &str, order: PaymentOrderId, amount: &str, supplier: &str) {
        en: "{verb} payment order {order} ({amount} reais to {supplier})?",
        pt: "{verb} a ordem de pagamento {order} ({amount} reais para {supplier})?",
    }
}

impl Run for PaymentOrderCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Add(order) => order.add(session).await,
            Self::List {
                status,
                operation,
                paging,
            } => {
                let call = Call::get("payment-orders")
                    .query("status", status)
                    .query("operationId", operation);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { order } => session.show(Call::get(path(order)), &ORDER).await,
            Self::Review(on) => session.show(on.action("review"), &ORDER).await,
            Self::Schedule { on, scheduled_for } => {
                let body = Schedule { scheduled_for };
                session.show(on.action("schedule").body(body), &ORDER).await
            }
            Self::Pay(on) => session.show(on.action("pay"), &ORDER).await,
            Self::Cancel(on) => on.end(session, CANCEL, "cancel").await,
            Self::Reprove(on) => on.end(session, REPROVE, "reprove").await,
        }
    }
}

impl Order {
    async fn add(self, session: &Session) -> Result<(), Failure> {
        let payer = session.company(&self.payer).await?;
        let body = NewPaymentOrder {
            payer_company_id: payer,
            supplier_cnpj: self.supplier,
            amount: self.amount,
            scheduled_for: self.scheduled_for,
            operation_id: self.operation,
        };
        let call = self.once.post("payment-orders").body(body);
        session.show(call, &ORDER).await
    }
}

fn path(order: PaymentOrderId) -> String {
    format!("payment-orders/{order}")
}

impl Plain {
    fn action(&self, segment: &str) -> Call {
        let action = Call::post(format!("{}/{segment}", path(self.order)));
        self.seen.bind(action)
    }
}

impl Reasoned {
    async fn end(self, session: &Session, verb: Text, segment: &str) -> Result<(), Failure> {
        let question = |language, order: &PaymentOrderShape| {
            let supplier = printable(order.supplier.name.as_str());
            let verb = verb.of(language);
            question(language, verb, order.id, &reais(order.amount), &supplier)
        };
        let shown = session
            .confirm(Call::get(path(self.order)), question)
            .await?;
        let on = Plain {
            order: self.order,
            seen: self.seen.or(shown.map(|it| it.version)),
        };
        let body = NewReason {
            reason: self.reason,
        };
        session.show(on.action(segment).body(body), &ORDER).await
    }
}
