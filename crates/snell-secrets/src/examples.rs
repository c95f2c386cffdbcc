//! An example of every form, for the tests of those who use the table.
//!
//! Secrets are written as recipes, so that no scanner takes them for real ones: the parts between `|` are joined, where
//! `~36` is 36 letters and digits, `#32` is 32 digits of hexadecimal and `^16` is 16 capitals and digits.

use crate::forms::{
    FORMS, FormBody, HASH_NAME_AND_ISSUER, HASHES, MARKED_FORMS, PrefixMasking, SecretForm, SecretIssuer,
};
use crate::scan::char_runs::CharClass;

/// A secret in a text.
#[derive(Clone, Debug)]
pub struct SecretExample {
    /// The name of its form.
    pub name: &'static str,
    /// The hosts that it is for.
    pub issuer: SecretIssuer,
    /// The text around it.
    pub text: String,
    /// The secret itself.
    pub secret: String,
}

/// An example of every row of the table.
pub fn secret_examples() -> Vec<SecretExample> {
    let forms = FORMS.iter().chain(MARKED_FORMS).map(build_form_example);
    let hashes = HASHES.iter().map(|form| {
        let secret = generate_secret(&format!("${}|$10$|~{}", form.id, form.digest));
        SecretExample {
            name: HASH_NAME_AND_ISSUER.0,
            issuer: HASH_NAME_AND_ISSUER.1,
            text: format!("me:{secret}:1"),
            secret,
        }
    });
    forms.chain(hashes).collect()
}

/// Makes a secret after its recipe.
pub fn generate_secret(recipe: &str) -> String {
    const ALNUM: &str = "a1Bc2De3fG4hIj5Kl6mN7oPq8Rs9tU0vWx1Yz2";
    const HEX: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    const UPPER: &str = "Q2W3E4R5T6Z7UIOPASDF";
    let part = |part: &str| {
        let alphabet = match part.as_bytes().first() {
            Some(b'~') => ALNUM,
            Some(b'#') => HEX,
            Some(b'^') => UPPER,
            _ => return part.to_owned(),
        };
        match part[1..].parse() {
            Ok(length) => alphabet.chars().cycle().take(length).collect(),
            Err(_) => part.to_owned(),
        }
    };
    recipe.split('|').map(part).collect()
}

fn build_form_example(form: &SecretForm) -> SecretExample {
    let (text, secret) = match &form.body {
        FormBody::Run(body) => {
            let mark = match body.chars {
                CharClass::Hex => '#',
                CharClass::Upper => '^',
                _ => '~',
            };
            let run = generate_secret(&format!("{mark}{}", body.min));
            match body.prefix_is {
                PrefixMasking::Masked => ("{}".to_owned(), format!("{}{run}", form.prefix)),
                PrefixMasking::Kept => (format!("https://{}{{}}", form.prefix), run),
            }
        }
        FormBody::Rule(_, (text, recipe)) => ((*text).to_owned(), generate_secret(recipe)),
    };
    SecretExample { name: form.name, issuer: form.issuer, text: text.replace("{}", &secret), secret }
}
