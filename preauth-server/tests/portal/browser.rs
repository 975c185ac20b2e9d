//! A browser without scripts that follows no redirect on its own.

use std::collections::BTreeMap;
use std::net::IpAddr;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method};
use test_support::Sandbox;

pub(crate) const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Requests to the supplier's pages.
#[derive(Clone)]
pub(crate) struct Browser {
    http: Client,
    base: String,
}

/// A page, read to its end.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) html: String,
}

impl Browser {
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        Self::at(sandbox.text("portalUrl"))
    }

    pub(crate) fn at(base: &str) -> Self {
        Self::built(Client::builder(), base)
    }

    /// Another program on another machine.
    pub(crate) fn elsewhere(base: &str, address: IpAddr, program: &str) -> Self {
        let http = Client::builder().local_address(address);
        Self::built(http.user_agent(program), base)
    }

    fn built(http: ClientBuilder, base: &str) -> Self {
        let http = http.no_proxy().redirect(Policy::none());
        Self {
            http: http.build().unwrap(),
            base: base.to_owned(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        self.send(Method::GET, path, &[], "").await
    }

    /// Sends a form, as it is written in a body.
    pub(crate) async fn post(&self, path: &str, form: &str) -> Page {
        self.send(Method::POST, path, &[FORM], form).await
    }

    /// Sends a form, and opens the page that it leads to.
    pub(crate) async fn submit(&self, path: &str, form: &str) -> Page {
        let answer = self.post(path, form).await;
        assert_eq!(answer.status, 303, "{}", answer.html);
        self.get(&answer.headers["location"]).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Page {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.body(body.to_owned()).send().await.unwrap();
        let headers = answer.headers().iter();
        let headers = headers.map(|(name, value)| {
            let value = value.to_str().unwrap().to_owned();
            (name.as_str().to_owned(), value)
        });
        Page {
            status: answer.status().as_u16(),
            headers: headers.collect(),
            html: answer.text().await.unwrap(),
        }
    }
}

impl Page {
    /// Asserts its status, and that it shows all of these texts.
    #[track_caller]
    pub(crate) fn assert_shows(&self, status: u16, texts: &[&str]) {
        assert_eq!(self.status, status, "{}", self.html);
        let html = self.html.replace('\u{a0}', " ");
        for text in texts {
            assert!(html.contains(text), "{text} in {html}");
        }
    }
}
