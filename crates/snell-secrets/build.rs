//! Compiles the tables of `data/*.toml` into constants: a hook starts for every call and has no time to read them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// `data/words.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordTables {
    lists: BTreeMap<String, Vec<String>>,
    variable_issuers: BTreeMap<String, String>,
}

/// `data/forms.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormTables {
    form: Vec<FormRow>,
    hashes: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormRow {
    name: String,
    host: Option<String>,
    prefixes: Vec<String>,
    chars: String,
    min: usize,
    max: Option<usize>,
    needs: Option<String>,
    #[serde(default)]
    keeps_prefix: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=data");
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("words.rs"), write_words(&read_tables("data/words.toml")?)?)?;
    fs::write(Path::new(&out).join("forms.rs"), write_forms(&read_tables("data/forms.toml")?)?)?;
    Ok(())
}

fn read_tables<T: DeserializeOwned>(file: &str) -> Result<T, Box<dyn Error>> {
    toml::from_str(&fs::read_to_string(file)?).map_err(|error| format!("{file}: {error}").into())
}

fn write_words(tables: &WordTables) -> Result<String, Box<dyn Error>> {
    let mut code = String::new();
    for (name, words) in &tables.lists {
        writeln!(code, "pub(super) const {}: &[&str] = &{words:?};", name.to_uppercase())?;
    }
    let issuers: Vec<_> = tables.variable_issuers.iter().collect();
    writeln!(code, "pub(super) const VARIABLE_ISSUERS: &[(&str, &str)] = &{issuers:?};")?;
    Ok(code)
}

fn write_forms(tables: &FormTables) -> Result<String, Box<dyn Error>> {
    let mut code = "const RUN_FORMS: &[SecretForm] = &[\n".to_owned();
    for FormRow { name, host, prefixes, chars, min, max, needs, keeps_prefix } in &tables.form {
        let issuer = match host.as_deref() {
            None => "NoHost".to_owned(),
            Some("*") => "AnyHost".to_owned(),
            Some(host) => format!("Host({host:?})"),
        };
        let max = max.map_or("usize::MAX".to_owned(), |max| max.to_string());
        let needs = needs.as_deref().unwrap_or("Digit");
        let masking = if *keeps_prefix { "Kept" } else { "Masked" };
        for prefix in prefixes {
            writeln!(
                code,
                "form({name:?}, {prefix:?}, {issuer}, FormBody::Run(RunBody {{ chars: CharClass::{chars}, min: {min}, \
                 max: {max}, needs: RequiredChars::{needs}, prefix_is: PrefixMasking::{masking} }})),"
            )?;
        }
    }
    code.push_str("];\n\n/// The hashes of passwords.\npub(crate) const HASHES: &[HashForm] = &[\n");
    for (id, digest) in &tables.hashes {
        writeln!(code, "HashForm {{ id: {id:?}, digest: {digest} }},")?;
    }
    code.push_str("];\n");
    Ok(code)
}
