//! The exit codes and messages that a script can rely on when a command fails.

use preauth_server::secret::{
    CHALLENGE_HEADER, Challenge, HANDSHAKE_PATH, Instance, OperatorToken, SharedKey,
};
use test_support::write_secret;
use wiremock::matchers::{any, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::operator::{COMPANY, Done, NEW_COMPANY, Operator, SUPPLIER, preauth};

const TOKEN: (&str, &str) = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");

#[tokio::test]
async fn a_refusal_exits_with_1_and_prints_code_reason_and_request_id() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let done = operator.run(&["operation", "pay", &id]);
    let possible = format!(
        "next: operation {id} is IN_PRE_AUTH; possible now: `operation request`, `operation decline`, `operation withdraw`\n"
    );
    let expected = [
        "error: ANTICIPATION_INVALID_TRANSITION (409)",
        &possible,
        "request id: ",
    ];
    done.failed(1, &expected);
    operator.run(&["operation", "decline", &id, "--yes"]);
    let closed = format!("next: operation {id} is REPROVED, where no command changes it");
    operator
        .run(&["operation", "pay", &id])
        .failed(1, &[&closed]);
    operator
        .run(&["operation", "show", "999"])
        .failed(1, &["ANTICIPATION_NOT_FOUND (404)", "operation list"]);
    let days = ["--max-term-days", "9999", "--max-invoice-amount", "0"];
    let done = operator.run(&[&["credit", "set", COMPANY], &days[..]].concat());
    done.failed(
        1,
        &[
            "VALIDATION_ERROR (400)",
            "maxTermDays: ",
            "maxInvoiceAmount: ",
        ],
    );
    operator
        .run(&["company", "show", NEW_COMPANY])
        .failed(1, &["no company has the CNPJ 45.723.001/0001-00"]);
    let create = [
        "key",
        "create",
        COMPANY,
        "--name",
        "K",
        "--scope",
        "preauth:read",
        "--user",
    ];
    operator
        .run(&[&create[..], &["nobody@azul.example.com"]].concat())
        .failed(1, &["no user of the company"]);
    operator
        .run(&[&create[..], &["caio@construtora.example.com"]].concat())
        .failed(1, &["RESPONSIBLE_USER_REFUSED (422)", "both permissions"]);
}

#[tokio::test]
async fn a_duplicate_names_the_existing_operation() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let due = test_support::due_date(60).to_string();
    let done = operator.run(&[
        "operation",
        "advance",
        "--payer",
        COMPANY,
        "--supplier",
        SUPPLIER,
        "--amount",
        "900",
        "--number",
        "NF-1",
        "--due-date",
        &due,
    ]);
    let way = format!("operation {id} already uses this invoice");
    done.failed(1, &["PRE_AUTH_DUPLICATE_INVOICE (409)", &way]);
}

#[test]
fn wrong_arguments_end_with_2_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["company", "show", "45723001000101"][..], "check digits"),
        (
            &["company", "show", "x"],
            "neither a company's id nor a CNPJ",
        ),
        (&["operation", "pay", "twelve"], "invalid value 'twelve'"),
        (
            &["operation", "release", "1", "--net-amount", "1.0050"],
            "more than two decimals",
        ),
        (
            &["operation", "list", "--from", "2026-11-28"],
            "2026-11-28T00:00:00Z",
        ),
        (
            &["log", "list", "--from", "yesterday"],
            "like 2026-11-21T13:09:47Z",
        ),
        (
            &["operation", "reprove", "1", "--by", "bank"],
            "COMPANY, PLATFORM",
        ),
        (&["operation", "explode", "1"], "unrecognized subcommand"),
        (
            &["user", "add", NEW_COMPANY, "--name", "A", "--email", "a"],
            "invalid value 'a'",
        ),
        (
            &[
                "key",
                "create",
                NEW_COMPANY,
                "--name",
                "K",
                "--user",
                "a@b.co",
            ],
            "--scope",
        ),
        (
            &["delivery", "list", NEW_COMPANY, "--event", "paid"],
            "invalid value 'paid'",
        ),
        (
            &["company", "list", "--limit", "101"],
            "101 is not in 1..=100",
        ),
        (
            &["company", "list", "--all", "--page", "2"],
            "cannot be used with",
        ),
        (&["company", "list", "--token", "x"], "unexpected argument"),
    ] {
        preauth(folder.path(), arguments, &[]).failed(2, &[expected]);
    }
}

