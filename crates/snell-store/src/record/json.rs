//! Parses Snell's own JSON.

use serde::de::DeserializeOwned;

/// Parses Snell's own JSON, without a limit on nesting. The depth of an event was checked when it was read, and records
/// nest it deeper.
pub(crate) fn parse_stored_json<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}
