//! Compares an answer with its row, and with the form that every answer has.

use serde_json::Value;
use test_support::Answer;

use super::row::Row;

/// Texts that would reveal how the service is implemented.
const INSIDES: [&str; 8] = [
    "SELECT", "INSERT", "sqlx", "sqlite", "postgres", ".rs", "panicked", "serde",
];
/// English words that no Portuguese sentence contains.
const ENGLISH: [&str; 6] = [" must ", " is ", " the ", "invalid ", "expected", "error"];

/// All defects of the answer to a row.
pub(super) fn complaints(row: &Row, answer: Option<&Answer>) -> Vec<String> {
    let Some(answer) = answer else {
        return vec!["no answer".to_owned()];
    };
    let mut words = row.answer.splitn(3, ' ');
    let status: u16 = words.next().unwrap().parse().unwrap();
    let (code, fields) = (words.next(), words.next());
    let mut wrong = Vec::new();
    let mut claim = |holds: bool, complaint: &str| {
        if !holds {
            wrong.push(format!(
                "{complaint}, in {} {:?}",
                answer.status,
                shortened(&answer.text)
            ));
        }
    };
    claim(answer.status == status, &format!("not {status}"));
    if code == Some("(empty)") {
        claim(answer.text.is_empty(), "not empty");
        return wrong;
    }
    claim(answer.header("x-request-id").len() == 36, "no request id");
    let media_type = answer.header("content-type");
    claim(media_type.starts_with("application/json"), "not JSON");
    claim(
        INSIDES.iter().all(|inside| !answer.text.contains(inside)),
        "it reveals the implementation",
    );
    claim(
        answer.header("server").is_empty(),
        "it names the server software",
    );
    if let Some(code) = code {
        claim(answer.code() == code, &format!("not {code}"));
        claim(is_error_body(answer, fields), "not in the error shape");
    }
    if let Some(fields) = fields {
        let expected: Vec<_> = fields.split(',').collect();
        claim(answer.fields() == expected, &format!("not about {fields}"));
    }
    if let Some(text) = &row.holds {
        claim(
            answer.text.contains(text.as_str()),
            &format!("without {text}"),
        );
    }
    claim(
        (status == 401) == (answer.header("www-authenticate") == "Bearer"),
        "Bearer is asked for with 401 only",
    );
    claim(
        (status == 405) != answer.header("allow").is_empty(),
        "Allow stands with 405 only",
    );
    let tells_window = !["401", "404 NOT_FOUND", "405", "400 BAD_REQUEST", "414"]
        .iter()
        .any(|it| row.answer.starts_with(it));
    if row.has_valid_key() && tells_window {
        claim(
            answer
                .header("x-ratelimit-remaining")
                .parse::<u64>()
                .is_ok(),
            "without the window",
        );
    }
    wrong
}

/// Whether the body has only `errors`, each with a code and a Portuguese sentence, and, if fields
/// are reported, one of `details` for each.
fn is_error_body(answer: &Answer, fields: Option<&str>) -> bool {
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let Some(members) = body.as_object() else {
        return false;
    };
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let details = body["details"].as_array().map_or(0, Vec::len);
    members
        .keys()
        .all(|key| key == "errors" || key == "details")
        && !errors.is_empty()
        && errors.iter().all(is_error)
        && (fields.is_none() || details == errors.len())
}

fn is_error(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    error.as_object().is_some_and(|it| it.len() == 2)
        && error["code"].is_string()
        && message.ends_with('.')
        && ENGLISH.iter().all(|word| !message.contains(word))
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}
