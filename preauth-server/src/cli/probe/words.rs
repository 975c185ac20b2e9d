//! The texts that `probe` prints for people, in every language.

use std::fmt::Display;

use crate::language::{Text, texts};

pub(super) const RIGHT: Text = Text::new("ok", "ok");
pub(super) const NOTE: Text = Text::new("note", "nota");
pub(super) const WRONG: Text = Text::new("FAULT", "FALHA");
pub(super) const SKIPPED: Text = Text::new("skipped", "pulado");

pub(super) const GENUINE: Text = Text::new("a genuine delivery", "uma entrega autêntica");
pub(super) const DUPLICATE: Text = Text::new("the same event again", "o mesmo evento de novo");
pub(super) const COUNTED: Text = Text::new(
    "the work of an event that came twice",
    "o efeito de um evento que chegou duas vezes",
);
pub(super) const OTHER_ENCODER: Text = Text::new(
    "a body with spaces and escapes",
    "um corpo com espaços e escapes",
);
pub(super) const OUT_OF_ORDER: Text = Text::new(
    "an event, then an older one",
    "um evento e depois um mais antigo",
);
pub(super) const SECOND_SIGNATURE: Text = Text::new(
    "two signatures, as during a rotation",
    "duas assinaturas, como durante uma troca de segredo",
);
pub(super) const UNKNOWN_TYPE: Text =
    Text::new("an unknown type of event", "um tipo de evento desconhecido");
pub(super) const UNKNOWN_FIELD: Text = Text::new("unknown fields", "campos desconhecidos");
pub(super) const LARGE: Text = Text::new("a body of 100 KB", "um corpo de 100 KB");
pub(super) const SLOW: Text = Text::new("a body that comes slowly", "um corpo que chega devagar");
pub(super) const PARALLEL: Text =
    Text::new("eight deliveries at once", "oito entregas ao mesmo tempo");
pub(super) const PARALLEL_DUPLICATES: Text = Text::new(
    "one event eight times at once, then again",
    "um evento oito vezes ao mesmo tempo e depois de novo",
);
pub(super) const PARALLEL_COUNTED: Text = Text::new(
    "the work of an event that came eight times at once",
    "o efeito de um evento que chegou oito vezes ao mesmo tempo",
);
pub(super) const OLD: Text = Text::new("signed ten minutes ago", "assinada há dez minutos");
pub(super) const FUTURE: Text =
    Text::new("signed ten minutes ahead", "assinada dez minutos no futuro");
pub(super) const FORGED: Text =
    Text::new("signed with another secret", "assinada com outro segredo");
pub(super) const ALTERED: Text = Text::new(
    "a signature of another body",
    "uma assinatura de outro corpo",
);
pub(super) const UNSIGNED: Text = Text::new("no signature", "sem assinatura");
pub(super) const AFTERWARDS: Text = Text::new(
    "a genuine delivery after all that",
    "uma entrega autêntica depois de tudo isso",
);

