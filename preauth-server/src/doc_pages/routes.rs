//! `platform-api.md`, in both languages: every route of the platform API, from its description.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Translation, check, table};

#[test]
fn the_page_of_the_platform_api_lists_every_route() {
    let document: Value = serde_json::from_str(&crate::http::openapi::platform()).unwrap();
    let page = "platform-api.pt.md";
    let translation = Translation::of(page);
    let (mut text, mut translated) = (String::new(), String::new());
    for tag in document["tags"].as_array().unwrap() {
        let name = tag["name"].as_str().unwrap();
        let about = tag["description"].as_str().unwrap();
        let head = ["request", "what it does", "operation", "role"];
        let rows = table(head, routes(&document, name));
        writeln!(text, "## {name}\n\n{about}\n\n{rows}").unwrap();

        let anchor = format!("<a id=\"{name}\"></a>");
        let heading = translation.heading(&anchor);
        let head = ["requisição", "o que faz", "`operationId`", "papel"];
        let rows = routes(&document, name).map(|[request, _, id, role]| {
            let summary = translation.cell(&request, 1);
            [request, summary, id, role]
        });
        let rows = table(head, rows);
        writeln!(translated, "{anchor}\n\n{heading}\n\n{rows}").unwrap();
    }
    check("platform-api.md", "routes", &text);
    check(page, "routes", &translated);
}

/// Request, summary, id and minimum role of every operation with this tag.
fn routes<'a>(document: &'a Value, tag: &'a str) -> impl Iterator<Item = [String; 4]> + 'a {
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (path, method, operation))
    });
    operations
        .filter(move |(_, _, operation)| operation["tags"][0] == tag)
        .map(|(path, method, operation)| {
            let text = |field: &str| operation[field].as_str().unwrap_or_default().to_owned();
            [
                format!("`{} {path}`", method.to_uppercase()),
                text("summary"),
                text("operationId"),
                text("x-minimum-role"),
            ]
        })
}
