//! What browsers, search engines and other sites may do with a page.

use reqwest::Method;
use test_support::{Backend, Sandbox};

use crate::browser::Browser;
use crate::scene::Scene;

#[tokio::test]
async fn no_page_is_kept_found_framed_or_named_to_others() {
    let scene = Scene::new(Backend::Sqlite).await;
    for (method, path, status) in [
        (Method::GET, scene.page.clone(), 200),
        (Method::GET, scene.path("solicitar"), 200),
        (Method::GET, scene.path("nao-receber"), 200),
        (Method::POST, scene.path("recusar"), 400),
        (Method::GET, "/".to_owned(), 200),
        (Method::GET, "/oferta/1".to_owned(), 404),
        (Method::GET, "/nowhere".to_owned(), 404),
        (Method::GET, format!("{}/", scene.page), 404),
        (Method::DELETE, scene.page.clone(), 405),
    ] {
        let page = scene.browser.send(method, &path, &[], "").await;
        assert_eq!(page.status, status, "{path}");
        let header = |name: &str| page.headers.get(name).map_or("", String::as_str);
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'"
        );
        for (name, value) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("x-robots-tag", "noindex, nofollow"),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("content-type", "text/html; charset=utf-8"),
        ] {
            assert_eq!(header(name), value, "{path} {name}");
        }
        assert!(!page.headers.contains_key("set-cookie"), "{path}");
        for markup in ["<script", "style=", "onclick", "http://", "https://"] {
            assert!(!page.html.contains(markup), "{path}: {markup}");
        }
    }
}

#[tokio::test]
async fn head_answers_like_get() {
    let scene = Scene::new(Backend::Sqlite).await;
    for path in [scene.page.as_str(), "/oferta/1", "/"] {
        let read = scene.browser.get(path).await;
        let head = scene.browser.send(Method::HEAD, path, &[], "").await;
        assert_eq!((head.status, head.html.as_str()), (read.status, ""));
        let length = read.html.len().to_string();
        assert_eq!(head.headers["content-length"], length, "{path}");
    }
}

#[tokio::test]
async fn crawlers_are_sent_away_and_the_style_sheet_is_kept() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let browser = Browser::of(&sandbox);
    let robots = browser.get("/robots.txt").await;
    robots.assert_shows(200, &["User-agent: *\nDisallow: /\n"]);
    assert_eq!(browser.get("/favicon.ico").await.status, 204);
    let home = browser.get("/").await;
    let style = home.html.split("href=\"/portal-").nth(1).unwrap();
    let style = format!("/portal-{}", style.split('"').next().unwrap());
    let style = browser.get(&style).await;
    assert_eq!(style.status, 200);
    assert_eq!(style.headers["content-type"], "text/css; charset=utf-8");
    assert!(style.headers["cache-control"].contains("immutable"));
}
