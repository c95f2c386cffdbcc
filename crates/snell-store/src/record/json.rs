//! Reading back what Snell itself wrote.

use serde::de::DeserializeOwned;

/// Reads JSON of our own. A payload may be nested as deeply as an event may be, and inside something of ours it is nested
/// deeper still, so the reader's own limit does not count. How deep an event may be was seen to when it was read.
pub(crate) fn parse_stored_json<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}
