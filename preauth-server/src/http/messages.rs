//! Every text for API callers, in Portuguese. Only the codes are part of the contract.

use chrono::{NaiveDate, TimeDelta};
use preauth_core::operation::{EARLIEST_DUE_DAYS, LATEST_DUE_DAYS};
use preauth_core::value::{
    CnpjError, DueDateError, EmailError, PaymentOrderId, PaymentOrderStatus, Status, TextError,
    Timestamp, Version, calendar,
};
use preauth_core::{ErrorCode, wire};

use crate::directory::ERASED_DOMAIN;
use crate::dispatcher::UrlRefusal;
use crate::hold::HoldReason;

use super::multipart::FormFlaw;
use super::problem::Defect;
use super::refusal::Refusal;
use super::server::Flaw;

/// An operation's status does not allow the action.
pub(super) fn transition(status: Status) -> String {
    format!(
        "A situação da operação não permite esta ação ou mudou durante a chamada (situação atual: {status}); consulte a operação e tente novamente."
    )
}

/// A payment order's status does not allow the action.
pub(super) fn order_transition(status: PaymentOrderStatus) -> String {
    format!(
        "A situação da ordem de pagamento não permite esta ação ou mudou durante a chamada (situação atual: {status}); consulte a ordem."
    )
}

/// A create under the idempotency key of another one, which the details name.
pub(super) const KEY_OF_ANOTHER: &str = "Esta Idempotency-Key já foi usada com outro conteúdo, que criou a operação do anticipationId em details; use uma chave nova para cada operação.";

/// The API key is missing, or sent in a way in which no key is read.
pub(super) const NO_BEARER_KEY: &str = "A chave de API está ausente ou é inválida: envie um só cabeçalho Authorization: Bearer service_sk_…, sem aspas.";

/// An item of a batch has no valid key.
pub(super) const ITEM_KEY: &str = "Cada item precisa de um idempotencyKey de 8 a 100 caracteres, somente letras, dígitos, ponto, sublinhado, dois-pontos e hífen.";

/// A due date outside the range of offers.
pub(super) fn due_date_out_of_range(due_date: NaiveDate, now: Timestamp) -> String {
    let today = calendar::today(now);
    let day = |days: i64| {
        today
            .checked_add_signed(TimeDelta::days(days))
            .unwrap_or(today)
    };
    let (earliest, latest) = (day(EARLIEST_DUE_DAYS), day(LATEST_DUE_DAYS));
    let defect = if due_date < today {
        "já passou"
    } else if due_date < earliest {
        "está próximo demais"
    } else {
        "está distante demais"
    };
    format!(
        "O vencimento {defect}: deve ser de {earliest} a {latest}, que são {EARLIEST_DUE_DAYS} e {LATEST_DUE_DAYS} dias corridos a partir de hoje em São Paulo."
    )
}

/// There is no such path on a listener. Only its beginning and its slashes count, so that the answer reveals
/// nothing about records.
pub(super) fn no_such_path(listener: &str, path: &str) -> Option<String> {
    const INTEGRATION: &str = wire::path::PREFIX;
    const PLATFORM: &str = "/api/platform/v1";
    let (own, other, elsewhere) = match listener {
        "integration" => (INTEGRATION, PLATFORM, "da plataforma, no listener privado"),
        "platform" => (PLATFORM, INTEGRATION, "de integração, no listener público"),
        _ => return None,
    };
    let general = sentence(ErrorCode::NotFound).trim_end_matches('.');
    let hint = if path.matches(own).count() > 1 {
        format!("{own} está repetido")
    } else if path.starts_with(other) {
        format!("{other} é da API {elsewhere}")
    } else if path.len() > 1 && (path.ends_with('/') || path.contains("//")) {
        "há uma barra a mais".to_owned()
    } else if !path.starts_with(own) {
        format!("os endereços dela começam com {own}")
    } else {
        return None;
    };
    Some(format!("{general}: {hint}."))
}

/// An operation already has a payment order.
pub(super) fn already_ordered(existing: PaymentOrderId) -> String {
    format!(
        "A operação já tem a ordem de pagamento {existing}; cancele-a ou reprove-a antes de gerar outra. Se já foi paga, só depois que o pagamento for devolvido pelo banco."
    )
}