pub(super) const REFUSES_GENUINE: Text = Text::new(
    "it did not confirm a genuine delivery; nothing else was tried",
    "não confirmou uma entrega autêntica; o resto não foi testado",
);
pub(super) const CHECK_SECRET: Text = Text::new(
    "check that this is its signing secret, whole, and that the signature is verified over the raw body; then look at its log",
    "confira se este é o segredo de assinatura dele, inteiro, e se a assinatura é verificada sobre o corpo bruto; depois veja o log dele",
);
pub(super) const REFUSES_DUPLICATE: Text = Text::new(
    "it did not confirm an event that it has already; the service would send it again for 79 hours",
    "não confirmou um evento que já tem; o serviço o reenviaria por 79 horas",
);
pub(super) const CONFIRM_KNOWN_ID: Text = Text::new(
    "answer 2xx when the id is already stored",
    "responda 2xx quando o id já estiver armazenado",
);
pub(super) const WORKS_TWICE: Text = Text::new(
    "it did the work of one event more than once",
    "executou o efeito de um evento mais de uma vez",
);
pub(super) const UNIQUE_ID: Text = Text::new(
    "insert the id into a table where it is unique, in the transaction that does the work",
    "insira o id em uma tabela em que ele é único, na transação que executa o efeito",
);
pub(super) const REPRINTS_BODY: Text = Text::new(
    "it does not verify the bytes as they came: other spaces, escapes or zeros break it",
    "não verifica os bytes como chegaram: outros espaços, escapes ou zeros o quebram",
);
pub(super) const KEEP_RAW_BODY: Text = Text::new(
    "verify over the raw body, before it is parsed",
    "verifique sobre o corpo bruto, antes de interpretá-lo",
);
pub(super) const REFUSES_OLDER: Text = Text::new(
    "it did not confirm an event that is older than the one before",
    "não confirmou um evento mais antigo que o anterior",
);
pub(super) const CONFIRM_OLDER: Text = Text::new(
    "answer 2xx, and get the operation for its current status",
    "responda 2xx e consulte a operação para saber o status atual",
);
pub(super) const READS_ONE_SIGNATURE: Text = Text::new(
    "it did not find its signature beside another one: deliveries fail while a secret is rotated",
    "não achou a assinatura dele ao lado de outra: as entregas falham durante a troca de um segredo",
);
pub(super) const TRY_EVERY_V1: Text = Text::new(
    "compare every v1 of the header with every secret in force",
    "compare cada v1 do cabeçalho com cada segredo em vigor",
);
pub(super) const REFUSES_UNKNOWN_TYPE: Text = Text::new(
    "it did not confirm a type that it does not know: a new type would pause its endpoint",
    "não confirmou um tipo que não conhece: um tipo novo pausaria o endpoint",
);
pub(super) const CONFIRM_UNKNOWN_TYPE: Text = Text::new(
    "answer 2xx to types that you do not know, and do nothing",
    "responda 2xx a tipos que você não conhece e não faça nada",
);
pub(super) const REFUSES_UNKNOWN_FIELD: Text = Text::new(
    "it did not confirm an event with new fields",
    "não confirmou um evento com campos novos",
);
pub(super) const IGNORE_FIELDS: Text = Text::new(
    "ignore fields that you do not know",
    "ignore campos que você não conhece",
);
pub(super) const REFUSES_LARGE: Text = Text::new(
    "it did not confirm a body of 100 KB",
    "não confirmou um corpo de 100 KB",
);
pub(super) const RAISE_BODY_LIMIT: Text = Text::new(
    "accept bodies of at least 256 KB, at its proxy as well",
    "aceite corpos de pelo menos 256 KB, também no proxy",
);
pub(super) const REFUSES_SLOW: Text = Text::new(
    "it did not wait two seconds for a body",
    "não esperou dois segundos por um corpo",
);
pub(super) const RAISE_READ_TIMEOUT: Text = Text::new(
    "read the whole declared length, and wait at least 10 s for it",
    "leia todo o tamanho declarado e espere por ele pelo menos 10 s",
);
pub(super) const REFUSES_PARALLEL: Text = Text::new(
    "it did not confirm deliveries that came together",
    "não confirmou entregas que chegaram juntas",
);
pub(super) const TAKE_PARALLEL: Text = Text::new(
    "serve at least eight requests at once, and wait for a locked row instead of failing",
    "atenda pelo menos oito requisições ao mesmo tempo e espere por uma linha bloqueada em vez de falhar",
);
pub(super) const ACCEPTS_OLD: Text = Text::new(
    "it confirmed a delivery signed ten minutes ago: whoever records one can send it again at any time",
    "confirmou uma entrega assinada há dez minutos: quem gravar uma pode repeti-la quando quiser",
);
pub(super) const ACCEPTS_FUTURE: Text = Text::new(
    "it confirmed a delivery signed ten minutes ahead",
    "confirmou uma entrega assinada dez minutos no futuro",
);
pub(super) const COMPARE_TIME: Text = Text::new(
    "refuse a t that differs from your clock by more than 300 seconds",
    "recuse um t que difere do seu relógio em mais de 300 segundos",
);
pub(super) const ACCEPTS_FORGED: Text = Text::new(
    "it confirmed a forged delivery: anybody can tell it that an advance was paid",
    "confirmou uma entrega forjada: qualquer um pode informar que uma antecipação foi paga",
);
pub(super) const VERIFY: Text = Text::new(
    "verify the HMAC-SHA256 over t, a dot and the raw body before anything else",
    "verifique o HMAC-SHA256 sobre t, um ponto e o corpo bruto antes de tudo",
);
pub(super) const ACCEPTS_UNSIGNED: Text = Text::new(
    "it confirmed a delivery without a signature",
    "confirmou uma entrega sem assinatura",
);
pub(super) const REFUSE_UNSIGNED: Text = Text::new(
    "answer 400 when the header x-service-signature is missing",
    "responda 400 quando faltar o cabeçalho x-service-signature",
);
pub(super) const FAILS_AFTERWARDS: Text = Text::new(
    "it no longer confirms a genuine delivery",
    "já não confirma uma entrega autêntica",
);
pub(super) const SURVIVE: Text = Text::new(
    "look at its log for what stopped it",
    "procure no log dele o que o parou",
);
pub(super) const REDIRECTS: Text = Text::new(
    "it redirects; the service does not follow, and counts a failure",
    "redireciona; o serviço não segue e conta uma falha",
);
pub(super) const REGISTER_FINAL_URL: Text = Text::new(
    "give the URL that it redirects to, and register that one",
    "use a URL para a qual ele redireciona e cadastre essa",
);
pub(super) const ANSWERS_LATE: Text = Text::new(
    "it did not answer within 10 seconds, so the service would send it again",
    "não respondeu em 10 segundos, então o serviço enviaria de novo",
);
pub(super) const ANSWER_FIRST: Text = Text::new(
    "store the event, answer, and do long work afterwards",
    "armazene o evento, responda e faça depois o trabalho demorado",
);
pub(super) const NO_ANSWER: Text = Text::new(
    "it closed the connection without an answer, or answered no HTTP",
    "fechou a conexão sem responder, ou a resposta não é HTTP",
);
pub(super) const LOOK_AT_LOG: Text = Text::new(
    "look at its log, and at that of the proxy before it",
    "veja o log dele e o do proxy à frente",
);
pub(super) const BREAKS_ON_FORGED: Text = Text::new(
    "it refused, but with a status for its own failures",
    "recusou, mas com um status de falha própria",
);
pub(super) const ANSWER_400: Text = Text::new(
    "answer 400, so that attacks do not look like failures of yours",
    "responda 400, para que ataques não pareçam falhas suas",
);
pub(super) const WORK_UNSEEN: Text = Text::new(
    "whether it did the work once cannot be seen from outside",
    "não se vê de fora se o efeito ocorreu uma vez só",
);
pub(super) const GIVE_COUNT: Text = Text::new(
    "give --count-command, or count the effects yourself",
    "use --count-command ou conte os efeitos você mesmo",
);
pub(super) const WORK_NOT_COUNTED: Text = Text::new(
    "the count did not rise with each event, so it says nothing",
    "a contagem não aumentou a cada evento, então não diz nada",
);
pub(super) const COUNT_RIGHT: Text = Text::new(
    "give with --event an event that has an effect, or count another thing",
    "indique em --event um evento que tenha efeito, ou conte outra coisa",
);

