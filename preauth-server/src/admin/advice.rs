//! The next step after a refusal, where it is known, for operators.

use crate::hold::HoldReason;
use crate::language::Text;

/// The next step after the refusal of an instance on hold, which repeating the command does not end.
pub(super) const fn on_hold(reason: HoldReason) -> Text {
    match reason {
        HoldReason::ClockOff | HoldReason::ClockJumped => Text::new(
            "set the clock of the server's machine right; `preauth-server doctor` there names what is wrong",
            "acerte o relógio da máquina do servidor; lá, `preauth-server doctor` mostra o que está errado",
        ),
        HoldReason::ForeignDatabase | HoldReason::QuietOutbound => Text::new(
            "on the server's machine, `preauth-server doctor` shows whose the database is, and after a restore `preauth-server adopt` puts it into service; a server started with --quiet-outbound only reads until it is started without",
            "na máquina do servidor, `preauth-server doctor` mostra a quem pertence o banco de dados, e depois de uma restauração `preauth-server adopt` o coloca em serviço; um servidor iniciado com --quiet-outbound só consulta até ser iniciado sem essa opção",
        ),
    }
}

/// The next step after a refusal with this code.
pub(super) fn on(code: &str) -> Option<Text> {
    let row = ADVICE.iter().find(|(known, _)| *known == code);
    row.map(|(_, advice)| *advice)
}

const ADVICE: &[(&str, Text)] = &[
    (
        "RESOURCE_NOT_FOUND",
        Text::new(
            "check the id; `company list` shows companies, and the `list` of each noun its records",
            "confira o id; `company list` mostra as empresas, e o `list` de cada comando os seus registros",
        ),
    ),
    (
        "ANTICIPATION_NOT_FOUND",
        Text::new(
            "`operation list` shows the operations",
            "`operation list` mostra as operações",
        ),
    ),
    (
        "ANTICIPATION_INVALID_TRANSITION",
        Text::new(
            "`operation show` or `payment-order show` prints its status",
            "`operation show` ou `payment-order show` mostra a situação",
        ),
    ),
    (
        "PRE_AUTH_DUPLICATE_INVOICE",
        Text::new(
            "`operation show` prints the operation that holds the invoice",
            "`operation show` mostra a operação que já usa essa nota",
        ),
    ),
    (
        "IDEMPOTENCY_KEY_REUSED",
        Text::new(
            "this key has created something else; give another --idempotency-key, or none",
            "esta chave já criou outra coisa; use outra --idempotency-key, ou nenhuma",
        ),
    ),
    (
        "IDEMPOTENCY_IN_PROGRESS",
        Text::new(
            "the first request with this key is still being processed; repeat the command",
            "a primeira requisição com esta chave ainda está em processamento; repita o comando",
        ),
    ),
    (
        "OPERATOR_FORBIDDEN",
        Text::new(
            "`operator whoami` prints the role of this token; an admin adds one of another role by `operator add`",
            "`operator whoami` mostra o papel deste token; um administrador cria outro com `operator add`",
        ),
    ),
    (
        "FOUR_EYES_REQUIRED",
        Text::new(
            "another operator must pay it, with their own token; `operation show` prints who released it",
            "outro operador deve registrar o pagamento, com o próprio token; `operation show` mostra quem liberou",
        ),
    ),
    (
        "RESPONSIBLE_USER_REFUSED",
        Text::new(
            "the user must be active, of this very company, and have both permissions; see `user set`",
            "o usuário deve estar ativo, ser desta mesma empresa e ter as duas permissões; veja `user set`",
        ),
    ),
    (
        "ENDPOINT_NOT_HEAD_OFFICE",
        Text::new(
            "name the head office; `company show` prints it",
            "indique a matriz; `company show` mostra qual é",
        ),
    ),
    (
        "ENDPOINT_URL_REFUSED",
        Text::new(
            "webhooks go to https on port 443 of a public address, without user and password",
            "webhooks vão por https para a porta 443 de um endereço público, sem usuário e senha",
        ),
    ),
    (
        "CREDIT_ANALYSIS_DUE_DATE_EXCEEDED",
        Text::new(
            "`credit show` prints what the company may offer",
            "`credit show` mostra o que a empresa pode oferecer",
        ),
    ),
    (
        "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        Text::new(
            "`credit show` prints what the company may offer",
            "`credit show` mostra o que a empresa pode oferecer",
        ),
    ),
    (
        "NOT_FOUND",
        Text::new(
            "that server has no such command; is it the platform's address, and of this version?",
            "esse servidor não tem esse comando; é o endereço da plataforma, e desta versão?",
        ),
    ),
    (
        "METHOD_NOT_ALLOWED",
        Text::new(
            "that server has no such command; is it of this version?",
            "esse servidor não tem esse comando; é desta versão?",
        ),
    ),
    (
        "SERVICE_UNAVAILABLE",
        Text::new(
            "nothing was done; try again in a moment",
            "nada foi feito; tente novamente em instantes",
        ),
    ),
    (
        "INTERNAL_ERROR",
        Text::new(
            "the server's log has the cause under the request id",
            "o log do servidor tem a causa, com o id da requisição",
        ),
    ),
];

#[cfg(test)]
mod tests {
    use super::ADVICE;
    use preauth_core::ErrorCode;

    #[test]
    fn advice_is_given_on_codes_that_exist() {
        for (code, _) in ADVICE {
            assert!(ErrorCode::parse(code).is_ok(), "{code}");
        }
    }
}