#[test]
fn an_amount_that_can_be_read_in_two_ways_is_refused_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        "operation release 1 --net-amount",
        "operation advance --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 --due-date 2027-01-20 --amount",
        "operation advance --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 --due-date 2027-01-20 --amount 1 \
         --withheld-tax-amount",
        "credit set 45.723.001/0001-00 --max-term-days 120 --max-invoice-amount",
        "payment-order add --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 --amount",
        "extension add 1 --new-due-date 2027-03-20 --total-amount",
        "invoice receive --payer 45.723.001/0001-00 --supplier 11.444.777/0001-61 --due-date 2027-01-20 --number 1 \
         --amount",
    ] {
        let words: Vec<_> = command.split_whitespace().collect();
        for (amount, readings) in [
            (
                "1.200",
                ["write 1200.00 if `.` separates thousands", "1.20"],
            ),
            ("250.000", ["write 250000.00 if `.`", "250.00"]),
            ("250,000", ["write 250000.00 if `,`", "250.00"]),
        ] {
            let done = preauth(folder.path(), &[&words[..], &[amount]].concat(), &[]);
            done.failed(2, &["it can be read in two ways", readings[0], readings[1]]);
        }
    }
}

#[tokio::test]
async fn a_platform_that_does_not_answer_ends_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = ["--platform-url", "http://127.0.0.1:1"];
    let ask =
        |arguments: &[&str]| preauth(folder.path(), &[arguments, &nowhere].concat(), &[TOKEN]);
    ask(&["company", "list"]).failed(3, &["http://127.0.0.1:1 does not answer"]);
    // No connection was made, so nothing was changed.
    ask(&["operation", "pay", "1"]).failed(3, &["does not answer"]);
}

#[tokio::test]
async fn a_refused_token_exits_with_3_and_names_its_source() {
    let operator = Operator::start().await;
    let folder = tempfile::tempdir().unwrap();
    let url = ["--platform-url", operator.sandbox.text("platformUrl")];
    let list = [&["company", "list"], &url[..]].concat();
    let done = preauth(folder.path(), &list, &[TOKEN]);
    done.failed(
        3,
        &["refuses the operator token", "platform_token (environment)"],
    );
    write_secret(&folder.path().join("token"), "another-token-of-ours");
    let with_file = [&list[..], &["--token-file", "token"]].concat();
    let done = preauth(folder.path(), &with_file, &[TOKEN]);
    done.failed(3, &["refuses the operator token from token"]);
    assert!(!done.err.contains("another-token"), "{}", done.err);
}

#[tokio::test]
async fn the_integration_port_is_recognized() {
    let operator = Operator::start().await;
    let url = ["--platform-url", operator.sandbox.text("baseUrl")];
    let list = [&["company", "list"], &url[..]].concat();
    let done = operator.run(&list);
    done.failed(3, &["status 404", "use that of `platform_listen`"]);
    let done = operator.run(&[&list[..], &["--lang", "pt"]].concat());
    done.failed(3, &["status 404", "use o de `platform_listen`"]);
}

/// Makes the mock server prove that it holds the token, as the real one does.
async fn proves_itself(server: &MockServer) {
    let (address, instance) = (*server.address(), Instance::random());
    let answer = move |request: &Request| {
        let header = |name| request.headers.get(name).unwrap().to_str().unwrap();
        let token = OperatorToken::parse(TOKEN.1).unwrap();
        let challenge: Challenge = header(CHALLENGE_HEADER).parse().unwrap();
        let proof = challenge.answer(&SharedKey::of(&token), header("host"), address, instance);
        ResponseTemplate::new(200).set_body_json(proof.unwrap())
    };
    let handshake = Mock::given(path(HANDSHAKE_PATH)).respond_with(answer);
    handshake.mount(server).await;
}

/// Runs a command against a server that proves its token and gives `answer` to everything else.
async fn answered(arguments: &[&str], answer: ResponseTemplate) -> Done {
    let server = MockServer::start().await;
    proves_itself(&server).await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let url = ("PREAUTH_PLATFORM_URL", &*server.uri());
    let (folder, variables) = (folder.path(), [TOKEN, url]);
    // The mock server answers on this thread's runtime.
    tokio::task::block_in_place(|| preauth(folder, arguments, &variables))
}

