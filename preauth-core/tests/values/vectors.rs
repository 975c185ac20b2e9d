//! Tax ids and e-mails against the shared vectors.

use preauth_core::value::{Cnpj, Email};

/// The fields of a line. Quotes surround a field that holds quotes, which are then doubled.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => {
                fields.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(character),
        }
    }
    fields
}

// Contract: create-body/supplier.cnpj
#[test]
fn every_tax_id_of_the_vectors_is_validated_and_normalized_as_listed() {
    for line in include_str!("../vectors/cnpj.csv").lines().skip(1) {
        let fields = fields(line);
        let found = Cnpj::parse(&fields[0]).ok().map(|cnpj| cnpj.to_string());
        let expected = (fields[1] == "true").then(|| fields[2].clone());
        assert_eq!(found, expected, "{line}");
    }
}

// Contract: create-body/supplier.email
#[test]
fn every_email_of_the_vectors_is_validated_as_listed() {
    for line in include_str!("../vectors/email.csv").lines().skip(1) {
        let fields = fields(line);
        let found = Email::parse(&fields[0]);
        assert_eq!(found.is_ok(), fields[1] == "true", "{line}: {found:?}");
    }
}