/// The record is not in the version that the caller has seen.
pub(super) fn changed(stored: Version) -> String {
    format!(
        "O registro mudou desde a versão informada em ifVersion (versão atual: {stored}). Nada foi feito; consulte-o antes de tentar de novo."
    )
}

/// A valid key is suspended.
pub(super) const SUSPENDED: &str =
    "Permissão negada: a empresa ou sua matriz está suspensa. Entre em contato com a plataforma.";

/// A client has too many requests in progress.
pub(super) const CROWDED: &str = "Há requisições demais deste endereço em andamento; nada foi feito. Tente novamente após os segundos indicados em Retry-After.";

/// A head office has too many requests in progress.
pub(super) const HEAD_OFFICE_CROWDED: &str = "A empresa tem requisições demais em andamento; nada foi feito. Tente novamente após os segundos indicados em Retry-After.";

/// The message of a test event.
pub(super) const WEBHOOK_TEST: &str = "Evento de teste: o endpoint está configurado.";

/// The message of a code.
#[must_use]
#[expect(clippy::too_many_lines, reason = "one sentence per code, in one place")]
pub(crate) fn sentence(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ValidationError => "A requisição tem campos inválidos.",
        ErrorCode::BadRequest => "A requisição está malformada.",
        ErrorCode::ApiKeyInvalid => "A chave de API está ausente ou é inválida.",
        ErrorCode::ApiKeyRevoked => "A chave de API foi revogada.",
        ErrorCode::ApiKeyExpired => "A chave de API expirou.",
        ErrorCode::IntegrationScopeForbidden => {
            "A chave de API não tem o escopo necessário para esta operação."
        }
        ErrorCode::IntegrationResponsibleForbidden => {
            "O usuário responsável pela chave não tem permissão para solicitar e pré-autorizar antecipações."
        }
        ErrorCode::RbacForbidden => {
            "Permissão negada: o usuário responsável pela chave está inativo ou não pertence mais à empresa."
        }
        ErrorCode::PreAuthOnlyConstrutora => {
            "Somente a matriz de uma construtora pode criar pré-autorizações."
        }
        ErrorCode::AnticipationNotFound => "Operação não encontrada.",
        ErrorCode::PreAuthDuplicateInvoice => {
            "Já existe uma operação em andamento para esta nota fiscal deste fornecedor; consulte-a pelo anticipationId em details."
        }
        ErrorCode::AnticipationInvalidTransition => {
            "A situação da operação não permite esta ação ou mudou durante a chamada; consulte a operação e tente novamente."
        }
        ErrorCode::FileTooLarge => "O arquivo da nota fiscal tem mais de 10 MB.",
        ErrorCode::AnticipationInvalidDueDate => {
            "O vencimento deve ser no mínimo 5 dias corridos a partir de hoje."
        }
        ErrorCode::AnticipationDueDateTooFar => {
            "O vencimento deve ser no máximo 180 dias corridos a partir de hoje."
        }
        ErrorCode::CreditAnalysisDueDateExceeded => {
            "O prazo até o vencimento excede o permitido pela análise de crédito da empresa."
        }
        ErrorCode::CreditAnalysisInvoiceAmountExceeded => {
            "O valor da nota fiscal excede o permitido pela análise de crédito da empresa."
        }
        ErrorCode::PreAuthSupplierNameRequired => {
            "O fornecedor ainda não está cadastrado: informe supplier.name e supplier.contactName."
        }
        ErrorCode::PreAuthSupplierSelf => {
            "O fornecedor não pode ser a própria empresa nem uma de suas filiais."
        }
        ErrorCode::PreAuthSupplierBlocked => "O fornecedor está na lista de bloqueio da empresa.",
        ErrorCode::InvalidFileType => "O conteúdo do arquivo não é um PDF ou XML válido.",
        ErrorCode::InvoiceFileType => {
            "O Content-Type do arquivo deve ser application/pdf, application/xml ou text/xml."
        }
        ErrorCode::InvoiceFileNameTooLong => "O nome do arquivo tem mais de 255 caracteres.",
        ErrorCode::FileQuotaExceeded => {
            "A empresa atingiu o limite de armazenamento de arquivos; fale com a plataforma ou envie sem o arquivo."
        }
        ErrorCode::PreAuthAlreadyRequested => {
            "O fornecedor já solicitou a antecipação; ela não pode mais ser cancelada pela integração."
        }
        ErrorCode::PreAuthAlreadyClosed => "A pré-autorização já foi encerrada por outro motivo.",
        ErrorCode::RateLimited => {
            "O limite de requisições foi atingido; aguarde os segundos indicados em Retry-After."
        }
        ErrorCode::InternalError => {
            "Erro interno. Se persistir, informe o X-Request-Id desta resposta ao suporte."
        }
        ErrorCode::NotFound => "Este endereço não existe nesta API.",
        ErrorCode::MethodNotAllowed => {
            "Este endereço não aceita este método; veja os aceitos no cabeçalho Allow."
        }
        ErrorCode::RequestTimeout => "O corpo da requisição demorou demais para chegar.",
        ErrorCode::PayloadTooLarge => "O corpo da requisição excede 256 KiB (em lote, 1 MiB).",
        ErrorCode::ServiceUnavailable => {
            "O serviço está temporariamente indisponível; nada foi feito. Tente novamente após os segundos indicados em Retry-After."
        }
        ErrorCode::IdempotencyKeyInvalid => {
            "Idempotency-Key deve ter de 8 a 100 caracteres, somente letras, dígitos, ponto, sublinhado, dois-pontos e hífen."
        }
        ErrorCode::IdempotencyKeyReused => {
            "Esta Idempotency-Key já foi usada com outro conteúdo; use uma chave nova para cada operação."
        }
        ErrorCode::IdempotencyInProgress => {
            "Uma requisição com esta Idempotency-Key ainda está em processamento; repita após os segundos indicados em Retry-After."
        }
        ErrorCode::EventCursorExpired => {
            "Há eventos depois deste cursor que não são mais guardados, ou o cursor é de um histórico perdido; recomece sem after e concilie as operações em andamento."
        }
        ErrorCode::ResourceNotFound => "Registro não encontrado.",
        ErrorCode::ResourceConflict => "O registro já existe ou conflita com outro.",
        ErrorCode::ResponsibleUserRefused => {
            "O usuário responsável deve estar ativo, pertencer à empresa e ter as permissões REQUEST_ADVANCES e PRE_AUTHORIZE_ADVANCES."
        }
        ErrorCode::EndpointNotHeadOffice => {
            "O endpoint de webhooks pertence à matriz; cadastre-o na matriz desta empresa."
        }
        ErrorCode::SupplierNotRegistered => "O fornecedor ainda não está cadastrado na plataforma.",
        ErrorCode::EndpointUrlRefused => "A URL do endpoint foi recusada.",
        ErrorCode::PlatformTokenInvalid => "O token de operador está ausente ou é inválido.",
        ErrorCode::OperatorForbidden => "O papel do operador não permite esta ação.",
        ErrorCode::FourEyesRequired => {
            "Quem liberou a operação não pode registrar o pagamento dela (rules.four_eyes); peça a outro operador, de papel OPERATOR ou ADMIN, que o registre com o próprio token."
        }
    }
}

