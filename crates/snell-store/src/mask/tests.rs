use proptest::prelude::*;
use serde_json::json;

use super::corpus::{LOOKALIKES, SECRETS, cook};
use super::*;

#[test]
fn a_masked_secret_is_one_word_for_whoever_reads_a_command_again() {
    let rows = [
        ("ls -l", "ls -l"),
        (
            "TOKEN=[masked: GitHub token] make [masked: key]x",
            "TOKEN=masked make maskedx",
        ),
        ("echo '[masked: ' && ls", "echo '[masked: ' && ls"),
    ];
    for (text, expected) in rows {
        let mut value = serde_json::json!([{ "command": text }]);
        put_words_for_masked(&mut value);
        assert_eq!(value[0]["command"], expected, "{text}");
    }
}

#[test]
fn secrets_vanish_wholly_and_what_stands_around_them_stays() {
    assert!(SECRETS.len() >= 90);
    let mut wrong = Vec::new();
    for (text, recipe) in SECRETS {
        let secret = cook(recipe);
        let (before, after) = text.split_once("{}").unwrap();
        let whole = format!("{before}{secret}{after}");
        let masked = mask(&whole);
        let is_gone = !masked.contains(&secret) && masked.contains("[masked: ");
        if !is_gone || !masked.starts_with(before) || !masked.ends_with(after) {
            wrong.push(format!("{whole:?} became {masked:?}"));
        }
        // Nothing of it is left beside the mark.
        let rest = masked.len() - before.len().min(masked.len()) - after.len().min(masked.len());
        if rest > MAX_MARK_BYTES {
            wrong.push(format!("{whole:?} left something in {masked:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    assert!(LOOKALIKES.len() >= 70);
    let wrong: Vec<_> = LOOKALIKES
        .iter()
        .filter(|text| mask(text) != **text)
        .map(|text| format!("{text:?} became {:?}", mask(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(LOOKALIKES.iter().all(|text| matches!(mask(text), Cow::Borrowed(_))));
}

#[test]
fn every_name_of_a_credential_is_found_by_its_end() {
    for (name, kind) in credential::NAMES {
        assert_eq!(credential::kind_of(name), Some(*kind), "{name}");
    }
    for end in credential::PASSWORD_ENDS {
        assert_eq!(credential::kind_of(&format!("DB{end}")), Some(Kind::Password), "{end}");
    }
}

#[test]
fn several_secrets_in_a_text_are_each_masked_by_name() {
    let text = format!(
        "export GITHUB_TOKEN={}\ncurl -u me:hunter2 -H 'X-Api-Key: {}' https://a:b1@c\n",
        cook("gh|p_|~36"),
        cook("#32"),
    );
    insta::assert_snapshot!(mask(&text), @"
    export GITHUB_TOKEN=[masked: token]
    curl -u me:[masked: password] -H 'X-Api-Key: [masked: key]' https://a:[masked: password]@c
    ");
}

#[test]
fn members_whose_name_means_a_credential_are_masked_whole() {
    let token = cook("~24");
    let mut value = json!({
        "headers": {"Authorization": format!("Bearer {token}"), "x-api-key": token, "Accept": "text/plain"},
        "list": [{"name": "Authorization", "value": token}, {"name": "Accept", "value": "x"}],
        "password": "swordfish", "client_secret": [token], "access_token": token, "token": token, "apiKey": token,
        "credentials": token, "jwt": token, "connection_string": token, "otp": "483921", "pin": 4711,
        "cookie": format!("theme=dark; sid={token}"), "set-cookie": [format!("sid={token}; Path=/")],
        "text": format!("see {}", cook("gh|p_|~36")),
        cook("gh|p_|~36"): 1,
    });
    mask_json(&mut value);
    assert_eq!(
        value,
        json!({
            "headers": {"Authorization": "[masked: authorization]", "x-api-key": "[masked: key]", "Accept": "text/plain"},
            "list": [
                {"name": "Authorization", "value": "[masked: authorization]"},
                {"name": "Accept", "value": "x"},
            ],
            "password": "[masked: password]", "client_secret": ["[masked: secret]"],
            "access_token": "[masked: token]", "token": "[masked: token]", "apiKey": "[masked: key]",
            "credentials": "[masked: credential]", "jwt": "[masked: token]",
            "connection_string": "[masked: connection string]", "otp": "[masked: code]", "pin": "[masked: code]",
            "cookie": "[masked: cookie]", "set-cookie": ["[masked: cookie]"],
            "text": "see [masked: GitHub token]",
            "[masked: GitHub token]": 1,
        })
    );
    let once = value.clone();
    mask_json(&mut value);
    assert_eq!(value, once);
}

#[test]
fn harmless_members_stay() {
    let harmless = json!({
        "token": 12, "max_tokens": 4096, "tokens": "many", "token_count": "12", "secret_name": "db1-credentials-abc",
        "a": {"token": "ident", "secret": "abc", "password": "", "authorization": "none", "auth": "oauth2"},
        "b": {"password": "string", "api_key": "$API_KEY", "token": "unexpected end of input 1"},
        "tool_input": {"file_path": "/src/token.rs", "old_string": "token: Token", "new_string": "let password = ask();"},
        "credentials": "same-origin", "jwt": "optional", "pin": 13, "otp": "required", "cookie": "theme=dark",
        "connection_string": "postgres://localhost:5432/app", "private_key": "./server.pem", "nextPageToken": "CAEQAA1234567890abcdef", "passwords": null, "secret": true,
    });
    let mut value = harmless.clone();
    mask_json(&mut value);
    assert_eq!(value, harmless);
}

#[test]
fn json_nested_deeper_than_the_stack_is_masked() {
    let mut value = json!({"password": "swordfish"});
    for _ in 0..200_000 {
        value = Value::Array(vec![value]);
    }
    mask_json(&mut value);
    let mut depth = 0;
    while let Value::Array(mut items) = value {
        value = items.pop().unwrap();
        depth += 1;
    }
    assert_eq!(depth, 200_000);
    assert_eq!(value, json!({"password": "[masked: password]"}));
}

#[test]
fn hostile_texts_are_looked_at_a_bounded_number_of_times() {
    let pieces = [
        "sk-",
        "sk-ant-",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END ",
        "-",
        "Authorization:",
        "Authorization: Bearer ",
        "password=",
        "password=\"",
        "password='$",
        "token: a1",
        "://",
        "://a:",
        "://a:b",
        "eyJ",
        "eyJaaaaaaaaaaaa.",
        "Bearer ",
        "curl -u ",
        "curl -u a:",
        "--password ",
        "1234567890:",
        "hvs.",
        "secret_",
        "github_pat_",
        "[masked: ",
        "[masked: a]",
        ".atlasv1.",
        "AKIA",
        "SG.",
        "a",
        "=",
        ":",
        "\\",
        "é",
        "\"",
        "machine a login b password ",
        "Cookie: ",
        "Cookie: a=1234567;",
        "sshpass -p ",
        "mysql -p",
        " -p",
        "://a@",
        "password: (",
        "TOKEN=$",
        "%3D",
        "\u{1b}[1m",
        "END ",
    ];
    let size = 1 << 18;
    for piece in pieces {
        let text = piece.repeat(size / piece.len());
        let (masked, steps) = pass(&text);
        assert!(steps <= 16 * text.len(), "{piece:?}: {steps} steps");
        // The second pass is over no more than the first left.
        assert!(masked.is_none_or(|masked| masked.len() <= 8 * text.len()), "{piece:?}");
    }
}

/// What secrets and their surroundings are made of, so that random texts come near to them.
fn any_text() -> impl Strategy<Value = String> {
    let atoms = prop_oneof![
        proptest::sample::select(vec![
            "sk-",
            "gh",
            "p_",
            "password",
            "token",
            "secret",
            "api_key",
            "TOKEN",
            "=",
            ":",
            ": ",
            " = ",
            "\"",
            "'",
            "`",
            " ",
            "\n",
            "\\n",
            "\\\"",
            "$",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "[masked: ",
            "masked",
            "://",
            "@",
            "user",
            "-u ",
            "curl ",
            "Bearer ",
            "Authorization",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "eyJ",
            ".",
            ",",
            ";",
            "&",
            "machine a login b password ",
            "--",
            "é",
            "→",
            "😀",
            "AKIA",
            "AIza",
            "SG.",
            "%3D",
            "\u{1b}[1m",
            "xxx",
            "your",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9]{1,12}",
        "[a-zA-Z0-9_-]{20,50}",
        proptest::sample::select(SECRETS).prop_map(|(_, recipe)| cook(recipe)),
        ".{0,3}",
    ];
    proptest::collection::vec(atoms, 0..14).prop_map(|atoms| atoms.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn masking_twice_is_masking_once(text in any_text()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn any_text_can_be_masked(text in any::<String>()) {
        let _ = mask(&text);
    }

    #[test]
    fn secrets_vanish_between_ordinary_lines(
        (text, recipe) in proptest::sample::select(SECRETS),
        before in proptest::sample::select(LOOKALIKES),
        after in proptest::sample::select(LOOKALIKES),
    ) {
        let secret = cook(recipe);
        let whole = format!("{before}\n{}\n{after}\n", text.replace("{}", &secret));
        prop_assert!(!mask(&whole).contains(&secret));
    }

    #[test]
    fn ordinary_lines_stay(lines in proptest::collection::vec(proptest::sample::select(LOOKALIKES), 1..6)) {
        let text = lines.join("\n");
        prop_assert_eq!(mask(&text), text.as_str());
    }

    #[test]
    fn plain_prose_stays(text in "([a-z]{1,12}[ ,.]){0,40}") {
        prop_assert_eq!(mask(&text), text.as_str());
    }
}
