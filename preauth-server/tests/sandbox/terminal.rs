//! Commands on the standard input of a running sandbox.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{RawCaller, due_date};

const PATIENCE: Duration = Duration::from_mins(1);

/// A sandbox with commands on its standard input, killed at the end.
struct Typed {
    process: Child,
    input: Option<ChildStdin>,
    folder: TempDir,
    ready: Value,
}

impl Typed {
    async fn start() -> Self {
        Self::start_with_locale("C", &[]).await
    }

    async fn start_with_locale(locale: &str, flags: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", locale, flags).await
    }

    /// One whose platform API is at this address.
    async fn start_at(platform: &str, locale: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = std::fs::File::create(folder.path().join("log.txt")).unwrap();
        let free = "127.0.0.1:0";
        let mut process = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
            .args(["sandbox", "--listen", free, "--platform-listen", platform])
            .args(["--ready-file".into(), folder.path().join("ready.json")])
            .args(flags)
            .env("LC_ALL", locale)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let mut typed = Self {
            process,
            input,
            folder,
            ready: Value::Null,
        };
        let path = typed.folder.path().join("ready.json");
        eventually("the sandbox is ready", || path.exists()).await;
        typed.ready = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        typed
    }

    fn text(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    fn caller(&self) -> RawCaller {
        RawCaller::new(self.text("baseUrl"), Some(self.text("apiKey")))
    }

    async fn offer(&self, number: &str) {
        let body = json!({
            "supplier": {"cnpj": self.text("supplierCnpj"), "email": "a@fornecedor.example.com"},
            "invoice": {"amount": 1000, "dueDate": due_date(60).to_string(), "number": number},
        });
        let created = self.caller().post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
    }

    /// Types a line and waits for this answer.
    async fn type_in(&mut self, line: &str, answer: &str) {
        let before = self.log().len();
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
        let printed = || self.log()[before..].to_owned();
        eventually(&format!("{line} is answered with {answer}"), || {
            printed().contains(answer)
        })
        .await;
    }

    /// Its output so far.
    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log.txt")).unwrap()
    }