/// The request names another host than the private listener.
pub(super) const WRONG_HOST: &str = "O cabeçalho Host não é um nome deste listener. Use o endereço \
    em que ele escuta, ou inclua o nome em console.hosts.";

/// Two servers could read the request differently.
#[must_use]
pub(super) const fn flaw(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Line => {
            "Cada linha do cabeçalho deve ter a forma Nome: valor, sem continuação, e terminar em CR LF."
        }
        Flaw::RequestLine => {
            "A primeira linha deve ter método, endereço sem fragmento e HTTP/1.1, separados por um espaço."
        }
        Flaw::Host => {
            "A requisição deve ter exatamente um cabeçalho Host, com um nome de host válido."
        }
        Flaw::Length => {
            "O tamanho do corpo é ambíguo: envie um só Content-Length, de 1 a 18 dígitos, ou só Transfer-Encoding."
        }
        Flaw::Encoding => "O único Transfer-Encoding aceito é chunked, uma só vez.",
        Flaw::ContentType => "Envie um só cabeçalho Content-Type.",
        Flaw::TargetTooLong => "A URL tem mais de 8 KiB.",
        Flaw::Unseen => "Aguarde a resposta antes de enviar a próxima requisição nesta conexão.",
    }
}

/// The message of a refusal of the platform API.
#[must_use]
pub(super) fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::HeadOfficeUnknown => "headOfficeId não é uma empresa cadastrada.".to_owned(),
        Refusal::HeadOfficeIsBranch { head_office } => {
            format!("headOfficeId é uma filial; informe a matriz {head_office}.")
        }
        Refusal::KindDiffers { kind } => {
            format!("Uma filial tem o kind de sua matriz, que é {kind}.")
        }
        Refusal::CnpjRegistered => "Já existe uma empresa com este CNPJ.".to_owned(),
        Refusal::NotRegistered { cnpj } => format!(
            "O fornecedor {cnpj} foi convidado, mas ainda não está cadastrado: cadastre-o com POST /companies."
        ),
        Refusal::Branch { head_office } => {
            format!("Esta empresa é uma filial; o registro pertence à matriz {head_office}.")
        }
        Refusal::EmailTaken => "A empresa já tem um usuário com este e-mail.".to_owned(),
        Refusal::UserErased => {
            "Os dados deste usuário foram apagados; cadastre outro usuário.".to_owned()
        }
        Refusal::InProgress => {
            "Os dados pessoais não podem ser apagados enquanto a empresa tiver operação em andamento ou ordem de pagamento em aberto, como pagadora ou fornecedora."
                .to_owned()
        }
        Refusal::PayerUnknown => "payerCompanyId não é uma empresa cadastrada.".to_owned(),
        Refusal::PayerNotConstruction => "payerCompanyId deve ser uma construtora.".to_owned(),
        Refusal::SupplierUnknown => "supplierCnpj não é uma empresa cadastrada.".to_owned(),
        Refusal::SupplierIsSelf => sentence(refusal.code()).to_owned(),
        Refusal::OperationUnknown => "operationId não é uma operação existente.".to_owned(),
        Refusal::OperationOfOthers => {
            "operationId é de outra empresa ou de outro fornecedor.".to_owned()
        }
        Refusal::DeliveryNotResendable => {
            "O endpoint da entrega foi removido ou está pausado.".to_owned()
        }
        Refusal::MailNotResendable => {
            "Só um e-mail com falha (FAILED) pode ser enviado de novo.".to_owned()
        }
        Refusal::EndpointWithoutSecret => {
            "O endpoint não tem segredo de assinatura; gere um novo com rotate-secret antes de retomá-lo."
                .to_owned()
        }
        Refusal::EndpointUrl(reason) => endpoint_url(*reason),
    }
}

