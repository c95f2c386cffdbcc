//! Reads the secrets of targets.

use snell::SecretSource;

use crate::env::read_variable;
use crate::record::http_delivery::load_token;

/// The secret. The error does not contain it.
pub(crate) fn read_secret(source: &SecretSource) -> Result<String, String> {
    match source {
        SecretSource::File(path) => load_token(path).map_err(|error| error.to_string()),
        SecretSource::Variable(name) => read_variable(name).ok_or_else(|| format!("the variable {name} is not set")),
        SecretSource::Inline(secret) => Ok(secret.clone()),
    }
}
