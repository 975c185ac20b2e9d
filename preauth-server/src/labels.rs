//! The titles of values and columns, in every language.

use crate::language::Text;

macro_rules! labels {
    ($($name:ident = $en:literal | $pt:literal;)+) => {
        $(pub(crate) const $name: Text = Text::new($en, $pt);)+
    };
}

// Records and their state.
labels! {
    ID = "id" | "id";
    NUMBER = "number" | "número";
    NAME = "name" | "nome";
    KIND = "kind" | "tipo";
    TYPE = "type" | "tipo";
    STATUS = "status" | "situação";
    VERSION = "version" | "versão";
    STATE = "state" | "situação";
    REASON = "reason" | "motivo";
    CREATED = "created" | "criação";
    EXPIRES = "expires" | "expira em";
    NEXT_ATTEMPT = "next attempt" | "próxima tentativa";
    BY = "by" | "por";
}

// Companies, people and keys.
labels! {
    COMPANY = "company" | "empresa";
    HEAD_OFFICE = "head office" | "matriz";
    CNPJ = "CNPJ" | "CNPJ";
    REGISTERED = "registered" | "cadastrada";
    CONTACT = "contact" | "contato";
    EMAIL = "e-mail" | "e-mail";
    PHONE = "phone" | "telefone";
    SUSPENDED = "suspended" | "suspensa em";
    INVITED = "invited" | "convidada em";
    INVITED_BY = "invited by" | "convidada por";
    NAME_CONFIRMED = "name confirmed" | "nome confirmado em";
    BLOCKED = "blocked" | "bloqueado";
    MAX_TERM_DAYS = "longest term, days" | "prazo máximo, dias";
    MAX_INVOICE_AMOUNT = "greatest invoice" | "valor máximo da nota";
    USER = "user" | "usuário";
    PERMISSIONS = "permissions" | "permissões";
    ACTIVE_USER = "active" | "ativo";
    KEY = "key" | "chave";
    BEGINS_WITH = "begins with" | "começa com";
    SCOPES = "scopes" | "escopos";
    REVOKED = "revoked" | "revogada em";
    LAST_USED = "last used" | "último uso";
    OPERATOR = "operator" | "operador";
    ROLE = "role" | "papel";
    ACTION = "action" | "ação";
    OUTCOME = "outcome" | "resultado";
    RECORD = "record" | "registro";
    ADDRESS = "address" | "endereço";
    CHANGES = "changes" | "mudanças";
    REQUEST_ID = "request" | "requisição";
    ADDED_BY = "added by" | "incluído por";
    VALID_UNTIL = "valid until" | "válido até";
}

// Operations, invoices and payments.
labels! {
    OPERATION = "operation" | "operação";
    ORIGIN = "origin" | "origem";
    PAYER = "payer" | "empresa pagadora";
    PAYER_CNPJ = "payer CNPJ" | "CNPJ da pagadora";
    SUPPLIER = "supplier" | "fornecedor";
    SUPPLIER_CNPJ = "supplier CNPJ" | "CNPJ do fornecedor";
    INVOICE = "invoice" | "nota";
    INVOICE_FILE = "invoice file" | "arquivo da nota";
    AMOUNT = "amount" | "valor";
    WITHHELD_TAX = "withheld tax" | "retenções";
    NET_AMOUNT = "net amount" | "valor líquido";
    DUE_DATE = "due date" | "vencimento";
    BOLETO_DUE_DATE = "boleto due date" | "vencimento do boleto";
    EXTERNAL_REFERENCE = "external reference" | "referência externa";
    CLOSED_BECAUSE = "closed because" | "motivo do encerramento";
    CLOSED_AT_STAGE = "closed at stage" | "etapa do encerramento";
    HISTORY = "History" | "Histórico";
    AT = "at" | "data e hora";
    EVENT = "event" | "evento";
    EXTENSION = "extension" | "prorrogação";
    NEW_DUE_DATE = "new due date" | "novo vencimento";
    TOTAL_AMOUNT = "total amount" | "valor total";
    RECEIVED = "received" | "recebimento";
    PAYMENT_ORDER = "payment order" | "ordem de pagamento";
    SCHEDULED_FOR = "scheduled for" | "agendada para";
    SENT_AS = "sent as" | "nome enviado";
    BYTES = "bytes" | "bytes";
    SHA_256 = "SHA-256" | "SHA-256";
}

