//! The body of a request, within a length and a time.

use std::error::Error;

use axum::body::{Body, HttpBody, to_bytes};
use http_body_util::LengthLimitError;
use hyper::StatusCode;
use hyper::body::Bytes;

use super::CLIENT_TIMEOUT;

/// Maximum length of a request body.
const BODY_MAX: usize = 64 << 10;

/// Reads a body.
///
/// # Errors
/// Status and reason if it is longer than 64 KiB, incomplete, or late.
pub async fn read_body(body: Body) -> Result<Bytes, (StatusCode, &'static str)> {
    const TOO_LONG: (StatusCode, &str) =
        (StatusCode::PAYLOAD_TOO_LARGE, "the body of the request is longer than 64 KiB");
    if body.size_hint().lower() > BODY_MAX as u64 {
        return Err(TOO_LONG);
    }
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    match tokio::time::timeout(CLIENT_TIMEOUT, to_bytes(body, BODY_MAX)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) => Err(TOO_LONG),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body of the request broke off")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body of the request did not come in time")),
    }
}
