//! One run of a command: the platform that it calls, and the format of its output.

use std::collections::HashSet;

use preauth_core::value::{CompanyId, UserId};
use serde::Deserialize;
use serde_json::Value;

use super::Failure;
use super::call::Call;
use super::client::{Answer, Client};
use super::company_ref::CompanyRef;
use super::options::Options;
use super::output::{self, Field, Screen, View};
use super::paging::{MAX_LIMIT, Page, Pagination, Paging};
use super::question::{confirm, somebody_can_answer};
use super::user_ref::UserRef;

/// The platform that a command calls, and the format of its output.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    screen: Screen,
    json: bool,
    yes: bool,
}

impl Session {
    /// Finds the platform.
    pub(super) fn open(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            client: Client::new(options.place.find()?)?,
            screen: Screen::of_stdout(),
            json: options.json,
            yes: options.yes,
        })
    }

    /// Prints the record in the platform's answer.
    pub(super) async fn show(&self, call: Call, view: &View) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        if self.json {
            return print(answer.text);
        }
        print(view.render(&answer.json()?, self.screen))
    }

    /// The same, and prints the text that `remark` returns for the record to standard error.
    pub(super) async fn show_and_remark(
        &self,
        call: Call,
        view: &View,
        remark: impl FnOnce(&Value) -> Option<&'static str>,
    ) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        let record = answer.json()?;
        let remark = remark(&record);
        if self.json {
            print(answer.text)?;
        } else {
            print(view.render(&record, self.screen))?;
        }
        if let Some(remark) = remark {
            output::remark(remark)?;
        }
        Ok(())
    }

    /// The record in the platform's answer.
    pub(super) async fn ask(&self, call: Call) -> Result<Value, Failure> {
        self.client.send(&call).await?.json()
    }

    /// The bytes of the platform's answer.
    pub(super) async fn download(&self, call: Call) -> Result<Vec<u8>, Failure> {
        self.client.download(&call).await
    }

    /// Prints a part of a record that was requested before.
    pub(super) fn show_part(&self, part: &Value, view: &View) -> Result<(), Failure> {
        if self.json {
            return print(part.to_string());
        }
        print(view.render(part, self.screen))
    }

    /// Executes a call without a body in its answer, and prints `sentence`.
    pub(super) async fn end(&self, call: Call, sentence: &str) -> Result<(), Failure> {
        self.client.send(&call).await?;
        // Every script gets one JSON value.
        let text = if self.json { "{}" } else { sentence };
        print(text.to_owned())
    }

    /// Prints a list, or the requested part of it.
    pub(super) async fn list(
        &self,
        call: Call,
        paging: &Paging,
        columns: &[Field],
    ) -> Result<(), Failure> {
        let (first, limit) = paging.first();
        let answer = self.page(&call, first, limit).await?;
        if self.json && !paging.all {
            return print(answer.text);
        }
        let Page { data, pagination } = answer.parse()?;
        let mut items = data;
        if paging.all {
            for page in 2..=pagination.of {
                let answer = self.page(&call, page, limit).await?;
                items.extend(answer.parse::<Page>()?.data);
            }
            // Records added in the meantime move others to the next page, where they appear again.
            let mut seen = HashSet::new();
            items.retain(|item| seen.insert(identity(item.get())));
        }
        if self.json {
            let all: Vec<_> = items.iter().map(|item| item.get()).collect();
            return print(format!(r#"{{"data":[{}]}}"#, all.join(",")));
        }
        let rows: Result<Vec<Value>, _> = items
            .iter()
            .map(|item| serde_json::from_str(item.get()))
            .collect();
        let rows = rows.map_err(Failure::NotUnderstood)?;
        let mut text = output::table(columns, &rows, self.screen);
        text.push_str(&rest(pagination, paging));
        print(text)
    }

    /// Prints the results from all companies; `hasMore` means that there are more.
    pub(super) async fn show_found(&self, call: Call, columns: &[Field]) -> Result<(), Failure> {
        let answer = self.client.send(&call).await?;
        let found = answer.json()?;
        if self.json {
            return print(answer.text);
        }
        let rows = found.get("data").and_then(Value::as_array);
        let rows = rows.map_or(&[][..], Vec::as_slice);
        print(output::table(columns, rows, self.screen))?;
        if found.get("hasMore") == Some(&Value::Bool(true)) {
            output::remark("there are more; a longer beginning finds fewer")?;
        }
        Ok(())
    }

    async fn page(&self, call: &Call, page: u64, limit: u32) -> Result<Answer, Failure> {
        let call = call.clone().query("page", Some(page));
        self.client.send(&call.query("limit", Some(limit))).await
    }

    /// Asks for confirmation of an irreversible command. The question is preceded by the record
    /// that `subject` returns, so that the operator sees what is concerned; with `--yes` there is
    /// no question.
    pub(super) async fn confirm(
        &self,
        subject: Call,
        question: impl FnOnce(&Value) -> String,
    ) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        somebody_can_answer()?;
        let subject = self.client.send(&subject).await?.json()?;
        confirm(&question(&subject))
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
            let Page { data, pagination } = answer.parse()?;
            let users: Result<Vec<User>, _> = data
                .iter()
                .map(|user| serde_json::from_str(user.get()))
                .collect();
            let users = users.map_err(Failure::NotUnderstood)?;
            let mut users = users.into_iter();
            if let Some(found) = users.find(|user| user.email.eq_ignore_ascii_case(email)) {
                return UserId::parse(&found.id).map_err(|_| Failure::NoUser(email.to_owned()));
            }
            pages = page.saturating_add(1)..=pagination.of;
        }
        Err(Failure::NoUser(email.to_owned()))
    }

    /// The id of a company.
    pub(super) async fn company(&self, company: &CompanyRef) -> Result<CompanyId, Failure> {
        let cnpj = match company {
            CompanyRef::Id(id) => return Ok(*id),
            CompanyRef::Cnpj(cnpj) => cnpj,
        };
        let answer = self
            .client
            .send(&Call::get("companies").query("cnpj", Some(cnpj)))
            .await?;
        let found = answer.json()?;
        let id = found.pointer("/data/0/id").and_then(Value::as_str);
        let id = id.and_then(|id| CompanyId::parse(id).ok());
        id.ok_or_else(|| Failure::NoCompany(cnpj.masked()))
    }
}

fn print(text: String) -> Result<(), Failure> {
    Ok(output::print(text)?)
}

/// The fields needed to find a user.
#[derive(Deserialize)]
struct User {
    id: String,
    email: String,
}

/// The identity of a list's item: its id, or else the whole item.
fn identity(item: &str) -> String {
    let value: Value = serde_json::from_str(item).unwrap_or_default();
    value
        .get("id")
        .map_or_else(|| item.to_owned(), Value::to_string)
}

fn rest(Pagination { page, total, of }: Pagination, paging: &Paging) -> String {
    if paging.all || of < 2 {
        return String::new();
    }
    format!("page {page} of {of}, {total} in all; --page N or --all shows more\n")
}
