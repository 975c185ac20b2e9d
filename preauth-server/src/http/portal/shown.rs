//! An operation as its supplier reads it.

use preauth_core::operation::{Action, Closing, Operation, State};
use preauth_core::value::{Timestamp, calendar, is_hidden};

use crate::http::pages::words::Words;

/// What a page shows of an operation, in the reader's language.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) operation: String,
    pub(super) headline: &'static str,
    pub(super) explanation: String,
    /// Whether the supplier may answer.
    pub(super) is_open: bool,
    pub(super) facts: Vec<Fact>,
    /// The way to the payment; none when the operation was closed.
    pub(super) steps: Vec<Step>,
}

/// A name and a value.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// Whether it is shown again when the answer is confirmed.
    pub(super) is_important: bool,
}

/// A step on the way to the payment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) label: &'static str,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Done,
    Current,
    Coming,
}

impl Step {
    pub(super) const fn class(self) -> &'static str {
        match self.progress {
            Progress::Done => "done",
            Progress::Current => "current",
            Progress::Coming => "coming",
        }
    }

    pub(super) const fn is_current(self) -> bool {
        matches!(self.progress, Progress::Current)
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    pub(super) const fn state(self, words: &Words) -> &'static str {
        match self.progress {
            Progress::Done => words.t("done", "concluído"),
            Progress::Current => words.t("current step", "etapa atual"),
            Progress::Coming => words.t("coming", "próxima etapa"),
        }
    }
}

impl Shown {
    pub(super) fn of(operation: &Operation, words: Words, now: Timestamp) -> Self {
        let payer = visible(operation.payer.name.as_str());
        let is_overdue = operation.is_overdue(now);
        let (headline, explanation) = match &operation.state {
            State::InPreAuth if is_overdue => expired(operation, words),
            State::InPreAuth => open(operation, words, &payer),
            State::Reproved(closing) => closed(operation, closing, words, &payer),
            _ => under_way(operation, words, &payer),
        };
        Self {
            operation: operation.id.to_string(),
            headline,
            explanation,
            is_open: matches!(operation.state, State::InPreAuth) && !is_overdue,
            facts: facts(operation, words, &payer),
            steps: steps(operation, words, is_overdue),
        }
    }
}

/// `31/12/2026 às 23:59 (horário de Brasília)`.
fn moment(at: Timestamp, words: Words) -> String {
    let format = words.t(
        "%Y-%m-%d, %H:%M (Brasília time)",
        "%d/%m/%Y às %H:%M (horário de Brasília)",
    );
    calendar::local_time(at).format(format).to_string()
}

/// A text without characters that do not show, which earlier builds accepted.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|it| !is_hidden(*it)).collect()
}

fn open(operation: &Operation, words: Words, payer: &str) -> (&'static str, String) {
    let until = operation
        .expires_at
        .map(|at| moment(at, words))
        .unwrap_or_default();
    let due = words.due(operation.invoice.due_date);
    let explanation = match words.t("en", "pt") {
        "en" => format!(
            "{payer} offers to pay this invoice before it is due. You may request that until {until}. You need not: \
             without an answer the invoice is paid on {due} as agreed."
        ),
        _ => format!(
            "{payer} oferece pagar esta nota fiscal antes do vencimento. Você pode solicitar até {until}. A oferta \
             não obriga a nada: sem resposta, a nota continua com vencimento em {due}."
        ),
    };
    (
        words.t("Offer of an advance payment", "Oferta de antecipação"),
        explanation,
    )
}

fn expired(operation: &Operation, words: Words) -> (&'static str, String) {
    let at = operation
        .expires_at
        .map(|at| moment(at, words))
        .unwrap_or_default();
    let explanation = match words.t("en", "pt") {
        "en" => format!("It was open until {at}. The invoice stays due as agreed."),
        _ => format!("Ela valia até {at}. A nota continua com o vencimento combinado."),
    };
    (
        words.t("This offer has expired", "Esta oferta expirou"),
        explanation,
    )
}

fn closed(
    operation: &Operation,
    closing: &Closing,
    words: Words,
    payer: &str,
) -> (&'static str, String) {
    let is_english = words.t("en", "pt") == "en";
    let due = words.due(operation.invoice.due_date);
    let stays = if is_english {
        format!("The invoice stays due on {due}.")
    } else {
        format!("A nota continua com vencimento em {due}.")
    };
    let (headline, what) = match closing.action {
        Action::Expire => return expired(operation, words),
        Action::Decline => (
            words.t("You declined this offer", "Você recusou esta oferta"),
            words
                .t("Your answer was recorded.", "Sua resposta foi registrada.")
                .to_owned(),
        ),
        Action::Cancel | Action::Withdraw => (
            words.t("This offer was canceled", "Esta oferta foi cancelada"),
            if is_english {
                format!("{payer} took it back.")
            } else {
                format!("{payer} cancelou a oferta.")
            },
        ),
        Action::ReproveByCompany => (
            words.t("The request was not approved", "O pedido não foi aprovado"),
            if is_english {
                format!("{payer} did not approve it.")
            } else {
                format!("{payer} não aprovou a antecipação.")
            },
        ),
        _ => (
            words.t("The request was not approved", "O pedido não foi aprovado"),
            words
                .t(
                    "The analysis did not approve it.",
                    "A análise não aprovou a antecipação.",
                )
                .to_owned(),
        ),
    };
    (headline, format!("{what} {stays}"))
}