/// A held instance refuses the request.
#[must_use]
pub(super) const fn held(reason: HoldReason) -> &'static str {
    match reason {
        HoldReason::ClockOff | HoldReason::ClockJumped => {
            "O relógio deste servidor está incorreto; nada foi feito. Tente novamente após os segundos indicados em Retry-After."
        }
        HoldReason::ForeignDatabase | HoldReason::QuietOutbound => {
            "Este servidor está somente para consulta; nada foi feito. Tente novamente após os segundos indicados em Retry-After."
        }
    }
}

/// The DNS look-up of the endpoint's name failed.
pub(super) const NAME_NOT_LOOKED_UP: &str = "Não foi possível consultar o DNS sobre o nome do servidor; nada foi alterado. Tente novamente em instantes.";

/// The message for a form that cannot be read, if it is more specific than the code's own.
#[must_use]
pub(super) const fn form_flaw(flaw: &FormFlaw) -> Option<&'static str> {
    Some(match flaw {
        FormFlaw::Boundary => {
            "Content-Type multipart/form-data precisa de um único boundary, de 1 a 70 caracteres."
        }
        FormFlaw::Framing => "O corpo multipart está malformado ou incompleto.",
        FormFlaw::TooManyParts => "O corpo multipart tem mais de 16 partes.",
        FormFlaw::PartHead => {
            "Os cabeçalhos de uma parte estão malformados ou repetidos, ou passam de 8 KiB ou de 32 linhas."
        }
        FormFlaw::Nameless => {
            "Cada parte precisa de um Content-Disposition form-data com um único name."
        }
        FormFlaw::Repeated => "Uma parte aparece mais de uma vez.",
        FormFlaw::UnexpectedFile => "Somente a parte invoiceFile pode ser um arquivo.",
        FormFlaw::FileName => "A parte invoiceFile precisa de um nome de arquivo em UTF-8.",
        FormFlaw::PartEncoding => {
            "Partes de texto são text/plain ou application/json, em UTF-8, sem Content-Transfer-Encoding."
        }
        FormFlaw::Interrupted => "O corpo foi interrompido.",
        FormFlaw::TextsTooLarge | FormFlaw::FileTooLarge | FormFlaw::Sink(_) => return None,
    })
}

