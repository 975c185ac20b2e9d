//! Each listener accepts its own credential only.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::platform::{PREFIX, routes};
use reqwest::Method;
use test_support::{Backend, Home, RawCaller, Server, on_each_database};

use crate::bad_input::filled;
use crate::routes::CLOCK;
use crate::scene::Scene;

on_each_database! {
    an_integration_key_gets_nothing_from_the_private_listener,
    the_operator_token_gets_nothing_from_the_public_listener,
    no_route_answers_without_the_operator_token,
    token_guesses_are_limited_and_the_valid_token_is_not,
}

const TOKEN: &str = "operator-token-of-the-tests";

/// More guesses than an address may make in a minute.
const GUESSES: usize = 601;

async fn an_integration_key_gets_nothing_from_the_private_listener(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    let before = scene.operation(id).await;
    let (url, key) = (
        scene.sandbox.text("platformUrl"),
        scene.sandbox.text("apiKey"),
    );
    let erp = RawCaller::new(url, Some(key));
    for (method, path) in routes() {
        let path = filled(&scene, &path).await;
        let method: Method = method.parse().unwrap();
        let answer = erp.send(method.clone(), &path, &[], None).await;
        assert_eq!(answer.status, 401, "{method} {path}");
    }
    // The routes of the other API do not exist here.
    let path = format!("{PRE_AUTHORIZATIONS}/{id}");
    for caller in [&erp, &scene.platform] {
        assert_eq!(
            caller.get(&path).await.refusal(),
            (404, "NOT_FOUND".to_owned())
        );
    }
    assert_eq!(scene.operation(id).await, before);
}

// Contract: authentication/made-in-the-platform
async fn the_operator_token_gets_nothing_from_the_public_listener(backend: Backend) {
    let scene = Scene::new(backend).await;
    let id = scene.offer("NF-1").await;
    let before = scene.operation(id).await;
    let (url, token) = (
        scene.sandbox.text("baseUrl"),
        scene.sandbox.text("platformToken"),
    );
    let operator = RawCaller::new(url, Some(token));
    let one = format!("{PRE_AUTHORIZATIONS}/{id}");
    let invalid = (401, "API_KEY_INVALID".to_owned());
    assert_eq!(operator.get(PRE_AUTHORIZATIONS).await.refusal(), invalid);
    assert_eq!(operator.get(&one).await.refusal(), invalid);
    assert_eq!(
        operator.post(&format!("{one}/cancel")).await.refusal(),
        invalid
    );
    let created = operator.post_text(PRE_AUTHORIZATIONS, &[], "{}").await;
    assert_eq!(created.refusal(), invalid);
    for (method, path) in routes() {
        let path = filled(&scene, &path).await;
        let method: Method = method.parse().unwrap();
        let answer = operator.send(method.clone(), &path, &[], None).await;
        assert_eq!(answer.status, 404, "{method} {path}");
    }
    assert_eq!(scene.operation(id).await, before);
}

// Contract: error-code-of-ours/PLATFORM_TOKEN_INVALID
async fn no_route_answers_without_the_operator_token(backend: Backend) {
    let scene = Scene::new(backend).await;
    scene.offer("NF-1").await;
    let (url, token) = (
        scene.sandbox.text("platformUrl"),
        scene.sandbox.text("platformToken"),
    );
    let nobody = RawCaller::new(url, None);
    let (right, wrong) = (&*format!("Bearer {token}"), &*format!("Bearer {token}x"));
    let nowhere = [
        ("GET".to_owned(), format!("{PREFIX}/nowhere")),
        ("PATCH".to_owned(), format!("{PREFIX}/companies")),
        ("POST".to_owned(), format!("{PREFIX}{CLOCK}")),
    ];
    for (method, path) in routes().into_iter().chain(nowhere) {
        let path = filled(&scene, &path).await;
        let method: Method = method.parse().unwrap();
        for credentials in [
            &[][..],
            &[wrong],
            &[right, right],
            &[right, wrong],
            &[token],
        ] {
            let headers: Vec<_> = credentials
                .iter()
                .map(|credential| ("authorization", *credential))
                .collect();
            let answer = nobody.send(method.clone(), &path, &headers, None).await;
            assert_eq!(answer.status, 401, "{method} {path} {}", credentials.len());
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            if method != Method::HEAD {
                assert_eq!(answer.code(), "PLATFORM_TOKEN_INVALID", "{method} {path}");
            }
        }
    }
}

async fn token_guesses_are_limited_and_the_valid_token_is_not(backend: Backend) {
    let home = Home::new(backend).await;
    let served = Server::start_in(home, TOKEN).await;
    let path = format!("{PREFIX}/companies");
    let guesser = RawCaller::new(&served.platform_url, Some("operator-token-that-is-wrong"));
    let operator = RawCaller::new(&served.platform_url, Some(TOKEN));
    let mut last = guesser.get(&path).await;
    for _ in 1..GUESSES {
        assert_eq!(last.refusal(), (401, "PLATFORM_TOKEN_INVALID".to_owned()));
        last = guesser.get(&path).await;
        if last.status == 429 {
            break;
        }
    }
    assert_eq!(last.refusal(), (429, "RATE_LIMITED".to_owned()));
    let wait: u32 = last.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    // Also on unknown paths.
    let nowhere = guesser.get(&format!("{PREFIX}/nowhere")).await;
    assert_eq!(nowhere.status, 429);
    assert_eq!(operator.get(&path).await.status, 200);
}
