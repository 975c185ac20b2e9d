//! The texts of failed administration commands, in every language. Causes reported by others (the
//! system, the HTTP client, the configuration) are not translated.

use std::error::Error;

use preauth_core::value::OperationId;

use crate::language::{Language, Text, texts};
use crate::log::chain;

const ERROR: Text = Text::new("error", "erro");
pub(super) const DECLINED: Text = Text::new("nothing was done", "nada foi feito");
pub(super) const CANNOT_ASK: Text = Text::new(
    "this asks before it goes on, and nobody can answer here; give --yes to go on",
    "este comando pede confirmação, e aqui não há quem responda; use --yes para continuar",
);
pub(super) const NOT_UNDERSTOOD: Text = Text::new(
    "it was done, but the platform's answer is not understood; are both of one version?",
    "foi feito, mas a resposta da plataforma não foi entendida; as versões são as mesmas?",
);
pub(super) const DAMAGED: Text = Text::new(
    "the file did not arrive as it was sent, and nothing is saved; try again",
    "o arquivo não chegou como foi enviado, e nada foi gravado; tente novamente",
);
pub(super) const OUTPUT: Text = Text::new(
    "cannot write the output",
    "não foi possível escrever a saída",
);
pub(super) const NO_ANSWER: Text = Text::new("the answer did not arrive", "a resposta não chegou");
pub(super) const LOOK_FIRST: Text =
    Text::new("look before you repeat it", "consulte antes de repetir");
pub(super) const NO_PROOF: Text = Text::new("it does not hold the token", "ele não tem o token");
pub(super) const ELSEWHERE: Text = Text::new(
    "one that holds the token answers behind it, at another address; if that is a tunnel of yours, \
     give --insecure-http",
    "quem tem o token responde por trás dele, em outro endereço; se for um túnel seu, use \
     --insecure-http",
);
pub(super) const TWO_TOKENS: Text = Text::new(
    "platform_token and platform_token_file are both given; keep one of them",
    "platform_token e platform_token_file estão definidos; deixe só um deles",
);
pub(super) const SHORT_TOKEN: Text = Text::new(
    "platform_token needs 16 characters or more",
    "platform_token precisa de no mínimo 16 caracteres",
);
pub(super) const NO_TOKEN: Text = Text::new(
    "no operator token; give --token-file, PREAUTH_PLATFORM_TOKEN, or the server's own --config \
     or --data",
    "sem token de operador; use --token-file, PREAUTH_PLATFORM_TOKEN, ou o --config ou --data do \
     servidor",
);
pub(super) const URL_FORM: Text = Text::new(
    "a platform address has the form http://127.0.0.1:8081 or https://platform.example",
    "o endereço de uma plataforma tem a forma http://127.0.0.1:8081 ou https://platform.example",
);
pub(super) const URL_EXTRAS: Text = Text::new(
    "a platform address has no user, password, query or fragment",
    "o endereço de uma plataforma não tem usuário, senha, consulta nem fragmento",
);