fn under_way(operation: &Operation, words: Words, payer: &str) -> (&'static str, String) {
    let is_english = words.t("en", "pt") == "en";
    match operation.state {
        State::InVerification | State::ToApprove => (
            words.t("You requested the advance", "Antecipação solicitada"),
            if is_english {
                format!("{payer} now approves it or not. There is nothing more for you to do.")
            } else {
                format!("Agora {payer} aprova ou recusa o pedido. Você não precisa fazer mais nada.")
            },
        ),
        State::InAnalysis => (
            words.t("Being analysed", "Em análise"),
            if is_english {
                format!("{payer} approved your request. The platform analyses it before it is paid.")
            } else {
                format!("{payer} aprovou o seu pedido. A plataforma faz a análise antes do pagamento.")
            },
        ),
        State::ToPay => (
            words.t("Approved, about to be paid", "Aprovada, aguardando pagamento"),
            words
                .t(
                    "The amount below is about to be paid to your company.",
                    "O valor líquido abaixo será pago à sua empresa.",
                )
                .to_owned(),
        ),
        _ => (
            words.t("Advance paid", "Antecipação paga"),
            words
                .t(
                    "The amount below was paid to your company. There is nothing more for you to do.",
                    "O valor líquido abaixo foi pago à sua empresa. Você não precisa fazer mais nada.",
                )
                .to_owned(),
        ),
    }
}

fn facts(operation: &Operation, words: Words, payer: &str) -> Vec<Fact> {
    let amounts = operation.invoice.amounts;
    let fact = |name, value| Fact {
        name,
        value,
        is_important: false,
    };
    let important = |name, value| Fact {
        is_important: true,
        ..fact(name, value)
    };
    let mut facts = vec![important(
        words.t("Company that pays", "Empresa pagadora"),
        format!("{payer}\n{}", operation.payer.cnpj.masked()),
    )];
    let supplier = visible(operation.supplier.name.as_str());
    facts.push(fact(
        words.t("Supplier", "Fornecedor"),
        format!("{supplier}\n{}", operation.supplier.cnpj.masked()),
    ));
    if let Some(number) = &operation.invoice.number {
        let number = visible(number.as_str());
        facts.push(important(words.t("Invoice", "Nota fiscal"), number));
    }
    let amount = words.money(amounts.amount());
    facts.push(important(
        words.t("Amount of the invoice", "Valor da nota"),
        amount,
    ));
    let withheld = amounts.withheld_tax();
    if withheld.cents() > 0 {
        let withheld = words.money(withheld);
        facts.push(fact(
            words.t("Taxes withheld", "Impostos retidos"),
            withheld,
        ));
    }
    if let Some(net) = net_amount(operation, words) {
        facts.push(important(
            words.t("Net amount to you", "Valor líquido para você"),
            net,
        ));
    }
    let due = words.due(operation.invoice.due_date);
    facts.push(important(words.t("Due", "Vencimento"), due));
    if let (State::InPreAuth, Some(at)) = (&operation.state, operation.expires_at) {
        let until = moment(at, words);
        facts.push(fact(
            words.t("Offer open until", "Oferta válida até"),
            until,
        ));
    }
    facts
}

/// What the supplier gets, or how it is found while nobody knows it; nothing of an advance that was closed before.
fn net_amount(operation: &Operation, words: Words) -> Option<String> {
    if let Some(net) = operation.net_amount {
        return Some(words.money(net));
    }
    let is_closed = matches!(operation.state, State::Reproved(_));
    let rule = words.t(
        "Set by the analysis before it is paid: the amount of the invoice less withheld taxes and the cost of the advance",
        "Definido na análise, antes do pagamento: valor da nota menos impostos retidos e o custo da antecipação",
    );
    (!is_closed).then(|| rule.to_owned())
}

fn steps(operation: &Operation, words: Words, is_overdue: bool) -> Vec<Step> {
    let current = match operation.state {
        State::Reproved(_) => return Vec::new(),
        State::InPreAuth if is_overdue => return Vec::new(),
        State::InPreAuth => 0,
        State::InVerification | State::ToApprove => 1,
        State::InAnalysis => 2,
        State::ToPay => 3,
        State::ToBill | State::ToReceive { .. } | State::Concluded => 4,
    };
    let labels = [
        words.t("You request the advance", "Você solicita a antecipação"),
        words.t("The company approves", "A empresa pagadora aprova"),
        words.t("The platform analyses", "A plataforma analisa"),
        words.t("Your company is paid", "Sua empresa recebe"),
    ];
    let progress = |place: usize| match place.cmp(&current) {
        std::cmp::Ordering::Less => Progress::Done,
        std::cmp::Ordering::Equal => Progress::Current,
        std::cmp::Ordering::Greater => Progress::Coming,
    };
    let steps = labels.into_iter().enumerate();
    steps
        .map(|(place, label)| Step {
            label,
            progress: progress(place),
        })
        .collect()
}