fn error(status: u16, code: &str) -> ResponseTemplate {
    let body = format!(r#"{{"errors": [{{"code": "{code}", "message": "Mensagem"}}]}}"#);
    ResponseTemplate::new(status).set_body_raw(body, "application/json")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_can_do_nothing_now_ends_with_3() {
    let unavailable = || error(503, "SERVICE_UNAVAILABLE");
    let done = answered(&["operation", "pay", "1"], unavailable()).await;
    done.failed(3, &["SERVICE_UNAVAILABLE (503)", "nothing was done"]);
    let broken = error(500, "INTERNAL_ERROR");
    let done = answered(&["operation", "show", "1"], broken).await;
    done.failed(3, &["INTERNAL_ERROR (500)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_the_platform_exits_with_3() {
    for (status, answer) in [
        (200, ResponseTemplate::new(200).set_body_string("<html>")),
        (
            302,
            ResponseTemplate::new(302).insert_header("location", "http://elsewhere.example"),
        ),
        (404, ResponseTemplate::new(404).set_body_string("not found")),
    ] {
        let done = answered(&["company", "list"], answer).await;
        done.failed(3, &[&format!("status {status}, unlike a platform API")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_unknown_outcome_ends_with_5() {
    let broken = error(500, "INTERNAL_ERROR");
    let done = answered(&["operation", "pay", "1"], broken).await;
    done.failed(
        5,
        &["whether it was done is not known", "INTERNAL_ERROR (500)"],
    );
    let strange = ResponseTemplate::new(200).set_body_raw("{", "application/json");
    let done = answered(&["operation", "pay", "1"], strange).await;
    done.failed(
        5,
        &["it was done, but the platform's answer is not understood"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_of_the_platform_do_not_reach_the_terminal() {
    let hostile = r#"{"errors": [{"code": "X", "message": "\u001b[2Jgone"}]}"#;
    let answer = ResponseTemplate::new(409).set_body_raw(hostile, "application/json");
    let done = answered(&["operation", "pay", "1"], answer).await;
    done.failed(1, &[r"\u{1b}[2Jgone"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_of_unknown_outcome_ends_with_the_key_to_repeat_it_with() {
    let create = ["company", "add", "--cnpj", NEW_COMPANY, "--name", "Azul"];
    let create = [&create[..], &["--kind", "construction"]].concat();
    let done = answered(&create, error(500, "INTERNAL_ERROR")).await;
    done.failed(
        5,
        &["whether it was done is not known: repeat the command with --idempotency-key cli-"],
    );
    let own = [&create[..], &["--idempotency-key", "pedido-0001"]].concat();
    let done = answered(&own, error(500, "INTERNAL_ERROR")).await;
    done.failed(5, &["--idempotency-key pedido-0001"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_whose_answer_was_lost_is_sent_again_under_its_key() {
    let server = MockServer::start().await;
    proves_itself(&server).await;
    let lost = Mock::given(any()).respond_with(error(500, "INTERNAL_ERROR"));
    lost.up_to_n_times(1).mount(&server).await;
    let made = ResponseTemplate::new(201).set_body_raw(r#"{"id": 7}"#, "application/json");
    Mock::given(any()).respond_with(made).mount(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let url = ("PREAUTH_PLATFORM_URL", &*server.uri());
    let (folder, variables) = (folder.path(), [TOKEN, url]);
    let create = ["company", "add", "--cnpj", NEW_COMPANY, "--name", "Azul"];
    let create = [&create[..], &["--kind", "construction", "--json"]].concat();
    let done = tokio::task::block_in_place(|| preauth(folder, &create, &variables));
    assert_eq!(
        (done.code, done.out.trim()),
        (0, r#"{"id": 7}"#),
        "{}",
        done.err
    );
    let requests = server.received_requests().await.unwrap();
    let creates = requests.iter().filter(|it| it.url.path() != HANDSHAKE_PATH);
    let keys: Vec<_> = creates
        .map(|request| request.headers.get("idempotency-key").unwrap())
        .collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test]
async fn refusals_are_in_the_language_of_the_option_or_else_of_the_locale() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let pay = ["operation", "pay", &id];
    let english = [
        "error: ANTICIPATION_INVALID_TRANSITION (409): the operation's status does not allow",
        "next: ",
        "request id: ",
    ];
    let portuguese = [
        "erro: ANTICIPATION_INVALID_TRANSITION (409)\n  A situação da operação não permite",
        "está em IN_PRE_AUTH; possível agora: `operation request`",
        "id da requisição: ",
    ];
    let done = operator.run(&pay);
    done.failed(1, &english);
    assert!(!done.err.contains("situação"), "{}", done.err);
    let done = operator.run(&[&pay[..], &["--lang", "pt"]].concat());
    done.failed(1, &portuguese);
    assert!(!done.err.contains("status does not"), "{}", done.err);
    let in_brazil = |arguments: &[&str]| {
        let variables = [
            ("PREAUTH_PLATFORM_URL", operator.sandbox.text("platformUrl")),
            (
                "PREAUTH_PLATFORM_TOKEN",
                operator.sandbox.text("platformToken"),
            ),
            ("LC_ALL", "pt_BR.UTF-8"),
        ];
        preauth(operator.folder(), arguments, &variables)
    };
    in_brazil(&pay).failed(1, &portuguese);
    in_brazil(&[&["--lang", "en"], &pay[..]].concat()).failed(1, &english);
    in_brazil(&["company", "show", NEW_COMPANY])
        .failed(1, &["erro: nenhuma empresa tem o CNPJ 45.723.001/0001-00"]);
    in_brazil(&["operation", "decline", &id]).failed(4, &["use --yes para continuar"]);
    // Only the API's message has the problem of a field.
    let days = ["--max-term-days", "9999", "--max-invoice-amount", "0"];
    let done = operator.run(&[&["credit", "set", COMPANY], &days[..]].concat());
    let expected = ["VALIDATION_ERROR (400): fields of the request", "deve ser"];
    done.failed(1, &expected);
}
