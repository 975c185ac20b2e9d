//! The texts that the sandbox prints, in every language.

use preauth_core::operation::Rejection;
use preauth_core::value::{OperationId, Status, Timestamp};
use webhook_verify::VerifyError;

use crate::language::{Language, Text, texts};

/// The labels of the greeting, in the order of its lines.
pub(super) const LABELS: [Text; 8] = [
    Text::new("integration API", "API de integração"),
    Text::new("platform API", "API da plataforma"),
    Text::new("supplier's page", "página do fornecedor"),
    Text::new("API key", "chave de API"),
    Text::new("operator token", "token de operador"),
    Text::new("webhooks go to", "webhooks vão para"),
    Text::new("webhook secret", "segredo dos webhooks"),
    Text::new("time here", "hora do sandbox"),
];

pub(super) const NO_DEMO_COMPANY: Text = Text::new(
    "the sandbox's demo companies are not there any more",
    "as empresas de demonstração do sandbox não existem mais",
);
pub(super) const NO_OPERATION_YET: Text = Text::new(
    "there is no operation yet; your ERP creates the first",
    "ainda não há operações; o seu ERP cria a primeira",
);
pub(super) const NOTHING: Text = Text::new("nothing", "nada");
pub(super) const OR: Text = Text::new(" or ", " ou ");
pub(super) const AND: Text = Text::new(" and ", " e ");
pub(super) const NO_RECEIVER: Text = Text::new(
    "goes to nobody: no endpoint has chosen it",
    "não vai para ninguém: nenhum endpoint o escolheu",
);
pub(super) const PAUSED: Text = Text::new(
    ", which is paused: it is kept",
    ", que está pausado: o evento fica guardado",
);
pub(super) const BODY_IS_NO_EVENT: Text = Text::new(
    "signature verified, but the body is no event",
    "assinatura verificada, mas o corpo não é um evento",
);

texts! {
    title() {
        en: "preauth sandbox: the whole service with demo data, for trying it out on this machine",
        pt: "preauth sandbox: o serviço inteiro com dados de demonstração, para experimentar nesta máquina",
    }
    open_to_the_network(address: &str) {
        en: "warning: the platform API answers on {address}, to other machines too: the operator token below \
             administers this sandbox from there; leave --platform-listen out, or give it an \
             address of this machine alone (127.0.0.1:8081)",
        pt: "atenção: a API da plataforma responde em {address}, também a outras máquinas: com o token de operador \
             abaixo elas administram este sandbox; não use --platform-listen, ou dê a ele um endereço \
             só desta máquina (127.0.0.1:8081)",
    }
    for_a_second_terminal() {
        en: "For a second terminal:",
        pt: "Cole em um segundo terminal:",
    }
    offer(supplier: &str) {
        en: "1. Offer supplier {supplier} an advance:",
        pt: "1. Ofereça uma antecipação ao fornecedor {supplier}:",
    }
    look() {
        en: "2. Look at it:",
        pt: "2. Consulte-a:",
    }
    play_the_supplier() {
        en: "3. Play the supplier, who requests the advance:",
        pt: "3. No papel do fornecedor, solicite a antecipação:",
    }
    or_type(next: OperationId) {
        en: "Or type here: request {next}, approve {next}, show {next}; advance 3d lets time pass; help lists all commands.",
        pt: "Ou digite aqui: solicitar {next}, aprovar {next}, mostrar {next}; avançar 3d avança o tempo; ajuda lista todos os comandos.",
    }
    magic() {
        en: "An invoice number of sandbox:RATE_LIMITED, or of any other error code, provokes that answer.",
        pt: "O número de nota sandbox:RATE_LIMITED, ou com qualquer outro código de erro, provoca essa resposta.",
    }
    stop() {
        en: "Stop with quit or Ctrl-C. From here on, a line per request, status change and delivery:",
        pt: "Encerre com sair ou Ctrl-C. Daqui em diante, uma linha por chamada, mudança de situação e entrega:",
    }

    unknown_command(word: &str, hint: &str) {
        en: "there is no command {word:?}{hint}; type help",
        pt: "o comando {word:?} não existe{hint}; digite ajuda",
    }
    did_you_mean(name: &str) {
        en: "; did you mean {name}?",
        pt: "; você quis dizer {name}?",
    }
    usage(usage: &str) {
        en: "type: {usage}",
        pt: "digite: {usage}",
    }
    wrong_value(text: &str, wanted: &str, usage: &str) {
        en: "{text:?} is not {wanted}; type: {usage}",
        pt: "{text:?} não é {wanted}; digite: {usage}",
    }
    erp_cancels() {
        en: "your ERP cancels: POST /api/integration/v1/pre-authorizations/ID/cancel; the company's own way is withdraw ID",
        pt: "quem cancela é o seu ERP: POST /api/integration/v1/pre-authorizations/ID/cancel; a empresa usa retirar ID",
    }
    time_expires() {
        en: "time expires an offer: show ID prints its expiresAt, advance TIME lets time pass",
        pt: "é o tempo que expira uma oferta: mostrar ID mostra o expiresAt, avançar TEMPO avança o relógio",
    }

    no_such_operation(id: OperationId) {
        en: "there is no operation {id}",
        pt: "a operação {id} não existe",
    }
    not_now(id: OperationId, status: Status, wanted: &str, possible: &str) {
        en: "refused: operation {id} is {status}, and that is possible in {wanted} only; possible now: {possible}",
        pt: "recusado: a operação {id} está em {status}, e isso só é possível em {wanted}; possível agora: {possible}",
    }
    no_extension(id: OperationId) {
        en: "operation {id} has no open extension",
        pt: "a operação {id} não tem prorrogação em aberto",
    }
    rejected(code: &str, rejection: &str) {
        en: "refused ({code}): {rejection}",
        pt: "recusado ({code}): {rejection}",
    }
    too_far(days: u64, seconds: u64) {
        en: "the clock can be advanced by {days} d at most, {seconds} s",
        pt: "o relógio pode avançar no máximo {days} d, {seconds} s",
    }
    failed(cause: &str) {
        en: "failed: {cause}",
        pt: "falhou: {cause}",
    }

    now(now: Timestamp, day: chrono::NaiveDate, ahead_days: i64) {
        en: "it is {now}, {day} in São Paulo; {ahead_days} days ahead of this machine",
        pt: "hora do sandbox: {now}, {day} em São Paulo; {ahead_days} dias à frente desta máquina",
    }
    possible_now(possible: &str) {
        en: "possible now: {possible}",
        pt: "possível agora: {possible}",
    }
    unchanged(id: OperationId, status: Status) {
        en: "operation {id} stays {status}",
        pt: "a operação {id} continua em {status}",
    }
    changed(id: OperationId, before: Status, after: Status) {
        en: "operation {id}: {before} -> {after}",
        pt: "operação {id}: {before} -> {after}",
    }
    is(id: impl std::fmt::Display, status: &str) {
        en: "operation {id} is {status}",
        pt: "operação {id} em {status}",
    }
    goes_to(receivers: &str) {
        en: "goes to {receivers}",
        pt: "vai para {receivers}",
    }
    receiver(company: &str, url: &str, paused: &str) {
        en: "{company} at {url}{paused}",
        pt: "{company} em {url}{paused}",
    }

    due_to(amount: &str, due_date: &str, supplier: &str) {
        en: "{amount} due {due_date} to {supplier}",
        pt: "{amount} com vencimento em {due_date} para {supplier}",
    }
    net(amount: &str) {
        en: ", net {amount}",
        pt: ", líquido {amount}",
    }
    reference(reference: &str) {
        en: ", reference {reference}",
        pt: ", referência {reference}",
    }
    open_until(end: Timestamp) {
        en: ", open until {end}",
        pt: ", aberta até {end}",
    }

    verified(event: &str, event_type: &str) {
        en: "signature verified, event {event} {event_type}",
        pt: "assinatura verificada, evento {event} {event_type}",
    }
    signature_refused(why: &str) {
        en: "signature refused: {why}",
        pt: "assinatura recusada: {why}",
    }
}

