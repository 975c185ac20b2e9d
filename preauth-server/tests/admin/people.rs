//! Companies, users, keys, credit, block lists.

use serde_json::json;

use crate::operator::{COMPANY, NEW_COMPANY, Operator, value};

fn add_company(operator: &Operator) -> String {
    operator.stdout(&[
        "company",
        "add",
        "--cnpj",
        NEW_COMPANY,
        "--name",
        "Construtora Azul S.A.",
        "--kind",
        "construction",
    ])
}

#[tokio::test]
async fn companies_are_added_shown_and_listed() {
    let operator = Operator::start().await;
    let added = add_company(&operator);
    assert_eq!(value(&added, "CNPJ"), NEW_COMPANY);
    assert_eq!(value(&added, "kind"), "CONSTRUCTION");
    let id = value(&added, "id");
    assert_eq!(operator.stdout(&["company", "show", NEW_COMPANY]), added);
    let shown = operator.json(&["company", "show", id]);
    assert_eq!(shown["cnpj"], "45723001000100");

    let branch = [
        "company",
        "add",
        "--cnpj",
        "45723001000283",
        "--name",
        "Filial",
    ];
    let head_office = ["--kind", "CONSTRUCTION", "--head-office", NEW_COMPANY];
    let branch = operator.json(&[&branch[..], &head_office].concat());
    assert_eq!(branch["headOfficeId"], id);

    let listed = operator.stdout(&["company", "list"]);
    let mut lines = listed.lines();
    let titles: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(titles, ["ID", "CNPJ", "KIND", "NAME"]);
    assert!(lines.next().unwrap().ends_with("Filial"), "{listed}");
    let second = lines.next().unwrap();
    assert!(
        second.starts_with(id) && second.ends_with("Construtora Azul S.A."),
        "{listed}"
    );
    assert_eq!(operator.json(&["company", "list"])["data"][1]["id"], id);
}

#[tokio::test]
async fn a_list_is_shown_by_pages_or_whole() {
    let operator = Operator::start().await;
    let all = operator.json(&["company", "list", "--all"]);
    let all = all["data"].as_array().unwrap();
    let total = all.len();
    assert!(total > 3, "{all:?}");
    let page = operator.json(&["company", "list", "--limit", "2", "--page", "2"]);
    assert_eq!(page["data"], json!(all[2..4]));
    assert_eq!(page["pagination"]["total"], total);
    let page = operator.stdout(&["company", "list", "--limit", "2"]);
    let footer = format!(
        "page 1 of {}, {total} in all; --page N or --all shows more",
        total.div_ceil(2)
    );
    assert_eq!(page.lines().last(), Some(footer.as_str()));
    let whole = operator.stdout(&["company", "list", "--all"]);
    assert_eq!(whole.lines().count(), total + 1, "{whole}");
}

#[tokio::test]
async fn users_are_added_changed_and_listed() {
    let operator = Operator::start().await;
    let add = [
        "user",
        "add",
        COMPANY,
        "--name",
        "Davi",
        "--email",
        "davi@azul.example.com",
    ];
    let added = operator.stdout(&[&add[..], &["--permission", "request_advances"]].concat());
    assert_eq!(value(&added, "permissions"), "REQUEST_ADVANCES");
    assert_eq!(value(&added, "active"), "yes");
    let id = value(&added, "id");

    let changed = operator.json(&["user", "set", id, "--deactivate", "--name", "Davi Reis"]);
    assert_eq!(changed["active"], false);
    assert_eq!(changed["name"], "Davi Reis");
    assert_eq!(
        changed["permissions"],
        json!(["REQUEST_ADVANCES"]),
        "left as it was"
    );
    let bare = operator.stdout(&["user", "set", id, "--activate", "--no-permissions"]);
    assert_eq!(value(&bare, "permissions"), "-");
    assert_eq!(operator.stdout(&["user", "show", id]), bare);
    operator
        .run(&["user", "set", id])
        .failed(2, &["required arguments"]);

    let listed = operator.stdout(&["user", "list", COMPANY]);
    assert!(listed.lines().nth(1).unwrap().starts_with(id), "{listed}");
    assert_eq!(
        operator.json(&["user", "list", COMPANY])["data"][0]["id"],
        id
    );
}