// Endpoints, deliveries and mails.
labels! {
    URL = "URL" | "URL";
    EVENTS = "events" | "eventos";
    PAUSED = "paused" | "pausado em";
    LAST_SUCCESS = "last success" | "último sucesso";
    EARLIER_SECRET_UNTIL = "earlier secret until" | "segredo anterior até";
    ATTEMPTS = "Attempts" | "Tentativas";
    ATTEMPT = "no" | "nº";
    MILLISECONDS = "ms" | "ms";
    HTTP_STATUS = "status" | "status";
    ERROR = "error" | "erro";
    ANSWER = "answer" | "resposta";
    BODY = "Body as sent" | "Corpo enviado";
    RESENT = "deliveries sent again" | "entregas reenviadas";
    TO_RESEND = "deliveries to send again" | "entregas a reenviar";
    QUEUED_AGAIN = "deliveries queued again" | "entregas de novo na fila";
    WAIT_FOR_ENDPOINT = "of these, waiting for a paused endpoint" | "delas, à espera do endpoint pausado";
    OF_REMOVED_ENDPOINT = "left out, endpoint removed" | "de fora, endpoint removido";
    RECIPIENT = "recipient" | "destinatário";
    ATTEMPTS_MADE = "attempts" | "tentativas";
    ENDED = "ended" | "encerrado em";
    LAST_ERROR = "last error" | "último erro";
    LAST_ANSWER = "last answer" | "última resposta";
    DURATION = "duration (ms)" | "duração (ms)";
    JOINED_TO = "joined to" | "enviado junto com";
}

// Reports.
labels! {
    OFFERS = "offers" | "ofertas";
    OFFERED_AMOUNT = "offered" | "valor ofertado";
    DIRECT_ADVANCES = "direct advances" | "antecipações diretas";
    DIRECT_AMOUNT = "direct amount" | "valor das diretas";
    REQUESTS = "requests" | "solicitações";
    REQUESTED_AMOUNT = "requested" | "valor solicitado";
    DECLINED = "declined" | "recusadas";
    CANCELED = "cancelled" | "canceladas";
    EXPIRED = "expired" | "expiradas";
    REPROVED = "reproved" | "reprovadas";
    PAYOUTS = "payouts" | "pagamentos";
    PAID_AMOUNT = "paid, gross" | "valor bruto pago";
    PAID_NET_AMOUNT = "paid, net" | "valor líquido pago";
    RETURNED_PAYOUTS = "returned payouts" | "pagamentos devolvidos";
    RETURNED_NET_AMOUNT = "returned, net" | "valor líquido devolvido";
    PAID_ORDERS = "paid orders" | "ordens pagas";
    PAID_ORDERS_AMOUNT = "paid orders, amount" | "valor das ordens pagas";
    DELIVERIES = "deliveries" | "entregas";
    DELIVERIES_GIVEN_UP = "given up" | "abandonadas";
}

// Master keys.
labels! {
    ACTIVE_KEY = "active" | "chave ativa";
    UNREADABLE = "unreadable secrets" | "segredos ilegíveis";
    KEYS = "Keys" | "Chaves";
    KNOWN = "known here" | "conhecida aqui";
    SECRETS = "secrets" | "segredos";
    REENCRYPTED = "secrets encrypted anew" | "segredos criptografados de novo";
    UNOPENED = "secrets that no key opens" | "segredos que nenhuma chave abre";
    HELD_SECRETS = "secrets left out because they were locked" | "segredos deixados de fora porque estavam bloqueados";
}

// Personal data.
labels! {
    CONTACTS = "contacts" | "contatos";
    USERS = "users" | "usuários";
    MAILS = "mails" | "e-mails";
    INVOICE_FILES = "invoice files" | "arquivos de nota";
    NO_MAILS_WANTED = "addresses that want no mails" | "endereços que não querem e-mails";
    IN_PROGRESS = "operations in progress" | "operações em andamento";
    OPEN_ORDERS = "open payment orders" | "ordens de pagamento em aberto";
    ERASURES = "Erasures" | "Exclusões";
    BEGAN = "began" | "início";
    COMPLETED = "completed" | "fim";
}
