use preauth_client::value::{Money, OperationId};
use preauth_client::wire::Open;
use preauth_client::{ErrorCode, ErrorKind, ListFilter, NewPreAuthorization};
use preauth_server::testing::TestServer;

use crate::{client, client_once, key, offer};

/// Codes of the platform API, which the integration API never answers.
const ELSEWHERE: [ErrorCode; 9] = [
    ErrorCode::ResourceNotFound,
    ErrorCode::ResourceConflict,
    ErrorCode::ResponsibleUserRefused,
    ErrorCode::EndpointNotHeadOffice,
    ErrorCode::SupplierNotRegistered,
    ErrorCode::EndpointUrlRefused,
    ErrorCode::PlatformTokenInvalid,
    ErrorCode::OperatorForbidden,
    ErrorCode::FourEyesRequired,
];

#[tokio::test]
async fn every_code_of_the_service_is_known_and_comes_with_status_message_and_request_id() {
    let server = TestServer::start().unwrap();
    let client = client_once(&server, server.api_key());
    for code in ErrorCode::ALL {
        if ELSEWHERE.contains(code) {
            continue;
        }
        let magic = format!("sandbox:{}", code.as_str());
        let error = client.create(&offer(&server, &magic)).await.unwrap_err();
        assert_eq!(error.code(), Some(&Open::Known(*code)));
        assert_eq!(error.kind(), ErrorKind::Api);
        assert!(error.message().is_some() && error.raw().is_some());
        let request_id = error.request_id().unwrap();
        let shown = error.to_string();
        for part in [
            code.as_str(),
            request_id,
            &error.status().unwrap().to_string(),
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        let passes = matches!(error.status(), Some(408 | 429 | 500..=504))
            || *code == ErrorCode::IdempotencyInProgress;
        assert_eq!(error.is_retryable(), passes, "{shown}");
    }
}

#[tokio::test]
async fn keys_without_permission_get_the_reason() {
    let server = TestServer::start().unwrap();
    let keys = server.credentials();
    for (api_key, code) in [
        (&keys.expired_api_key, ErrorCode::ApiKeyExpired),
        (&keys.revoked_api_key, ErrorCode::ApiKeyRevoked),
        (
            &keys.write_only_api_key,
            ErrorCode::IntegrationScopeForbidden,
        ),
        (
            &keys.forbidden_user_api_key,
            ErrorCode::IntegrationResponsibleForbidden,
        ),
    ] {
        let error = client_once(&server, api_key).list(&ListFilter::new()).await;
        assert_eq!(error.unwrap_err().code(), Some(&Open::Known(code)));
    }
    let branch = client_once(&server, &keys.branch_api_key);
    let error = branch.create(&offer(&server, "NF-1")).await.unwrap_err();
    assert_eq!(
        error.code(),
        Some(&Open::Known(ErrorCode::PreAuthOnlyConstrutora))
    );
}

#[tokio::test]
async fn every_problem_of_an_offer_has_its_field() {
    let server = TestServer::start().unwrap();
    let offer = NewPreAuthorization::new(
        server.credentials().supplier_cnpj.parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::parse("499.99").unwrap(),
        server.days_ahead(60),
        "NF-1".parse().unwrap(),
    );
    let error = client(&server).create(&offer).await.unwrap_err();
    assert_eq!(error.code(), Some(&Open::Known(ErrorCode::ValidationError)));
    let fields: Vec<_> = error.problems().map(|problem| problem.field).collect();
    assert_eq!(fields, [Some("invoice.amount")]);
    assert!(error.to_string().contains(" invoice.amount "), "{error}");
}

#[tokio::test]
async fn a_key_that_was_used_for_something_else_is_never_tried_again() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let first = offer(&server, "NF-1").idempotency_key(key("erp:once"));
    client.create(&first).await.unwrap();
    let other = offer(&server, "NF-2").idempotency_key(key("erp:once"));
    let error = client.create(&other).await.unwrap_err();
    assert_eq!(
        error.code(),
        Some(&Open::Known(ErrorCode::IdempotencyKeyReused))
    );
    assert_eq!(error.attempts(), 1);
}

#[tokio::test]
async fn an_id_that_nothing_has_is_not_found() {
    let server = TestServer::start().unwrap();
    let nothing = OperationId::new(i64::MAX).unwrap();
    let client = client(&server);
    for error in [
        client.get(nothing).await.unwrap_err(),
        client.cancel(nothing).await.unwrap_err(),
    ] {
        assert_eq!(
            error.code(),
            Some(&Open::Known(ErrorCode::AnticipationNotFound))
        );
    }
}
