//! The documents are valid, complete, and the checked-in files are current.

use std::path::Path;

use preauth_server::http::openapi::{self, Form};
use serde_json::{Value, json};

use crate::description::{Description, Operation, members, take, validator};

const META_SCHEMA: &str = include_str!("openapi-3.1.schema.json");

const SCHEMAS: &str = "/components/schemas";
const CREATE: &str = "/paths/~1api~1integration~1v1~1pre-authorizations/post";

fn both() -> [(&'static str, Description); 2] {
    [
        ("integration", Description::integration()),
        ("platform", Description::platform()),
    ]
}

#[test]
fn the_checked_in_documents_are_those_that_are_served() {
    let texts = [
        ("integration", openapi::integration()),
        ("integration-3.0", openapi::integration_in_3_0(Form::Json)),
        (
            "integration-3.0-multipart",
            openapi::integration_in_3_0(Form::Multipart),
        ),
        ("platform", openapi::platform()),
    ];
    for (name, text) in texts {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/openapi/{name}.json"));
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "renew it: cargo run -p preauth-server -- openapi {name} > docs/openapi/{name}.json"
        );
    }
}

// Contract: version/OpenAPI
#[test]
fn the_documents_are_valid_openapi() {
    let meta: Value = serde_json::from_str(META_SCHEMA).unwrap();
    let meta = validator(&meta);
    for (name, description) in both() {
        let problems: Vec<_> = meta.iter_errors(&description.document).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
    let Description { mut document, .. } = Description::platform();
    document["paths"]["/livez"]["get"]["responses"] = Value::Null;
    assert!(!meta.is_valid(&document), "the meta-schema is looked at");
}

#[test]
fn the_3_0_document_matches_the_3_1_document_for_json() {
    let Description { mut document, .. } = Description::integration();
    let mut rendered = in_3_0(Form::Json);
    assert_eq!(rendered["openapi"], "3.0.3");
    assert!(!rendered.to_string().contains("\"null\""));
    in_words_of_3_1(&mut rendered);
    take(&mut document, SCHEMAS, "CreatePreAuthorizationForm");
    rendered["webhooks"] = rendered["x-webhooks"].take();
    for document in [&mut document, &mut rendered] {
        for named in ["openapi", "info", "x-webhooks"] {
            document.as_object_mut().unwrap().remove(named);
        }
        for path in document["paths"].as_object_mut().unwrap().values_mut() {
            for operation in path.as_object_mut().unwrap().values_mut() {
                operation.as_object_mut().unwrap().remove("security");
                if let Some(content) = operation.pointer_mut("/requestBody/content") {
                    *content = json!({ "application/json": content["application/json"] });
                }
            }
        }
    }
    assert_eq!(rendered, document);
}

#[test]
fn with_forms_the_document_in_3_0_differs_in_the_body_of_a_create_alone() {
    let (mut json, mut form) = (in_3_0(Form::Json), in_3_0(Form::Multipart));
    let bodies = [&mut json, &mut form].map(|each| take(each, CREATE, "requestBody"));
    let [offer, parts] = bodies.map(|body| {
        let contents: Vec<_> = members(&body["content"]).collect();
        assert_eq!(contents.len(), 1, "{body}");
        contents[0].1["example"].clone()
    });
    let schema = take(&mut form, SCHEMAS, "CreatePreAuthorizationForm");
    assert_eq!(form, json);
    for part in ["supplier", "invoice"] {
        assert_eq!(schema["properties"][part]["type"], "string");
        let text = parts[part].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), offer[part]);
    }
    assert_eq!(schema["properties"]["invoiceFile"]["format"], "binary");
}

fn in_3_0(form: Form) -> Value {
    serde_json::from_str(&openapi::integration_in_3_0(form)).unwrap()
}

/// Turns `nullable` into a list of two types.
fn in_words_of_3_1(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.remove("nullable").is_some() {
                members["type"] = json!([members["type"], "null"]);
            }
            members.values_mut().for_each(in_words_of_3_1);
        }
        Value::Array(elements) => elements.iter_mut().for_each(in_words_of_3_1),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_everything_named_is_used() {
    for (name, description) in both() {
        let mut found = Vec::new();
        references(&description.document, &mut found);
        for target in &found {
            assert!(description.at(target).is_some(), "{name}: {target}");
        }
        for kind in ["schemas", "responses", "headers"] {
            for (component, _) in members(&description.document["components"][kind]) {
                let target = format!("#/components/{kind}/{component}");
                // Schemas named in the envelope's prose are for readers of `data`.
                let is_data = component.ends_with("Data");
                assert!(
                    is_data || found.contains(&target),
                    "{name}: {target} is unused"
                );
            }
        }
    }
}

