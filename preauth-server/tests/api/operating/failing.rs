//! Gauges of deliveries while a webhook fails for hours.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::travel::advance;
use test_support::{Backend, Sandbox, offer_body, on_each_database};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::exposition::Exposition;
use super::server::{scrape, scrape_until};

on_each_database! { gauges_show_a_failing_webhook_for_hours }

const HOUR: u32 = 3_600;

async fn gauges_show_a_failing_webhook_for_hours(backend: Backend) {
    let receiver = MockServer::start().await;
    let failing = Mock::given(any()).respond_with(ResponseTemplate::new(500));
    failing.mount(&receiver).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.uri()).await;
    let body = offer_body(&sandbox, "NF-1");
    let caller = sandbox.caller("apiKey");
    let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let retried = |scraped: &Exposition| {
        let attempts = "preauth_delivery_attempts_total";
        scraped.value(attempts, &[("outcome", "retried")])
    };
    scrape_until(&sandbox, |scraped| retried(scraped) >= 1.0).await;
    for hours in 1..=3 {
        advance(&sandbox, HOUR.into()).await;
        // It is tried again, in vain: the gauges stand before, during and after the attempt.
        let times = f64::from(hours + 1);
        let tried = scrape_until(&sandbox, |scraped| retried(scraped) >= times).await;
        let scraped = scrape(&sandbox).await;
        for scraped in [tried, scraped] {
            let retrying = scraped.value("preauth_deliveries_retrying", &[]);
            assert!(retrying >= 1.0, "{retrying} after {hours} h");
            let age = scraped.value("preauth_deliveries_oldest_retrying_age_seconds", &[]);
            assert!(age >= f64::from(hours * HOUR), "{age} after {hours} h");
        }
    }
    let scraped = scrape(&sandbox).await;
    assert!(
        scraped.has_line("preauth_endpoints_failing 1"),
        "{}",
        scraped.text
    );
}
