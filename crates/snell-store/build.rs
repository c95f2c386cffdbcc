//! Compiles the phrases of `data/intent.toml` into constants: a hook starts for every call and must not parse them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const PHRASES_FILE: &str = "data/intent.toml";

fn main() -> Result<(), Box<dyn Error>> {
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
    fs::write(Path::new(&env::var("OUT_DIR")?).join("intent_phrases.rs"), code)?;
    Ok(())
}