/// The message for a refused endpoint URL.
fn endpoint_url(refusal: UrlRefusal) -> String {
    let sentence = match refusal {
        UrlRefusal::Empty => "Informe a URL do endpoint.",
        UrlRefusal::TooLong => "A URL deve ter no máximo 2.048 bytes.",
        UrlRefusal::Character => {
            "A URL não pode conter espaços, caracteres de controle nem barras invertidas."
        }
        UrlRefusal::Scheme => "A URL deve começar com https://.",
        UrlRefusal::UserInfo => "A URL não pode conter usuário nem senha.",
        UrlRefusal::PercentInHost => "O nome do servidor na URL não pode conter o caractere %.",
        UrlRefusal::Port => "A URL deve usar a porta 443.",
        UrlRefusal::Fragment => "A URL não pode conter fragmento (#).",
        UrlRefusal::Host => "A URL não contém um nome de servidor válido.",
        UrlRefusal::SingleLabel => {
            "O nome do servidor deve ser completo, com domínio, como hooks.exemplo.com.br."
        }
        UrlRefusal::ReservedName => {
            "O nome do servidor pertence a um domínio reservado, que não é público."
        }
        UrlRefusal::AddressForm => "O endereço IP da URL deve estar na forma canônica.",
        UrlRefusal::NameUnknown => {
            "O nome do servidor não existe no DNS ou não tem endereço IP. Confira o nome, ou publique-o no DNS e tente novamente."
        }
        UrlRefusal::AddressNotPublic(address) => {
            return format!(
                "A URL leva ao endereço {address}, que não é público. Use um servidor cujos endereços sejam todos públicos."
            );
        }
    };
    sentence.to_owned()
}

/// The message for a defect of a field.
#[must_use]
#[expect(clippy::too_many_lines, reason = "a sentence for each defect")]
pub(super) fn defect(field: &str, defect: &Defect) -> String {
    match defect {
        Defect::Required => format!("{field} é obrigatório."),
        Defect::NotAnObject => format!("{field} deve ser um objeto JSON."),
        Defect::NotAnArray => format!("{field} deve ser uma lista JSON."),
        Defect::NotAString => format!("{field} deve ser um texto."),
        Defect::NotANumber => format!("{field} deve ser um número."),
        Defect::NotABoolean => format!("{field} deve ser true ou false."),
        Defect::Duplicate => format!("{field} aparece mais de uma vez no mesmo objeto."),
        Defect::Empty => format!("{} está vazio; envie um objeto JSON.", whole(field)),
        Defect::NotJson { line, column } => format!(
            "{} deixa de ser um JSON válido na linha {line}, coluna {column}.",
            whole(field)
        ),
        Defect::LoneSurrogate => format!(
            "{} tem uma sequência \\u que é só metade de um caractere.",
            whole(field)
        ),
        Defect::TooDeep => "O JSON tem mais de 32 níveis.".to_owned(),
        Defect::Text(error) => text(field, *error),
        Defect::Cnpj(error) => cnpj(field, *error),
        Defect::CnpjNotNumeric => format!("{field} de uma construtora deve ter apenas dígitos."),
        Defect::Email(error) => email(field, *error),
        Defect::EmailOfErasedUser => {
            format!("{field} não pode usar {ERASED_DOMAIN}, o domínio dos usuários apagados.")
        }
        Defect::Decimal(_) => {
            format!(
                "{field} não é um número decimal válido, como 1234.56 (ponto decimal, sem separador de milhar)."
            )
        }
        Defect::DueDate(DueDateError::Shape) => format!("{field} deve ter o formato AAAA-MM-DD."),
        Defect::DueDate(DueDateError::NoSuchDay) => format!("{field} não existe no calendário."),
        Defect::AmountOutOfRange => format!("{field} deve estar entre 500 e 10000000."),
        Defect::MoneyOutOfRange => {
            format!("{field} deve ser maior que zero e no máximo 1000000000.")
        }
        Defect::WithheldTaxNegative => format!("{field} não pode ser negativo."),
        Defect::WithheldTaxTooHigh => {
            format!("{field} não pode exceder invoice.amount menos 500.")
        }
        Defect::WholeNumber { min, max } => whole_number(field, *min, *max),
        Defect::NotAmong(values) => not_among(field, values),
        Defect::NotAmongNumbers(values) => not_among(field, *values),
        Defect::NotMagic { codes } => {
            format!(
                "{field} começa com sandbox:, que neste sandbox provoca um erro; depois disso deve vir um destes códigos: {}.",
                codes.join(", ")
            )
        }
        Defect::ListTooLong { max } => format!("{field} deve ter no máximo {max} valores."),
        Defect::EmptyList => format!("{field} deve ter ao menos um valor."),
        Defect::UnknownParameter => format!("{field} não é um parâmetro desta chamada."),
        Defect::Repeated => format!("{field} só pode ser informado uma vez."),
        Defect::NotAKey { min } => {
            format!(
                "{field} deve conter uma chave de API ou o seu início, com no mínimo {min} caracteres a partir de service_sk_."
            )
        }
        Defect::Brackets { plain } => {
            format!("Use {plain} sem colchetes e repita o parâmetro: {plain}=A&{plain}=B.")
        }
        Defect::NotUtf8 => format!("{} não está em UTF-8.", whole(field)),
        Defect::NotNumeric => format!("{field} deve ser numérico."),
        Defect::NotACursor => format!(
            "{field} não é um cursor desta empresa; use o pagination.next de uma resposta anterior, sem alterá-lo, ou omita {field} para começar do evento mais antigo."
        ),
        Defect::NotANext => {
            format!("{field} deve ser o next de uma resposta anterior, sem alteração.")
        }
        Defect::NotAMonth => format!("{field} deve ser um mês no formato AAAA-MM."),
        Defect::AfterUntil => format!("{field} não pode ser posterior a until."),
        Defect::TooManyPeriods { max } => {
            format!("O intervalo de {field} a until pode ter no máximo {max} dias ou meses.")
        }
        Defect::NotAnId => format!("{field} não é um identificador da plataforma."),
        Defect::NotATimestamp => {
            format!("{field} deve ser um instante em UTC, como 2026-11-21T12:00:00Z.")
        }
        Defect::NotInTheFuture => format!("{field} deve ser um instante no futuro."),
        Defect::ExtensionDueDate => {
            format!(
                "{field} deve ser posterior ao vencimento do boleto e no máximo 180 dias a partir de hoje."
            )
        }
        Defect::NetAmount => {
            format!(
                "{field} deve ser maior que zero e no máximo o valor da nota menos as retenções."
            )
        }
    }
}

