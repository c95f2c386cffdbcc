//! Compiles `data/intent.toml` and `data/prices.toml` into constants: a hook starts for every call and must not parse them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const PHRASES_FILE: &str = "data/intent.toml";
const PRICES_FILE: &str = "data/prices.toml";

/// The prices of a model, in the order of the fields of `ModelPrice`.
const PRICE_KEYS: [&str; 5] = ["input", "output", "cache_read", "cache_write", "cache_write_1h"];

fn main() -> Result<(), Box<dyn Error>> {
    compile_phrases()?;
    compile_prices()
}

fn compile_phrases() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PHRASES_FILE}");
    let tables: BTreeMap<String, Vec<String>> = toml::from_str(&fs::read_to_string(PHRASES_FILE)?)?;
    let mut code = String::new();
    for (name, phrases) in &tables {
        let mut unique = BTreeSet::new();
        for phrase in phrases {
            if phrase.is_empty() || *phrase != phrase.to_lowercase() || !unique.insert(phrase) {
                return Err(format!(
                    "{PHRASES_FILE}: `{phrase}` in `{name}` is empty, not in lower case, or twice there"
                )
                .into());
            }
        }
        writeln!(code, "pub(super) const {}: &[&str] = &{phrases:?};", name.to_uppercase())?;
    }
    write_code("intent_phrases.rs", &code)
}

fn compile_prices() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PRICES_FILE}");
    let root: toml::Table = toml::from_str(&fs::read_to_string(PRICES_FILE)?)?;
    let text = |table: &toml::Table, key: &str| -> Result<String, Box<dyn Error>> {
        let text = table.get(key).and_then(toml::Value::as_str);
        Ok(text.ok_or(format!("{PRICES_FILE}: no `{key}`"))?.to_owned())
    };
    let mut rows = String::new();
    for row in root.get("price").and_then(toml::Value::as_array).ok_or("no prices")? {
        let row = row.as_table().ok_or("a price is not a table")?;
        let models: Vec<_> = row["models"].as_array().into_iter().flatten().filter_map(toml::Value::as_str).collect();
        let long = match row.get("long").and_then(toml::Value::as_table) {
            Some(long) => format!("Some({})", format_price(long)?),
            None => "None".to_owned(),
        };
        let (price, known) = (format_price(row)?, text(row, "known")?);
        writeln!(rows, "ListedPrice {{ models: &{models:?}, known: {known:?}, price: {price}, long: {long} }},")?;
    }
    let (date, source) = (text(&root, "date")?, text(&root, "source")?);
    let mut code = format!("const LIST_DATE: &str = {date:?};\nconst LIST_SOURCE: &str = {source:?};\n");
    writeln!(code, "const LISTED_PRICES: &[ListedPrice] = &[\n{rows}];")?;
    write_code("prices.rs", &code)
}

/// The prices as picodollars per token, which are millionths of a dollar per million tokens.
fn format_price(table: &toml::Table) -> Result<String, Box<dyn Error>> {
    let mut fields = Vec::new();
    for key in PRICE_KEYS {
        let price = table.get(key).and_then(toml::Value::as_float).map(|price| (price * 1e6).round() as u64);
        fields.push(match (key, price) {
            ("input" | "output", price) => format!("{key}: {}", price.ok_or(format!("{PRICES_FILE}: no `{key}`"))?),
            (_, price) => format!("{key}: {price:?}"),
        });
    }
    Ok(format!("ModelPrice {{ {} }}", fields.join(", ")))
}

fn write_code(file: &str, code: &str) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join(file), code)?)
}