/// Why the rules refuse a command.
pub(super) fn rejection(language: Language, rejection: Rejection) -> String {
    let portuguese = match rejection {
        _ if language == Language::English => return rejection.to_string(),
        Rejection::DuplicateInvoice { existing } => {
            return format!("a operação {existing}, em andamento, já usa essa nota");
        }
        Rejection::InvalidTransition { status } => {
            return format!("não é possível enquanto a operação está em {status}");
        }
        Rejection::DueDateTooNear => "o vencimento é em menos de 5 dias",
        Rejection::DueDateTooFar => "o vencimento é em mais de 180 dias",
        Rejection::SupplierIsSelf => "o fornecedor é a própria empresa ou uma de suas filiais",
        Rejection::SupplierBlocked => "a empresa bloqueou o fornecedor",
        Rejection::SupplierNameRequired => "o fornecedor é novo e falta o nome ou o contato dele",
        Rejection::CreditTermExceeded => "o prazo excede a análise de crédito",
        Rejection::CreditAmountExceeded => "o valor excede a análise de crédito",
        Rejection::NotFound => "a operação não existe",
        Rejection::AlreadyRequested => "o fornecedor já solicitou a antecipação",
        Rejection::AlreadyClosed => "a operação já foi encerrada",
        Rejection::NetAmountOutOfRange => {
            "o valor líquido é zero ou maior que o valor da nota menos as retenções"
        }
        Rejection::ExtensionDueDateOutOfRange => {
            "o novo vencimento não é posterior ao do boleto ou é em mais de 180 dias"
        }
        Rejection::ExtensionTotalOutOfRange => "o total da prorrogação deve ser maior que zero",
        Rejection::ExtensionNotOpen => "a prorrogação não está em aberto",
        Rejection::OwnRelease => "quem liberou a operação não pode registrar o pagamento dela",
    };
    portuguese.to_owned()
}

/// Why the receiver refuses a signature.
pub(crate) fn signature_refusal(language: Language, error: VerifyError) -> String {
    let portuguese = match error {
        _ if language == Language::English => return error.to_string(),
        VerifyError::MissingHeader => "a requisição não tem o cabeçalho x-service-signature",
        VerifyError::Malformed(_) => "o cabeçalho x-service-signature está malformado",
        VerifyError::TooOld { .. } => "a entrega foi assinada há tempo demais",
        VerifyError::TooNew { .. } => "a entrega foi assinada no futuro",
        VerifyError::NoMatch => "nenhuma assinatura confere com o corpo e o segredo",
        // Later versions of the verifier may have further reasons.
        _ => "a assinatura é inválida",
    };
    portuguese.to_owned()
}