texts! {
    no_company(cnpj: &str) {
        en: "no company has the CNPJ {cnpj}; `company list` shows them all",
        pt: "nenhuma empresa tem o CNPJ {cnpj}; `company list` mostra todas",
    }
    no_user(email: &str) {
        en: "no user of the company has the e-mail address {email}; `user list` shows them all",
        pt: "nenhum usuário da empresa tem o e-mail {email}; `user list` mostra todos",
    }
    no_operator(name: &str) {
        en: "no operator has the name {name}; `operator list` shows them all, without `root`",
        pt: "nenhum operador tem o nome {name}; `operator list` mostra todos, menos o `root`",
    }
    taken(path: &str) {
        en: "{path} is there already, and nothing is overwritten; give another --output",
        pt: "{path} já existe, e nada é sobrescrito; use outro --output",
    }
    not_a_key(min_characters: usize, prefix: &str) {
        en: "neither a key nor the beginning of one: {min_characters} characters or more, from {prefix} on, are needed",
        pt: "não é uma chave nem o início de uma: são precisos {min_characters} caracteres a partir de {prefix}",
    }
    no_file(operation: OperationId) {
        en: "operation {operation} came without an invoice file",
        pt: "a operação {operation} veio sem o arquivo da nota",
    }
    unreachable(url: &str) {
        en: "the platform at {url} does not answer; is the server running, and is this its platform address?",
        pt: "a plataforma em {url} não responde; o servidor está em execução, e este é o endereço da plataforma?",
    }
    token_refused(url: &str, source: &str) {
        en: "the platform at {url} refuses the operator token from {source}",
        pt: "a plataforma em {url} recusa o token de operador de {source}",
    }
    unproven(url: &str, source: &str, why: &str) {
        en: "{url} does not prove that it has the operator token from {source}, so the token was not used: {why}",
        pt: "{url} não prova ser o servidor do token de operador de {source}, que não foi enviado a ele: {why}",
    }
    integration_port() {
        en: "it answers with status 404, as the integration API does; is this the address of `listen`? use that of `platform_listen`",
        pt: "ele responde com o status 404, como a API de integração; este é o endereço de `listen`? use o de `platform_listen`",
    }
    unproven_status(status: u16) {
        en: "it answers with status {status}; is it a server of this version?",
        pt: "ele responde com o status {status}; é um servidor desta versão?",
    }
    stranger(url: &str, status: u16) {
        en: "{url} answers with status {status}, unlike a platform API; is this the platform's address?",
        pt: "{url} responde com o status {status}, e não como a API da plataforma; este é o endereço da plataforma?",
    }
    unknown(next_step: &str) {
        en: "whether it was done is not known: {next_step}",
        pt: "não se sabe se foi feito: {next_step}",
    }
    repeat_with(key: &str) {
        en: "repeat the command with --idempotency-key {key}, and it is done once",
        pt: "repita o comando com --idempotency-key {key}, e ele será feito uma só vez",
    }
    not_saved(path: &str) {
        en: "cannot write {path}",
        pt: "não foi possível gravar {path}",
    }
    wrong_url(text: &str) {
        en: "{text:?} is not a platform address",
        pt: "{text:?} não é um endereço de plataforma",
    }
    plain_http(host: &str) {
        en: "over plain http the operator token could be read on its way to {host}; use https, or give --insecure-http if the network between is private",
        pt: "por http sem criptografia o token de operador poderia ser lido no caminho até {host}; use https, ou --insecure-http se a rede entre os dois for privada",
    }
    several(servers: &str) {
        en: "several servers run here; name one of them:{servers}",
        pt: "há vários servidores em execução aqui; indique qual deles:{servers}",
    }
    found_sandbox(url: &str, data: &str) {
        en: "using the sandbox at {url} (--data {data})",
        pt: "usando o sandbox em {url} (--data {data})",
    }
    not_running(data: &str) {
        en: "no server runs on the data folder {data}, so nothing was sent; start it, name its folder with --data or --config, or give --platform-url",
        pt: "nenhum servidor usa a pasta de dados {data}, por isso nada foi enviado; inicie-o, indique a pasta dele com --data ou --config, ou use --platform-url",
    }
    not_believed(data: &str) {
        en: "the address announced in the data folder {data} is not trusted",
        pt: "o endereço anunciado na pasta de dados {data} não é confiável",
    }
    token_file(path: &str) {
        en: "cannot use token file {path}",
        pt: "não foi possível usar o arquivo de token {path}",
    }
    short_token_file(path: &str) {
        en: "token file {path} holds fewer than 16 characters; put a longer token into it",
        pt: "o arquivo de token {path} tem menos de 16 caracteres; grave nele um token maior",
    }
    existing(operation: i64) {
        en: "operation {operation} already uses this invoice",
        pt: "a operação {operation} já usa essa nota",
    }
    next(advice: &str) {
        en: "next: {advice}",
        pt: "próximo passo: {advice}",
    }
    request_id(id: &str) {
        en: "request id: {id}",
        pt: "id da requisição: {id}",
    }
}

/// The line that reports a failure.
pub(crate) fn failure_line(language: Language, failure: &str) -> String {
    format!("{}: {failure}", ERROR.of(language))
}

/// A text and the cause that another program reports.
pub(crate) fn caused(text: &str, cause: &dyn Error) -> String {
    format!("{text}: {}", chain(cause))
}
