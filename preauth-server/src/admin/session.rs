//! One run of a command: the platform that it calls, and the format of its output.

use std::collections::HashSet;

use preauth_core::value::{CompanyId, OperatorId, UserId};
use preauth_core::wire::Pagination;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Failure;
use super::call::Call;
use super::client::{Answer, Client};
use super::company_ref::CompanyRef;
use super::discovery::Server;
use super::operator_ref::OperatorRef;
use super::options::Options;
use super::output::{self, Field, Screen, View};
use super::paging::{MAX_LIMIT, Paging};
use super::question::{confirm, require_answerer};
use super::user_ref::UserRef;
use super::words;
use crate::http::json_text;
use crate::http::platform::Listed;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::operators::OperatorShape;
use crate::http::platform::users::User;
use crate::language::{Language, Text, texts};
use crate::printable::printable;
use crate::stdout;

texts! {
    rest(page: u64, of: u64, total: u64) {
        en: "page {page} of {of}, {total} in all; --page N or --all shows more",
        pt: "página {page} de {of}, {total} no total; --page N ou --all mostra mais",
    }
}

/// The platform that a command calls, and the format of its output.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    screen: Screen,
    json: bool,
    yes: bool,
}

impl Session {
    /// Finds the platform. A sandbox that nothing named is named here: a user who meant another server
    /// sees it.
    pub(super) fn open(options: &Options, language: Language) -> Result<Self, Failure> {
        let mut place = options.place.find()?;
        let found = place.found_sandbox.take();
        let session = Self {
            client: Client::new(place)?,
            screen: Screen::of_stdout(language),
            json: options.json,
            yes: options.yes,
        };
        if let Some(Server { url, data, .. }) = found {
            let data = data.display().to_string();
            session.report(|language| words::found_sandbox(language, &url, &data))?;
        }
        Ok(session)
    }

    /// The language of its texts.
    pub(super) const fn language(&self) -> Language {
        self.screen.language
    }

