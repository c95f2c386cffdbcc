//! The table of `snell usage`.

use snell_store::usage::{UsageBreakdown, UsagePart, UsageSummary};

use crate::output::{TableColumn, TextStyle, TextTable, time};

/// The parts whose value is not known.
const UNKNOWN: &str = "unknown";

pub(super) fn print_summary(summary: &UsageSummary, total: &UsagePart) {
    let mut table = TextTable::new([
        TableColumn::new(title(summary.by)).flexible(),
        TableColumn::new("REQUESTS").with_drop_rank(1),
        TableColumn::new("INPUT").with_drop_rank(4),
        TableColumn::new("OUTPUT").with_drop_rank(5),
        TableColumn::new("CACHE READ").with_drop_rank(3),
        TableColumn::new("CACHE WRITE").with_drop_rank(2),
        TableColumn::new("COST"),
    ]);
    for part in &summary.parts {
        table.add_row(build_row(name_part(summary.by, part), part));
    }
    let total = build_row("total".into(), total);
    table.add_styled_row(total.map(|cell| (cell, TextStyle::Bold)));
    table.print();
}

fn title(by: UsageBreakdown) -> &'static str {
    match by {
        UsageBreakdown::Day => "DAY",
        UsageBreakdown::Project => "PROJECT",
        UsageBreakdown::Agent => "AGENT",
        UsageBreakdown::Product => "PRODUCT",
        UsageBreakdown::Model => "MODEL",
        UsageBreakdown::Session => "SESSION",
        UsageBreakdown::Turn => "TURN",
    }
}

fn build_row(name: String, part: &UsagePart) -> [String; 7] {
    let tokens = &part.tokens;
    [
        name,
        group_digits(part.requests),
        group_digits(tokens.input),
        group_digits(tokens.output),
        group_digits(tokens.cache_read),
        group_digits(tokens.cache_write),
        part.cost.to_string(),
    ]
}

fn name_part(by: UsageBreakdown, part: &UsagePart) -> String {
    let key = &part.key;
    let known = |text: &Option<String>| text.clone().filter(|text| !text.is_empty()).unwrap_or(UNKNOWN.into());
    match by {
        UsageBreakdown::Day => key.day.map_or(UNKNOWN.into(), |day| day.to_string()),
        UsageBreakdown::Project => known(&key.project),
        UsageBreakdown::Agent => match key.agent_id {
            Some(agent_id) => format!("{agent_id} {}", known(&key.product)),
            None => format!("{} (not recorded)", known(&key.product)),
        },
        UsageBreakdown::Product => known(&key.product),
        UsageBreakdown::Model => name_model(&known(&key.model)),
        UsageBreakdown::Session => known(&key.session_id),
        UsageBreakdown::Turn => format!("{} {}", time::format_time(part.first_at), known(&key.session_id)),
    }
}

/// The name of a model for people.
pub(super) fn name_model(model: &str) -> String {
    if model.is_empty() { UNKNOWN.into() } else { model.into() }
}

/// A number with its digits in groups: `1,234,567`.
fn group_digits(number: i64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