    async fn ends(&mut self) {
        let wait = async {
            loop {
                if let Some(status) = self.process.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let status = tokio::time::timeout(PATIENCE, wait).await.expect("it ends");
        assert!(status.success());
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("not in time: {what}"));
}

#[tokio::test]
async fn an_operation_is_played_from_offer_to_conclusion() {
    let mut typed = Typed::start().await;
    typed.offer("NF-1").await;
    let boleto_due = due_date(90);
    for (line, answer) in [
        (
            "request 1",
            "operation 1: IN_PRE_AUTH -> TO_APPROVE, anticipation.requested goes to Construtora Exemplo S.A. at http://127.0.0.1",
        ),
        (
            "approve 1",
            "TO_APPROVE -> IN_ANALYSIS, anticipation.approved",
        ),
        (
            "release 1 950.00",
            "IN_ANALYSIS -> TO_PAY, anticipation.analysis_approved",
        ),
        ("pay 1", "TO_PAY -> TO_BILL, anticipation.paid"),
        (
            "return-payout 1",
            "TO_BILL -> TO_PAY, anticipation.payout_returned",
        ),
        ("pay 1", "TO_PAY -> TO_BILL, anticipation.paid"),
        ("bill 1", "TO_BILL -> TO_RECEIVE, anticipation.billed"),
        (
            &format!("extend 1 {boleto_due} 1010.00"),
            "TO_RECEIVE -> TO_RECEIVE, anticipation.extension_created",
        ),
        (
            "conclude-extension 1",
            "TO_RECEIVE -> TO_RECEIVE, anticipation.extension_concluded",
        ),
        ("cancel-extension 1", "operation 1 has no open extension"),
        ("show 1", "net 950.00"),
        ("show 1", "possible now: return-payout, conclude, extend"),
        (
            "conclude 1",
            "TO_RECEIVE -> CONCLUDED, anticipation.concluded",
        ),
        ("show 1", "possible now: nothing"),
        ("list", "operation 1 is CONCLUDED: NF-1, 1000"),
    ] {
        typed.type_in(line, answer).await;
    }
    let found = typed
        .caller()
        .get(&format!("{PRE_AUTHORIZATIONS}/1"))
        .await
        .json();
    assert_eq!(found["status"], "CONCLUDED");
    eventually("the receiver has verified all eleven", || {
        typed.log().matches("receiver  signature verified").count() == 11
    })
    .await;
}

#[tokio::test]
async fn the_other_endings_and_a_direct_advance_are_played_too() {
    let mut typed = Typed::start().await;
    for number in ["NF-1", "NF-2", "NF-3", "NF-4"] {
        typed.offer(number).await;
    }
    let due = due_date(60);
    for (line, answer) in [
        (
            "decline 1 sem interesse",
            "IN_PRE_AUTH -> REPROVED, pre_authorization.declined",
        ),
        ("show 1", "sem interesse"),
        (
            "withdraw 2",
            "IN_PRE_AUTH -> REPROVED, pre_authorization.revoked",
        ),
        ("request 3", "IN_PRE_AUTH -> TO_APPROVE"),
        (
            "reprove 3 company nota errada",
            "TO_APPROVE -> REPROVED, anticipation.reproved",
        ),
        ("show 3", "possible now: reopen"),
        ("reopen 3", "REPROVED -> TO_APPROVE, anticipation.reopened"),
        ("advance 31d", "31 days ahead of this machine"),
        ("now", "31 days ahead of this machine"),
        (
            &format!("direct 12500.50 {due} NF-9"),
            "operation 5 is IN_VERIFICATION, anticipation.created",
        ),
        (
            "verify 5",
            "IN_VERIFICATION -> TO_APPROVE, anticipation.requested",
        ),
    ] {
        typed.type_in(line, answer).await;
    }
    assert!(
        typed.log().contains("31 d passed at once"),
        "{}",
        typed.log()
    );
    eventually("the fourth has expired", || {
        typed
            .log()
            .contains("operation 4 is REPROVED (pre_authorization.expired)")
    })
    .await;
}

#[tokio::test]
async fn an_impossible_command_is_explained_and_changes_nothing() {
    let mut typed = Typed::start().await;
    typed.offer("NF-1").await;
    for (line, answer) in [
        (
            "pay 1",
            "refused: operation 1 is IN_PRE_AUTH, and that is possible in TO_PAY only; possible now: request, decline, cancel (by your ERP), withdraw, expire (by time)",
        ),
        ("pay 7", "there is no operation 7"),
        ("reqest 1", "did you mean request?"),
        ("pay", "type: pay ID"),
        ("advance 3", "not a time like 30s"),
        ("advance 367d", "by 366 d at most"),
        ("direct 100 2027-01-01", "not an amount of 500"),
        (
            "direct 1.200 2027-01-01",
            "without a separator of thousands",
        ),
        ("release 1 1.200", "without a separator of thousands"),
        ("cancel 1", "your ERP cancels"),
        ("help", "release ID NET-AMOUNT"),
        ("show 1", "operation 1 is IN_PRE_AUTH"),
    ] {
        typed.type_in(line, answer).await;
    }
}

#[tokio::test]
async fn the_end_of_the_input_does_not_stop_it_and_quit_does() {
    let mut typed = Typed::start().await;
    typed.type_in("now", "0 days ahead").await;
    typed.input = None;
    typed.offer("NF-1").await;
    assert!(typed.process.try_wait().unwrap().is_none());
    let mut quitting = Typed::start().await;
    writeln!(quitting.input.as_mut().unwrap(), "quit").unwrap();
    quitting.ends().await;
}

#[tokio::test]
async fn in_portuguese_every_line_is_portuguese() {
    let mut typed = Typed::start_with_locale("pt_BR.UTF-8", &[]).await;
    typed.offer("NF-1").await;
    eventually("the offer's mail is sent", || {
        typed.log().contains("e-mail    OFFER enviado: ")
    })
    .await;
    for (line, answer) in [
        (
            "solicitar 1",
            "operação 1: IN_PRE_AUTH -> TO_APPROVE, anticipation.requested vai para Construtora Exemplo S.A. em http://127.0.0.1",
        ),
        ("approve 1", "operação 1: TO_APPROVE -> IN_ANALYSIS"),
        ("mostrar 1", "possível agora: liberar, reprovar plataforma"),
        (
            "listar",
            "operação 1 em IN_ANALYSIS: NF-1, 1000.00 com vencimento em",
        ),
        (
            "pagar 1",
            "recusado: a operação 1 está em IN_ANALYSIS, e isso só é possível em TO_PAY; possível agora: liberar, reprovar plataforma",
        ),
        (
            "liberar 1 2000.00",
            "recusado (VALIDATION_ERROR): o valor líquido é zero ou maior que o valor da nota menos as retenções",
        ),
        ("mostrar 7", "a operação 7 não existe"),
        ("solictar 1", "você quis dizer solicitar?"),
        ("pagar", "digite: pagar ID"),
        ("avançar 367d", "no máximo 366 d"),
        ("avancar 3d", "3 dias à frente desta máquina"),
        ("cancelar", "quem cancela é o seu ERP"),
        ("ajuda", "liberar ID VALOR-LÍQUIDO"),
    ] {
        typed.type_in(line, answer).await;
    }
    eventually("the receiver has verified all three", || {
        typed
            .log()
            .matches("receptor  assinatura verificada")
            .count()
            == 3
    })
    .await;
    let log = typed.log();
    for printed in [
        "3. No papel do fornecedor, solicite a antecipação:",
        "situação  operação 1 em TO_APPROVE (anticipation.requested)",
        "chamada   POST /api/integration/v1/pre-authorizations -> 201",
        "entrega   pre_authorization.created tentativa 1: 204, entregue",
        "relógio   passaram 3 d de uma vez: agora é ",
    ] {
        assert!(log.contains(printed), "{printed:?} in {log}");
    }
    for english in [
        "operation",
        "receiver",
        "delivered",
        "signature",
        "supplier ",
    ] {
        let lines = log.lines().filter(|line| !line.contains("/api/"));
        let found = lines.filter(|line| line.contains(english));
        assert_eq!(found.collect::<Vec<_>>(), [""; 0], "{english}");
    }
}

#[tokio::test]
async fn the_cause_of_a_failed_delivery_is_portuguese_too() {
    let flags = ["--webhook-url", "http://127.0.0.1:1/"];
    let typed = Typed::start_with_locale("pt_BR.UTF-8", &flags).await;
    typed.offer("NF-1").await;
    eventually("the delivery fails", || {
        let line = "tentativa 1: conexão recusada, nova tentativa em ";
        typed.log().contains(line)
    })
    .await;
}

#[tokio::test]
async fn a_platform_api_that_others_reach_is_warned_of_first() {
    for (locale, word, rest) in [
        ("C", "warning: ", "the platform API answers on 0.0.0.0:"),
        (
            "pt_BR.UTF-8",
            "atenção: ",
            "a API da plataforma responde em 0.0.0.0:",
        ),
    ] {
        let open = Typed::start_at("0.0.0.0:0", locale, &[]).await.log();
        let line = open.lines().nth(2).unwrap();
        assert!(line.starts_with(&format!("{word}{rest}")), "{open}");
        let own = Typed::start_with_locale(locale, &[]).await.log();
        assert!(!own.contains(word), "{own}");
    }
}

#[tokio::test]
async fn the_option_decides_over_the_locale() {
    let typed = Typed::start_with_locale("en_US.UTF-8", &["--lang", "pt"]).await;
    assert!(typed.log().contains("Cole em um segundo terminal:"));
    let typed = Typed::start_with_locale("pt_BR.UTF-8", &["--lang", "en"]).await;
    assert!(typed.log().contains("For a second terminal:"));
}
