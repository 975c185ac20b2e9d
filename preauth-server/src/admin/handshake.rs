//! The bearer token for a server, once it has proven that it holds the operator token.
//!
//! With a certificate for the name that the operator gave, it is the operator token itself. Over
//! plain HTTP it never is: it is derived from a handshake, and only one process of the server
//! accepts it.

use std::time::Duration;

use reqwest::{Client, StatusCode};

use super::failure::{Failure, Unproven};
use super::place::Place;
use crate::secret::{CHALLENGE_HEADER, Challenge, HANDSHAKE_PATH, OperatorToken, Proof};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_PROOF_BYTES: usize = 4096;

pub(super) async fn run(http: &Client, place: &Place) -> Result<OperatorToken, Failure> {
    if place.url.is_certified() {
        return Ok(place.token.clone());
    }
    let host = place.url.host();
    let challenge = Challenge::new(&place.token, &host);
    let request = http
        .get(place.url.beside(HANDSHAKE_PATH))
        .timeout(TIMEOUT)
        .header(CHALLENGE_HEADER, challenge.to_string());
    let unreachable = |cause: reqwest::Error| Failure::Unreachable {
        url: place.url.as_str().to_owned(),
        cause: cause.without_url(),
    };
    let mut response = request.send().await.map_err(unreachable)?;
    if response.status() == StatusCode::UNAUTHORIZED {
        return Err(Failure::TokenRefused {
            url: place.url.as_str().to_owned(),
            source_name: place.token_source.clone(),
        });
    }
    let unproven = |why| Failure::Unproven {
        url: place.url.as_str().to_owned(),
        source_name: place.token_source.clone(),
        why,
    };
    if response.status() != StatusCode::OK {
        let status = response.status().as_u16();
        return Err(unproven(Unproven::Status(status)));
    }
    let peer = response.remote_addr();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if chunk.len() > MAX_PROOF_BYTES.saturating_sub(body.len()) {
            return Err(unproven(Unproven::NoProof));
        }
        body.extend_from_slice(&chunk);
    }
    let proof = serde_json::from_slice::<Proof>(&body).map_err(|_| unproven(Unproven::NoProof))?;
    let session = challenge.session(&place.token, &host, &proof);
    let session = session.ok_or_else(|| unproven(Unproven::NoProof))?;
    if !place.may_be_elsewhere && peer != Some(proof.address) {
        return Err(unproven(Unproven::Elsewhere));
    }
    Ok(session)
}