#[tokio::test]
async fn a_key_is_shown_once_alone_on_its_line_and_revoked() {
    let operator = Operator::start().await;
    let create = [
        "key",
        "create",
        COMPANY,
        "--name",
        "ERP 2",
        "--user",
        "ANA@construtora.example.com",
        "--scope",
        "preauth:read,preauth:write",
        "--validity-days",
        "30",
    ];
    let created = operator.stdout(&create);
    let key = created.lines().last().unwrap();
    assert!(
        key.starts_with("service_sk_") && !key.contains(' '),
        "{created}"
    );
    assert!(created.contains("The key is shown this once"), "{created}");
    let id = value(&created, "id");
    let shown = operator.stdout(&["key", "show", id]);
    assert_eq!(value(&shown, "state"), "ACTIVE");
    assert!(!shown.contains(key), "{shown}");
    assert!(
        operator.json(&create)["key"]
            .as_str()
            .unwrap()
            .starts_with("service_sk_")
    );

    let once = [&create[..], &["--idempotency-key", "chave-0001"]].concat();
    let made = operator.json(&once);
    let again = operator.run(&[&once[..], &["--json"]].concat());
    assert_eq!(again.code, 0);
    assert!(
        again.err.contains("revoke it and create another"),
        "{}",
        again.err
    );
    let mut without = made;
    without.as_object_mut().unwrap().remove("key");
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again, without);

    assert_eq!(
        operator.stdout(&["key", "revoke", id, "--yes"]),
        "the key is revoked\n"
    );
    let listed = operator.stdout(&["key", "list", COMPANY]);
    let row = listed.lines().find(|line| line.starts_with(id)).unwrap();
    assert!(row.contains("REVOKED"), "{listed}");
    let other = operator.json(&["key", "list", COMPANY])["data"][0]["id"].clone();
    let revoked = operator.json(&["key", "revoke", other.as_str().unwrap(), "--yes"]);
    assert_eq!(revoked, json!({}));
}

#[tokio::test]
async fn a_leaked_key_is_found_by_its_beginning_or_whole_on_standard_input() {
    let operator = Operator::start().await;
    let key = operator.sandbox.text("apiKey").to_owned();
    let shown = operator.json(&["key", "find", &key[..15]])["data"][0].clone();
    assert_eq!(shown["company"]["cnpj"], "11222333000181");
    let found = operator.stdout(&["key", "find", &format!("{}...", &key[..15])]);
    let id = shown["id"].as_str().unwrap();
    let row = found.lines().find(|line| line.starts_with(id)).unwrap();
    assert!(row.contains("ACTIVE") && row.contains(COMPANY), "{found}");
    let whole = operator.run_with_input(&["key", "find"], &format!("Bearer {key}\n"));
    assert_eq!((whole.code, whole.err.as_str()), (0, ""));
    assert!(
        whole.out.contains(id) && !whole.out.contains(&key[..20]),
        "{}",
        whole.out
    );
    operator
        .run(&["key", "find", "ab12"])
        .failed(2, &["service_sk_"]);
}

#[tokio::test]
async fn the_branches_of_a_head_office_are_listed() {
    let operator = Operator::start().await;
    let head_office = operator.sandbox.text("companyCnpj").to_owned();
    let branch = operator.sandbox.text("branchCnpj").to_owned();
    let id = value(&operator.stdout(&["company", "show", &branch]), "id").to_owned();
    let branches = operator.stdout(&["company", "branches", &head_office]);
    let lines: Vec<_> = branches.lines().collect();
    assert_eq!(lines.len(), 2, "{branches}");
    assert!(lines[1].starts_with(&id), "{branches}");
    operator
        .run(&["company", "branches", &branch])
        .failed(1, &["RESOURCE_CONFLICT"]);
}

