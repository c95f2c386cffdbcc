//! A page of a list: at most the requested number of items, fewer if they are long. It reads and writes a few items at
//! a time, so that it reads little that does not fit.

use std::fmt::Display;

use axum::response::Response;
use serde::Serialize;
use snell_store::Result;

use crate::http::routes::response_with_type;

/// The longest page. The first item is always included.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Items per read.
const ITEMS_PER_READ: u32 = 16;

/// The JSON text of a page that is being written.
#[derive(Debug)]
pub(crate) struct JsonPage {
    text: Vec<u8>,
    items: u32,
    limit: u32,
}

impl JsonPage {
    pub(crate) fn new(limit: u32) -> Self {
        Self { text: b"{\"items\":[".to_vec(), items: 0, limit }
    }

    /// Adds an item if it fits.
    pub(crate) fn try_push(&mut self, item: &impl Serialize) -> bool {
        if self.items == self.limit {
            return false;
        }
        let before = self.text.len();
        if self.items > 0 {
            self.text.push(b',');
        }
        // These values have only string keys and finite numbers, so writing cannot fail.
        let _ = serde_json::to_writer(&mut self.text, item);
        if self.items > 0 && self.text.len() > MAX_BYTES {
            self.text.truncate(before);
            return false;
        }
        self.items += 1;
        true
    }

    /// The whole page. `next` is the value of `before` for the next page; none if this is the last one.
    pub(crate) fn finish(mut self, next: Option<impl Display>) -> Self {
        let next = next.map(|next| next.to_string());
        self.text.extend_from_slice(b"],\"next\":");
        let _ = serde_json::to_writer(&mut self.text, &next);
        self.text.push(b'}');
        self
    }

    pub(crate) fn into_response(self) -> Response {
        response_with_type("application/json", self.text)
    }
}

/// Writes a page of at most `limit` items after a position. `read` returns items after a position, and `place` returns
/// the position of an item.
pub(crate) fn write_page<T: Serialize, P: Copy + Display>(
    limit: u32,
    mut after: Option<P>,
    place: impl Fn(&T) -> P,
    mut read: impl FnMut(Option<P>, u32) -> Result<Vec<T>>,
) -> Result<JsonPage> {
    let mut page = JsonPage::new(limit);
    loop {
        // One more than fits, to see whether there is a next page.
        let wanted = (limit - page.items + 1).min(ITEMS_PER_READ);
        let found = read(after, wanted)?;
        for item in &found {
            if !page.try_push(item) {
                return Ok(page.finish(after));
            }
            after = Some(place(item));
        }
        if found.len() < wanted as usize {
            return Ok(page.finish(None::<P>));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A page of numbers from `newest` down to 1, each with a text of `bytes` bytes.
    fn write_number_page(newest: i64, bytes: usize, limit: u32, before: Option<i64>) -> (usize, Value, usize) {
        let text = "x".repeat(bytes);
        let mut most_at_once = 0;
        let page = write_page(
            limit,
            before,
            |item: &(i64, &str)| item.0,
            |before, limit| {
                let first = before.unwrap_or(newest + 1);
                let found: Vec<_> = (1..first).rev().take(limit as usize).map(|id| (id, text.as_str())).collect();
                most_at_once = most_at_once.max(found.len());
                Ok(found)
            },
        );
        let page: Value = serde_json::from_slice(&page.unwrap().text).unwrap();
        (page["items"].as_array().unwrap().len(), page["next"].clone(), most_at_once)
    }

    #[test]
    fn a_page_ends_at_its_limit_or_size_and_names_the_next_one() {
        let mib = 1024 * 1024;
        let cases = [
            (0, 1, 2, None, 0, json!(null)),
            (2, 1, 2, None, 2, json!(null)),
            (3, 1, 2, None, 2, json!("2")),
            (3, 1, 2, Some(2), 1, json!(null)),
            (600, 1, 500, None, 500, json!("101")),
            (500, 1, 500, None, 500, json!(null)),
            (16, 1, 16, None, 16, json!(null)),
            (17, 1, 16, None, 16, json!("2")),
            (500, mib, 500, None, 3, json!("498")),
            (3, mib, 500, None, 3, json!(null)),
            (3, 5 * mib, 500, None, 1, json!("3")),
            (3, 5 * mib, 500, Some(2), 1, json!(null)),
        ];
        for (newest, bytes, limit, before, items, next) in cases {
            let (found, found_next, most_at_once) = write_number_page(newest, bytes, limit, before);
            assert_eq!((found, found_next), (items, next), "{newest} of {bytes}, {limit} before {before:?}");
            assert!(most_at_once <= ITEMS_PER_READ as usize);
        }
    }
}