    /// Prints the record in the platform's answer.
    pub(super) async fn show<T: DeserializeOwned>(
        &self,
        call: Call,
        view: &View<T>,
    ) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        if self.json {
            return print(&answer.text);
        }
        print(&view.render(&answer.parse()?, self.screen))
    }

    /// The same, and prints the text that `note` returns for the record to standard error.
    pub(super) async fn show_with_note<T: DeserializeOwned>(
        &self,
        call: Call,
        view: &View<T>,
        note: impl FnOnce(&T) -> Option<Text>,
    ) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        let record = answer.parse()?;
        let note = note(&record);
        if self.json {
            print(&answer.text)?;
        } else {
            print(&view.render(&record, self.screen))?;
        }
        if let Some(note) = note {
            let language = self.screen.language;
            output::print_note(note.of(language), language)?;
        }
        Ok(())
    }

    /// The record in the platform's answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, Failure> {
        self.client.send(&call).await?.parse()
    }

    /// The bytes of the platform's answer.
    pub(super) async fn download(&self, call: Call) -> Result<Vec<u8>, Failure> {
        self.client.download(&call).await
    }

    /// Prints the platform's answer as it is.
    pub(super) async fn print_answer(&self, call: Call) -> Result<(), Failure> {
        print(&self.client.send(&call).await?.text)
    }

    /// Prints a note to standard error, for people.
    pub(super) fn note(&self, note: Text) -> Result<(), Failure> {
        self.report(|language| note.of(language).to_owned())
    }

    /// Prints a line to standard error, for people.
    pub(super) fn report(&self, line: impl FnOnce(Language) -> String) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let language = self.screen.language;
        Ok(output::print_note(&line(language), language)?)
    }

    /// Prints a part of a record that was requested before.
    pub(super) fn show_part<T: Serialize>(&self, part: &T, view: &View<T>) -> Result<(), Failure> {
        if self.json {
            return print(&json_text(part));
        }
        print(&view.render(part, self.screen))
    }

    /// Prints a record that was requested before, for people as a table.
    pub(super) fn show_rows<A: Serialize, T>(
        &self,
        record: &A,
        rows: &[T],
        columns: &[Field<T>],
    ) -> Result<(), Failure> {
        if self.json {
            return print(&json_text(record));
        }
        print(&output::table(columns, rows, self.screen))
    }

    /// Prints rows that were requested before as a CSV file.
    pub(super) fn print_csv<T>(&self, rows: &[T], columns: &[Field<T>]) -> Result<(), Failure> {
        print(&output::csv(columns, rows, self.screen.language))
    }

    /// Executes a call without a body in its answer, and prints `sentence`.
    pub(super) async fn end(&self, call: Call, sentence: Text) -> Result<(), Failure> {
        self.client.send(&call).await?;
        // Every script gets one JSON value.
        let sentence = sentence.of(self.screen.language);
        let text = if self.json { "{}" } else { sentence };
        print(text)
    }

    /// Prints a list, or the requested part of it.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        call: Call,
        paging: &Paging,
        columns: &[Field<T>],
    ) -> Result<(), Failure> {
        let (first, limit) = paging.first();
        let answer = self.page(&call, first, limit).await?;
        if self.json && !paging.all {
            return print(&answer.text);
        }
        let Listed {
            data,
            pagination,
            has_older,
        } = answer.parse::<Items>()?;
        let mut items = data;
        if paging.all {
            for page in 2..=pagination.total_pages {
                let answer = self.page(&call, page, limit).await?;
                items.extend(answer.parse::<Items>()?.data);
            }
            // Records added in the meantime move others to the next page, where they appear again.
            let mut seen = HashSet::new();
            items.retain(|item| seen.insert(identity(item)));
        }
        let older = has_older.then_some(OLDER);
        if self.json {
            let all: Vec<_> = items.iter().map(|item| item.get()).collect();
            let older = older.map_or("", |_| r#","hasOlder":true"#);
            return print(&format!(r#"{{"data":[{}]{older}}}"#, all.join(",")));
        }
        let rows: Result<Vec<T>, _> = items
            .iter()
            .map(|item| serde_json::from_str(item.get()))
            .collect();
        let rows = rows.map_err(Failure::NotUnderstood)?;
        if paging.csv {
            print(&output::csv(columns, &rows, self.screen.language))?;
            // Not in the file, which programs read.
            return older.map_or(Ok(()), |older| self.note(older));
        }
        let mut text = output::table(columns, &rows, self.screen);
        text.push_str(&self.rest(&pagination, paging));
        if let Some(older) = older {
            text.push_str(older.of(self.screen.language));
            text.push('\n');
        }
        print(&text)
    }

    /// Prints the rows of an answer that has no pages, and a note when there are more.
    pub(super) async fn show_found<A: DeserializeOwned, T>(
        &self,
        call: Call,
        columns: &[Field<T>],
        found: impl FnOnce(A) -> (Vec<T>, Option<Text>),
    ) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        if self.json {
            return print(&answer.text);
        }
        let (rows, note) = found(answer.parse()?);
        print(&output::table(columns, &rows, self.screen))?;
        if let Some(note) = note {
            let language = self.screen.language;
            output::print_note(note.of(language), language)?;
        }
        Ok(())
    }

    async fn page(&self, call: &Call, page: u64, limit: u32) -> Result<Answer, Failure> {
        let call = call.clone().query("page", Some(page));
        self.client.send(&call.query("limit", Some(limit))).await
    }

    /// Asks for confirmation of an irreversible command. The question is preceded by the record
    /// that `subject` returns, so that the operator sees what is concerned; with `--yes` there is
    /// no question. Returns the record that was seen.
    pub(super) async fn confirm<T: DeserializeOwned>(
        &self,
        subject: Call,
        question: impl FnOnce(Language, &T) -> String,
    ) -> Result<Option<T>, Failure> {
        if !self.asks() {
            return Ok(None);
        }
        require_answerer()?;
        let subject = self.ask(subject).await?;
        self.confirm_found(|language| question(language, &subject))?;
        Ok(Some(subject))
    }

    /// Whether irreversible commands ask for confirmation.
    pub(super) const fn asks(&self) -> bool {
        !self.yes
    }

    /// Asks about what was requested before.
    pub(super) fn confirm_found(
        &self,
        question: impl FnOnce(Language) -> String,
    ) -> Result<(), Failure> {
        let language = self.screen.language;
        confirm(&question(language), language)
    }

    /// The id of a user of `company`.
    pub(super) async fn user(&self, company: CompanyId, user: &UserRef) -> Result<UserId, Failure> {
        let email = match user {
            UserRef::Id(id) => return Ok(*id),
            UserRef::Email(email) => email.as_str(),
        };
        let call = Call::get(format!("companies/{company}/users"));
        let mut pages = 1..=1;
        while let Some(page) = pages.next() {
            let answer = self.page(&call, page, MAX_LIMIT).await?;
            let users: Listed<User> = answer.parse()?;
            let is_meant = |user: &&User| user.email.as_str().eq_ignore_ascii_case(email);
            if let Some(found) = users.data.iter().find(is_meant) {
                return Ok(found.id);
            }
            pages = page.saturating_add(1)..=users.pagination.total_pages;
        }
        Err(Failure::NoUser(email.to_owned()))
    }

    /// The id of an operator.
    pub(super) async fn operator(&self, operator: &OperatorRef) -> Result<OperatorId, Failure> {
        let name = match operator {
            OperatorRef::Id(id) => return Ok(*id),
            OperatorRef::Name(name) => name.as_str(),
        };
        let call = Call::get("operators");
        let mut pages = 1..=1;
        while let Some(page) = pages.next() {
            let answer = self.page(&call, page, MAX_LIMIT).await?;
            let operators: Listed<OperatorShape> = answer.parse()?;
            let is_meant = |operator: &&OperatorShape| operator.name.as_str() == name;
            if let Some(found) = operators.data.iter().find(is_meant) {
                return Ok(found.id);
            }
            pages = page.saturating_add(1)..=operators.pagination.total_pages;
        }
        Err(Failure::NoOperator(printable(name)))
    }

    /// The id of a company.
    pub(super) async fn company(&self, company: &CompanyRef) -> Result<CompanyId, Failure> {
        let cnpj = match company {
            CompanyRef::Id(id) => return Ok(*id),
            CompanyRef::Cnpj(cnpj) => cnpj,
        };
        let call = Call::get("companies").query("cnpj", Some(cnpj));
        let found: Listed<CompanyShape> = self.ask(call).await?;
        let company = found.data.first();
        company
            .map(|company| company.id)
            .ok_or_else(|| Failure::NoCompany(cnpj.masked()))
    }

    /// How to see the other pages, if there are any.
    fn rest(&self, pagination: &Pagination, paging: &Paging) -> String {
        let Pagination {
            page,
            total,
            total_pages,
            ..
        } = *pagination;
        if paging.all || total_pages < 2 {
            return String::new();
        }
        rest(self.screen.language, page, total_pages, total) + "\n"
    }
}

const OLDER: Text = Text::new(
    "these are the newest; older ones match, too: narrow the search to see them",
    "estes são os mais recentes; há mais antigos: restrinja a busca para vê-los",
);

/// The records of a page, unchanged.
type Items = Listed<Box<RawValue>>;

fn print(text: &str) -> Result<(), Failure> {
    Ok(stdout::print(text)?)
}

/// The id of an item of a list, if it has one.
#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// The identity of a list's item: its id, or else the whole item.
fn identity(item: &RawValue) -> String {
    let identified = serde_json::from_str::<Identified<'_>>(item.get());
    let id = identified.ok().and_then(|item| item.id);
    id.unwrap_or(item).get().to_owned()
}
