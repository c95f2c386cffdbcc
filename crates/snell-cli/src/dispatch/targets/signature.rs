//! The signature of a request to a webhook.

use snell_server::compute_hmac;

/// The signature of a body at a time, as the header has it.
pub(super) fn sign_request(secret: &[u8], timestamp: i64, body: &str) -> String {
    format!("sha256={}", compute_hmac(secret, format!("{timestamp}.{body}").as_bytes()))
}