#[test]
fn every_operation_has_what_a_generator_makes_a_method_of() {
    for (name, description) in both() {
        let mut ids: Vec<_> = description.operations().map(Operation::id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{name}: every id is given once");
        for operation in description.operations() {
            let (id, body) = (operation.id(), operation.body);
            assert!(
                body["summary"].is_string() && body["tags"][0].is_string(),
                "{id}"
            );
            for parameter in body["parameters"].as_array().into_iter().flatten() {
                assert!(!parameter["example"].is_null(), "{id}: {parameter}");
                let validated = description.validate(&parameter["schema"], &parameter["example"]);
                assert_eq!(validated, Ok(()), "{id}: {}", parameter["name"]);
            }
            for variable in operation
                .path
                .split('/')
                .filter_map(|each| each.strip_prefix('{'))
            {
                let parameters = body["parameters"].to_string();
                let named = format!("\"name\":\"{}\"", variable.trim_end_matches('}'));
                assert!(parameters.contains(&named), "{id}: {variable}");
            }
        }
    }
}

#[test]
fn every_example_fits_its_schema() {
    for (name, description) in both() {
        let mut count = 0;
        each_content(&description.document, &mut |content| {
            let validated = description.validate(&content["schema"], &content["example"]);
            assert_eq!(validated, Ok(()), "{name}");
            count += 1_usize;
        });
        assert!(count > 10, "{name}: {count} examples");
    }
}

#[test]
fn answers_allow_new_fields_and_growing_enums_stay_open() {
    for (name, description) in both() {
        let mut requests = Vec::new();
        for operation in description.operations() {
            references(&operation.body["requestBody"], &mut requests);
        }
        let mut nested = 0;
        while nested < requests.len() {
            let target = requests[nested].clone();
            references(description.at(&target).unwrap(), &mut requests);
            nested = nested.saturating_add(1);
        }
        for (schema, value) in members(&description.document["components"]["schemas"]) {
            let target = format!("#/components/schemas/{schema}");
            let text = value.to_string();
            assert!(
                !text.contains("oneOf") && !text.contains("const\""),
                "{name}: {schema}"
            );
            if requests.contains(&target) {
                continue;
            }
            assert!(!text.contains("\"enum\""), "{name}: {schema} is closed");
            let objects = text.matches("\"properties\"").count();
            let open = text.matches("\"additionalProperties\":true").count();
            assert!(
                open >= objects && open > 0,
                "{name}: {schema} refuses what is new"
            );
        }
    }
}

#[test]
fn no_field_has_a_default_because_generators_take_it_for_required() {
    for (name, description) in both() {
        let mut fields = 0;
        each_field(&description.document, &mut |field, schema| {
            assert_eq!(schema.get("default"), None, "{name}: {field}");
            fields += 1_usize;
        });
        assert!(fields > 50, "{name}: {fields} fields");
    }
}

fn each_field(value: &Value, look: &mut impl FnMut(&str, &Value)) {
    for (name, schema) in members(&value["properties"]) {
        look(name, schema);
    }
    match value {
        Value::Object(members) => members.values().for_each(|each| each_field(each, look)),
        Value::Array(elements) => elements.iter().for_each(|each| each_field(each, look)),
        _ => {}
    }
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(target) = members.get("$ref").and_then(Value::as_str)
                && !found.iter().any(|each| each == target)
            {
                found.push(target.to_owned());
            }
            members.values().for_each(|each| references(each, found));
        }
        Value::Array(elements) => elements.iter().for_each(|each| references(each, found)),
        _ => {}
    }
}

fn each_content(value: &Value, look: &mut impl FnMut(&Value)) {
    for (name, member) in members(value) {
        if name == "content" {
            members(member).for_each(|(_, content)| look(content));
        } else {
            each_content(member, look);
        }
    }
}