#[tokio::test]
async fn an_invited_supplier_is_shown_registered_and_renamed() {
    let operator = Operator::start().await;
    let erp = operator.sandbox.caller("apiKey");
    let mut offer = test_support::offer_body(&operator.sandbox, "NF-1");
    offer["supplier"]["cnpj"] = json!("33444555000181");
    offer["supplier"]["name"] = json!("Fornecedora Certa");
    offer["supplier"]["contactName"] = json!("Bruno Lima");
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    let offered = erp.post_json(path, &offer).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let invited = operator.stdout(&["company", "show", "33444555000181"]);
    assert_eq!(
        (value(&invited, "name"), value(&invited, "registered")),
        ("-", "no")
    );
    let invitations = operator.stdout(&["company", "invitations", "33444555000181"]);
    let line = invitations.lines().nth(1).unwrap();
    for part in ["Fornecedora Certa", "Bruno Lima"] {
        assert!(line.contains(part), "{invitations}");
    }
    operator
        .run(&["company", "rename", "33444555000181", "Outra"])
        .failed(1, &["33444555000181"]);
    let add = [
        "company",
        "add",
        "--cnpj",
        "33444555000181",
        "--kind",
        "supplier",
    ];
    let registered = operator.stdout(&[&add[..], &["--name", "Registrada"]].concat());
    assert_eq!(value(&registered, "registered"), "yes");
    let renamed = operator.stdout(&["company", "rename", "33444555000181", "Corrigida Ltda."]);
    assert_eq!(value(&renamed, "name"), "Corrigida Ltda.");
    assert_eq!(
        operator.stdout(&["company", "show", "33444555000181"]),
        renamed
    );
}

#[tokio::test]
async fn a_company_is_suspended_for_a_reason_and_resumed() {
    let operator = Operator::start().await;
    let suspended = operator.stdout(&["company", "suspend", COMPANY, "--reason", "key leaked"]);
    assert_eq!(value(&suspended, "reason"), "key leaked");
    assert_eq!(operator.stdout(&["company", "show", COMPANY]), suspended);
    let listed = operator.sandbox.caller("apiKey");
    let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
    assert_eq!(listed.get(path).await.code(), "RBAC_FORBIDDEN");
    let resumed = operator.stdout(&["company", "resume", COMPANY]);
    assert_eq!(value(&resumed, "suspended"), "-");
    assert_eq!(listed.get(path).await.status, 200);
    operator
        .run(&["company", "suspend", COMPANY])
        .failed(2, &["--reason"]);
}

#[tokio::test]
async fn credit_and_block_list_are_set_and_shown() {
    let operator = Operator::start().await;
    let set = [
        "credit",
        "set",
        COMPANY,
        "--max-term-days",
        "120",
        "--max-invoice-amount",
        "250000.5",
    ];
    let credit = operator.stdout(&set);
    assert_eq!(value(&credit, "longest term, days"), "120");
    assert_eq!(value(&credit, "greatest invoice"), "250000.50");
    assert_eq!(operator.stdout(&["credit", "show", COMPANY]), credit);
    assert_eq!(
        operator.json(&["credit", "show", COMPANY])["maxInvoiceAmount"],
        250_000.5
    );

    let blocked = operator.stdout(&["supplier", "block", COMPANY, "12.abc.345/01de-35"]);
    assert_eq!(value(&blocked, "blocked"), "12.ABC.345/01DE-35");
    let listed = operator.json(&["supplier", "list", COMPANY]);
    assert_eq!(listed["pagination"]["total"], 2);
    let unblock = ["supplier", "unblock", COMPANY, "12ABC34501DE35"];
    assert_eq!(operator.stdout(&unblock), "the supplier is not blocked\n");
    let listed = operator.stdout(&["supplier", "list", COMPANY]);
    assert_eq!(listed, "CNPJ\n98.765.432/0001-98\n");
}
