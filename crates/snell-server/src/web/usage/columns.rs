//! The columns of the table of usage. The table can be sorted by each of them. `.usage` in `assets/page.css` has a width for each.

use std::cmp::Ordering;

use snell_store::usage::UsagePart;

use super::format_tokens;

/// A column after the first, which names the part.
#[derive(Debug)]
pub(super) struct UsageColumn {
    /// The query parameter.
    pub(super) name: &'static str,
    /// The label.
    pub(super) label: &'static str,
    /// The tooltip.
    pub(super) about: &'static str,
    value: fn(&UsagePart) -> UsageColumnValue,
}

/// The value of a part in a column, which is shown and sorted by.
enum UsageColumnValue {
    Count(i64),
    Tokens(i64),
    Cost,
}

impl UsageColumn {
    /// Compares two parts in descending order.
    pub(super) fn compare_parts(&self, a: &UsagePart, b: &UsagePart) -> Ordering {
        let key = |part: &UsagePart| match (self.value)(part) {
            UsageColumnValue::Count(number) | UsageColumnValue::Tokens(number) => number as f64,
            UsageColumnValue::Cost => part.cost.usd().unwrap_or(-1.0),
        };
        key(b).total_cmp(&key(a))
    }

    pub(super) fn format_cell(&self, part: &UsagePart) -> String {
        match (self.value)(part) {
            UsageColumnValue::Count(number) => number.to_string(),
            UsageColumnValue::Tokens(tokens) => format_tokens(tokens),
            UsageColumnValue::Cost => part.cost.to_string(),
        }
    }
}

/// Every column.
pub(super) static COLUMNS: &[UsageColumn] = &[
    column("requests", "Requests", "requests to models", |part| UsageColumnValue::Count(part.requests)),
    column("input", "Input", "tokens of input without a cache", |part| UsageColumnValue::Tokens(part.tokens.input)),
    column("output", "Output", "tokens of output, with reasoning", |part| UsageColumnValue::Tokens(part.tokens.output)),
    column("cache_read", "Cache read", "tokens of input from a cache", |part| {
        UsageColumnValue::Tokens(part.tokens.cache_read)
    }),
    column("cache_write", "Cache write", "tokens of input that a cache keeps", |part| {
        UsageColumnValue::Tokens(part.tokens.cache_write)
    }),
    column("cost", "Cost", "US dollars by list prices; + if it is only a part", |_| UsageColumnValue::Cost),
];

const fn column(
    name: &'static str,
    label: &'static str,
    about: &'static str,
    value: fn(&UsagePart) -> UsageColumnValue,
) -> UsageColumn {
    UsageColumn { name, label, about, value }
}

/// The column of the default order: the cost.
pub(super) fn default_column() -> &'static UsageColumn {
    COLUMNS.last().unwrap_or(&COLUMNS[0])
}
