//! `[usage]`: the prices of models.

use std::collections::BTreeMap;

use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

/// The highest price, in US dollars per million tokens.
const MAX_PRICE_USD: f64 = 1_000_000.0;

/// The prices of a model, in picodollars per token: millionths of a dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tables of prices are literals")]
pub struct ModelPrice {
    /// Input that is neither read from a cache nor written to it.
    pub input: u64,
    /// Output, with reasoning.
    pub output: u64,
    /// Input from a cache; as much as input if there is no price.
    pub cache_read: Option<u64>,
    /// Input that is written to a cache; as much as input if there is no price.
    pub cache_write: Option<u64>,
    /// The same, if the cache keeps it for an hour; as much as `cache_write` if there is no price.
    pub cache_write_1h: Option<u64>,
}

/// The user's own prices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageSettings {
    /// The price of each model. A name may have wildcards.
    pub prices: BTreeMap<String, ModelPrice>,
}

/// The keys of `[usage]`, and of a price.
pub(super) const USAGE_KEYS: &[&str] = &["prices"];
pub(super) const PRICE_KEYS: &[&str] = &["input", "output", "cache_read", "cache_write", "cache_write_1h"];

impl UsageSettings {
    /// Adds the prices of an earlier file for models that these settings lack.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        let mut prices = earlier.prices;
        prices.extend(self.prices);
        Self { prices }
    }
}

pub(super) fn read_usage(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> UsageSettings {
    let mut settings = UsageSettings::default();
    let Some(fields) = reader.read_table(node, "[usage]", USAGE_KEYS) else {
        return settings;
    };
    let Some(models) = fields.get("prices").and_then(|node| reader.read_object(node, "\"usage.prices\"")) else {
        return settings;
    };
    for member in models.distinct_members() {
        let table = format!("[usage.prices.\"{}\"]", member.key);
        if let Some(fields) = reader.read_table(&member.node, &table, PRICE_KEYS)
            && let Some(price) = read_model_price(reader, &fields, &table)
        {
            settings.prices.insert(member.key.clone(), price);
        }
    }
    settings
}

fn read_model_price(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, table: &str) -> Option<ModelPrice> {
    for key in ["input", "output"] {
        if fields.get(key).is_none() {
            let message = UserMessage::new(format!("{table} has no \"{key}\" (no price applies)"));
            reader.add_error(fields.offset, message.with_hint("write US dollars per million tokens, such as 3.0"));
        }
    }
    let mut read = |key: &str| -> Option<u64> { read_price(reader, fields, key) };
    let (input, output) = (read("input"), read("output"));
    let (cache_read, cache_write, cache_write_1h) = (read("cache_read"), read("cache_write"), read("cache_write_1h"));
    Some(ModelPrice { input: input?, output: output?, cache_read, cache_write, cache_write_1h })
}

fn read_price(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str) -> Option<u64> {
    let node = fields.get(key)?;
    match node.value {
        NodeValue::Number(price) if (0.0..=MAX_PRICE_USD).contains(&price) => Some((price * 1e6).round() as u64),
        _ => {
            let message = UserMessage::new(format!("\"{key}\" must be a number of US dollars per million tokens"));
            reader.add_error(node.offset, message.with_hint("write a number such as 3.0"));
            None
        }
    }
}
