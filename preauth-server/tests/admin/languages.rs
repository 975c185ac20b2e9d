//! Commands print in the chosen language; JSON is the same in each.

use crate::operator::{COMPANY, Operator, preauth, value};

impl Operator {
    fn in_portuguese(&self, arguments: &[&str]) -> String {
        self.stdout(&[arguments, &["--lang", "pt"]].concat())
    }
}

#[tokio::test]
async fn titles_of_records_and_columns_are_in_the_language() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    let shown = operator.in_portuguese(&["operation", "show", &id]);
    for (title, expected) in [
        ("operação", id.as_str()),
        ("situação", "IN_PRE_AUTH"),
        ("nota", "NF-1"),
        ("valor", "12500.50"),
        ("retenções", "0.00"),
        ("motivo do encerramento", "-"),
    ] {
        assert_eq!(value(&shown, title), expected, "{title}");
    }
    assert!(
        shown.contains("\nHistórico\nDATA E HORA  ") && shown.contains("  CHAVE  "),
        "{shown}"
    );
    let listed = operator.in_portuguese(&["operation", "list"]);
    let titles: Vec<_> = listed.lines().next().unwrap().split("  ").collect();
    let titles: Vec<_> = titles.iter().map(|title| title.trim()).collect();
    for title in ["ID", "SITUAÇÃO", "EMPRESA PAGADORA", "NOTA", "VENCIMENTO"] {
        assert!(titles.contains(&title), "{title} in {listed}");
    }
    let none = operator.in_portuguese(&["operation", "list", "--status", "to_pay"]);
    assert_eq!(none, "nenhum registro\n");
    let users = operator.in_portuguese(&["user", "list", COMPANY, "--all"]);
    assert!(
        users.contains("  sim  ") && users.contains("  não  "),
        "{users}"
    );
}

#[tokio::test]
async fn outcomes_remarks_and_pages_are_in_the_language() {
    let operator = Operator::start().await;
    for number in ["NF-1", "NF-2"] {
        operator.offer(number).await;
    }
    let page = ["operation", "list", "--limit", "1"];
    let (english, portuguese) = (operator.stdout(&page), operator.in_portuguese(&page));
    assert_eq!(
        english.lines().last(),
        Some("page 1 of 2, 2 in all; --page N or --all shows more")
    );
    assert_eq!(
        portuguese.lines().last(),
        Some("página 1 de 2, 2 no total; --page N ou --all mostra mais")
    );
    let rotated = operator.in_portuguese(&["endpoint", "rotate", COMPANY, "--yes"]);
    let warning = "\nO segredo de assinatura aparece só desta vez; guarde-o agora, não há como exibi-lo de novo:\nwhsec_";
    assert!(rotated.contains(warning), "{rotated}");
    let deleted = operator.in_portuguese(&["endpoint", "delete", COMPANY, "--yes"]);
    assert_eq!(deleted, "o endpoint foi excluído\n");

    let mut create = vec!["key", "create", COMPANY, "--name", "ERP 2"];
    let user = "ana@construtora.example.com";
    create.extend(["--user", user, "--scope", "preauth:read"]);
    create.extend(["--idempotency-key", "chave-0001", "--lang", "pt"]);
    let created = operator.stdout(&create);
    assert!(
        created.contains("A chave aparece só desta vez"),
        "{created}"
    );
    let again = operator.run(&create);
    assert!(
        again
            .err
            .starts_with("observação: esta chave já tinha sido criada"),
        "{}",
        again.err
    );
}

#[tokio::test]
async fn json_is_the_same_in_every_language() {
    let operator = Operator::start().await;
    let id = operator.offer("NF-1").await;
    for command in [
        &["operation", "show", &id][..],
        &["operation", "list", "--all"],
        &["company", "show", COMPANY],
        &["endpoint", "show", COMPANY],
        &["delivery", "list", COMPANY, "--event", "webhook.test"],
        &["key", "find", "service_sk_0000"],
        &["master-key", "show"],
    ] {
        let json = [command, &["--json"]].concat();
        assert_eq!(
            operator.in_portuguese(&json),
            operator.stdout(&json),
            "{command:?}"
        );
    }
    let delete = ["endpoint", "delete", COMPANY, "--yes", "--json"];
    assert_eq!(operator.in_portuguese(&delete), "{}\n");
}

#[tokio::test]
async fn usage_errors_of_the_administration_are_in_the_language() {
    let operator = Operator::start().await;
    let output = operator.folder().join("nota.pdf");
    std::fs::write(&output, "").unwrap();
    let save = [
        "operation",
        "file",
        "1",
        "--output",
        output.to_str().unwrap(),
    ];
    let taken = operator.run(&[&save[..], &["--lang", "pt"]].concat());
    taken.failed(2, &["já existe, e nada é sobrescrito"]);
    let find = operator.run(&["key", "find", "hunter2", "--lang", "pt"]);
    find.failed(2, &["erro: não é uma chave nem o início de uma"]);
}

#[test]
fn refusals_before_a_server_is_known_are_in_the_language() {
    let folder = tempfile::tempdir().unwrap();
    let listen = preauth(folder.path(), &["listen", "--lang", "pt"], &[]);
    listen.failed(1, &["erro: falta o segredo de assinatura"]);
    let listen = preauth(folder.path(), &["listen"], &[]);
    listen.failed(1, &["error: no signing secret; give --secret-file"]);
}
