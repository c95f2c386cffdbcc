//! The prices of models: the dated list of `data/prices.toml`, and the user's own prices.

use std::collections::BTreeMap;

use snell::Glob;

pub use snell::ModelPrice;

use super::request::TokenCounts;

/// The prices of some models.
struct ListedPrice {
    models: &'static [&'static str],
    known: &'static str,
    price: ModelPrice,
    /// The price of requests with a long context, if it is another one.
    long: Option<ModelPrice>,
}

include!(concat!(env!("OUT_DIR"), "/prices.rs"));

/// All prices. The user's own come first.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    own: Vec<(Glob, ModelPrice)>,
}

impl PriceList {
    /// The list with these prices of the user. A name without wildcards comes before the others.
    pub fn new(own: &BTreeMap<String, ModelPrice>) -> Self {
        let mut own: Vec<_> = own.iter().collect();
        own.sort_by_key(|(name, _)| (name.contains('*'), std::cmp::Reverse(name.len())));
        let compile = |(name, price): (&String, &ModelPrice)| (Glob::for_file_names(&lower_model(name)), *price);
        Self { own: own.into_iter().map(compile).collect() }
    }

    /// The day for which the list is known.
    pub fn date() -> &'static str {
        LIST_DATE
    }

    /// The source of the list.
    pub fn source() -> &'static str {
        LIST_SOURCE
    }

    /// The price of a model, for long contexts or for others. The user's own price is for both.
    pub(super) fn find_price(&self, model: &str, is_long: LongContext) -> Option<ModelPrice> {
        let written = lower_model(model);
        let name = normalize_model(&written);
        let is_own = |pattern: &Glob| pattern.matches(&written) || pattern.matches(name);
        if let Some((_, price)) = self.own.iter().find(|(pattern, _)| is_own(pattern)) {
            return Some(*price);
        }
        let listed = LISTED_PRICES.iter().find(|row| row.models.contains(&name))?;
        Some(if is_long == LongContext::Yes { listed.long.unwrap_or(listed.price) } else { listed.price })
    }

    /// The day for which the price of a model is known; none if it is the user's own, or unknown.
    pub fn known_on(model: &str) -> Option<&'static str> {
        let written = lower_model(model);
        let name = normalize_model(&written);
        LISTED_PRICES.iter().find(|row| row.models.contains(&name)).map(|row| row.known)
    }
}

/// Whether requests have a long context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongContext {
    Yes,
    No,
}

/// The cost of tokens in picodollars.
pub(super) fn compute_cost(price: ModelPrice, tokens: &TokenCounts) -> i128 {
    let cache_write = price.cache_write.unwrap_or(price.input);
    let parts = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_read, price.cache_read.unwrap_or(price.input)),
        (tokens.cache_write.saturating_sub(tokens.cache_write_1h), cache_write),
        (tokens.cache_write_1h, price.cache_write_1h.unwrap_or(cache_write)),
    ];
    parts.iter().map(|(tokens, price)| i128::from(*tokens) * i128::from(*price)).sum()
}

/// The name of a model in lower case. Some agents write `claude-haiku-4.5`.
fn lower_model(model: &str) -> String {
    let lower = model.to_lowercase();
    if lower.starts_with("claude-") { lower.replace('.', "-") } else { lower }
}

/// The name of a model without its provider, version and date: `anthropic/claude-opus-4-5-20251101` is `claude-opus-4-5`.
fn normalize_model(written: &str) -> &str {
    let mut name = written.rsplit('/').next().unwrap_or(written);
    if let Some((_, bedrock)) = name.split_once("anthropic.") {
        name = bedrock;
    }
    for end in ["[1m]", "-v1:0", "-v2:0", "-latest"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    for separator in ['@', '-'] {
        if let Some((before, date)) = name.rsplit_once(separator)
            && date.len() == 8
            && date.bytes().all(|byte| byte.is_ascii_digit())
        {
            name = before;
        }
    }
    // OpenAI writes 2024-08-06.
    match name.len().checked_sub(11).map(|at| (name.get(..at), name.get(at..))) {
        Some((Some(before), Some(date))) if is_dashed_date(date) => before,
        _ => name,
    }
}

fn is_dashed_date(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| if [0, 5, 8].contains(&at) { byte == b'-' } else { byte.is_ascii_digit() };
    text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_under_the_names_of_all_providers() {
        let cases = [
            ("claude-opus-4-5", true),
            ("claude-opus-4-5-20251101", true),
            ("Claude-Opus-4-5", true),
            ("anthropic/claude-opus-4-5", true),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            ("claude-sonnet-4-5@20250929", true),
            ("claude-sonnet-4-20250514[1m]", true),
            ("claude-3-5-haiku-latest", true),
            ("claude-haiku-4.5", true),
            ("gpt-4o-2024-08-06", true),
            ("claude-opus-4-6 fast", false),
            ("claude-opus-9", false),
            ("claude", false),
            ("", false),
            ("-", false),
            ("é-20250101", false),
        ];
        for (model, is_known) in cases {
            let price = PriceList::default().find_price(model, LongContext::No);
            assert_eq!(price.is_some(), is_known, "{model}");
        }
    }

    #[test]
    fn the_users_own_prices_come_first_and_exact_names_before_patterns() {
        let price = |input| ModelPrice { input, ..ModelPrice::default() };
        let own = [("claude-*", 1), ("claude-opus-4-5", 2), ("mine/*", 3), ("claude-opus-*", 4)];
        let list = PriceList::new(&own.map(|(name, input)| (name.to_owned(), price(input))).into());
        let cases = [
            ("claude-opus-4-5-20251101", Some(2)),
            ("claude-opus-4-1", Some(4)),
            ("claude-new", Some(1)),
            ("mine/model", Some(3)),
            ("gpt-5", Some(1_250_000)),
            ("other", None),
        ];
        for (model, input) in cases {
            let found = list.find_price(model, LongContext::No).map(|price| price.input);
            assert_eq!(found, input, "{model}");
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let price = PriceList::default().find_price("claude-sonnet-4-5", LongContext::No).unwrap();
        let million = TokenCounts {
            input: 1_000_000,
            output: 1_000_000,
            cache_read: 1_000_000,
            cache_write: 2_000_000,
            cache_write_1h: 1_000_000,
        };
        // 3 + 15 + 0.3 + 3.75 + 6 dollars.
        assert_eq!(compute_cost(price, &million), 28_050_000_000_000);
        let long = PriceList::default().find_price("claude-sonnet-4-5", LongContext::Yes).unwrap();
        assert_eq!(long.input, 6_000_000);
        let without_cache_prices = ModelPrice { input: 1, output: 0, ..ModelPrice::default() };
        assert_eq!(compute_cost(without_cache_prices, &million), 4_000_000);
    }

    #[test]
    fn no_model_has_two_listed_prices() {
        let models: Vec<_> = LISTED_PRICES.iter().flat_map(|row| row.models).collect();
        for (index, model) in models.iter().enumerate() {
            assert!(!models[..index].contains(model), "{model}");
            assert_eq!(normalize_model(model), **model);
        }
    }
}
