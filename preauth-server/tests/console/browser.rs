//! A browser without scripts: it keeps cookies, sends forms with their tokens, and follows nothing by itself.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use test_support::{Answer, Sandbox};

/// A browser at a sandbox, in which the first administrator has signed in.
pub(crate) async fn browser(sandbox: &Sandbox) -> Browser {
    Browser::signed_in(sandbox.text("platformUrl"), sandbox.text("platformToken")).await
}

/// A browser at one server.
#[derive(Clone)]
pub(crate) struct Browser {
    http: Client,
    pub(crate) url: String,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) language: &'static str,
}

impl Browser {
    pub(crate) fn at(url: &str) -> Self {
        let http = Client::builder().no_proxy().redirect(Policy::none());
        Self {
            http: http.build().unwrap(),
            url: url.to_owned(),
            cookies: BTreeMap::new(),
            language: "en",
        }
    }

    /// The same browser with its cookies, at another server.
    pub(crate) fn elsewhere(&self, url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..self.clone()
        }
    }

    /// A browser that has signed in with this token.
    pub(crate) async fn signed_in(url: &str, token: &str) -> Self {
        let mut browser = Self::at(url);
        let answer = browser.sign_in(token).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser
    }

    pub(crate) async fn sign_in(&mut self, token: &str) -> Answer {
        let fields = [("token", token), ("next", "/console")];
        let origin = self.url.clone();
        self.post_from(&origin, "/console/sign-in", &fields).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], None).await
    }

    /// The text of a page that exists.
    pub(crate) async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.text
    }

    /// Opens the form at this path, fills it in and sends it.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = self.page(path).await;
        self.submit_again(&form, path, fields).await
    }

    /// Sends a form that was opened before.
    pub(crate) async fn submit_again(
        &mut self,
        form: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let names = ["form_token", "once", "version"];
        let hidden = names.map(|name| (name, hidden(form, name)));
        let mut all: Vec<_> = hidden
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        all.extend_from_slice(fields);
        let origin = self.url.clone();
        self.post_from(&origin, path, &all).await
    }

    /// A form as a page of this origin sends it.
    pub(crate) async fn post_from(
        &mut self,
        origin: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        self.post_with(&[("origin", origin)], path, fields).await
    }

    pub(crate) async fn post_with(
        &mut self,
        headers: &[(&str, &str)],
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs = fields.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
            .collect();
        let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
        all.extend_from_slice(headers);
        self.send(Method::POST, path, &all, Some(pairs.join("&")))
            .await
    }

    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        let pairs = self.cookies.iter();
        let cookies: Vec<_> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        request = request.header("accept-language", self.language);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let answer = request.send().await.unwrap();
        for set in answer.headers().get_all("set-cookie") {
            let set = set.to_str().unwrap();
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            if set.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer {
            status,
            headers,
            text: answer.text().await.unwrap(),
        }
    }
}

/// The value of a hidden field of the page's last form.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let field = format!("name=\"{name}\" value=\"");
    let start = page.rfind(&field).map(|at| at + field.len());
    let rest = start.map(|start| &page[start..]).unwrap_or_default();
    rest.split('"').next().unwrap().to_owned()
}