pub(super) const PLAIN_HTTP: Text = Text::new(
    "plain http is for receivers on this machine; give an https URL",
    "http sem TLS é só para receptores nesta máquina; use uma URL https",
);
pub(super) const COUNT_SLOW: Text = Text::new(
    "the --count-command did not end within 30 s and was killed; give one that prints the number and ends",
    "o --count-command não terminou em 30 s e foi encerrado; informe um que mostre o número e termine",
);

texts! {
    probing(url: &str) {
        en: "probing {url}",
        pt: "testando {url}",
    }
    answered(status: u16, ms: i64) {
        en: "{status} in {ms} ms",
        pt: "{status} em {ms} ms",
    }
    not_answered(code: &str, ms: i64) {
        en: "{code} after {ms} ms",
        pt: "{code} após {ms} ms",
    }
    next(what: &str) {
        en: "next: {what}",
        pt: "próximo passo: {what}",
    }
    totals(checks: u32, faults: u32) {
        en: "checks: {checks}, faults: {faults}",
        pt: "verificações: {checks}, falhas: {faults}",
    }
    url_refused(why: &dyn Display) {
        en: "nothing can be sent to this URL: {why}; give it whole, like https://erp.example.com/webhooks",
        pt: "não é possível enviar a esta URL: {why}; informe-a inteira, como https://erp.example.com/webhooks",
    }
    unreachable(why: &dyn Display) {
        en: "the receiver was not reached: {why}; start it, or correct the URL",
        pt: "o receptor não foi alcançado: {why}; inicie-o ou corrija a URL",
    }
    no_tls(why: &dyn Display) {
        en: "https cannot be used: {why}; give --ca-file",
        pt: "não é possível usar https: {why}; use --ca-file",
    }
    no_certificates(path: &str, why: &dyn Display) {
        en: "the certificates in {path} cannot be used: the file {why}",
        pt: "não é possível usar os certificados de {path}: {why}",
    }
    event_unread(path: &str) {
        en: "cannot read the event in {path}",
        pt: "não foi possível ler o evento em {path}",
    }
    no_event(path: &str) {
        en: "{path} holds no event; give JSON with a type and an object as data",
        pt: "{path} não contém um evento; informe um JSON com type e um objeto em data",
    }
    count_not_run(cause: &dyn Display) {
        en: "the --count-command cannot be run by sh: {cause}",
        pt: "o sh não conseguiu executar o --count-command: {cause}",
    }
    count_failed(said: &str) {
        en: "the --count-command failed: {said}",
        pt: "o --count-command falhou: {said}",
    }
    no_number(said: &str) {
        en: "the --count-command printed no number but: {said}",
        pt: "o --count-command não mostrou um número, e sim: {said}",
    }
}