/// The subject of a sentence about a field that may be the whole body.
fn whole(field: &str) -> &str {
    match field {
        "body" => "O corpo da requisição",
        field => field,
    }
}

fn whole_number(field: &str, min: u64, max: u64) -> String {
    if max >= i64::MAX.unsigned_abs() {
        format!("{field} deve ser um número inteiro a partir de {min}.")
    } else {
        format!("{field} deve ser um número inteiro de {min} a {max}.")
    }
}

fn not_among(field: &str, values: impl IntoIterator<Item: ToString>) -> String {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("{field} deve ser um de: {}.", values.join(", "))
}

fn text(field: &str, error: TextError) -> String {
    match error {
        TextError::Blank => format!("{field} não pode estar em branco."),
        TextError::TooShort { min, .. } => format!("{field} deve ter no mínimo {min} caracteres."),
        TextError::TooLong { max, .. } => format!("{field} deve ter no máximo {max} caracteres."),
        TextError::ControlCharacter => format!("{field} contém um caractere de controle."),
        TextError::InvisibleCharacter => {
            format!("{field} contém um caractere invisível ou que inverte a direção do texto.")
        }
    }
}

fn cnpj(field: &str, error: CnpjError) -> String {
    match error {
        CnpjError::WrongCheckDigits => format!("{field} tem dígitos verificadores incorretos."),
        CnpjError::Empty
        | CnpjError::TooLong
        | CnpjError::InvalidCharacter
        | CnpjError::WrongLength { .. }
        | CnpjError::LetterInCheckDigits
        | CnpjError::RepeatedCharacter => {
            format!("{field} deve ser um CNPJ de 14 caracteres, com ou sem máscara.")
        }
    }
}

fn email(field: &str, error: EmailError) -> String {
    match error {
        EmailError::TooLong => format!("{field} deve ter no máximo 255 caracteres."),
        EmailError::MisplacedDot => {
            format!("{field} não pode ter ponto no início, no fim ou repetido antes do @.")
        }
        _ => format!("{field} deve ser um e-mail válido."),
    }
}
