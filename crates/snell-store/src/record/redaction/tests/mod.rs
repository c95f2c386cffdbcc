mod corpus;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use snell_secrets::examples::{generate_secret as cook, secret_examples};

use super::*;
use corpus::{LOOKALIKES, LOOKALIKES_ALONE, SECRETS};

#[test]
fn a_masked_secret_is_one_word_of_a_command() {
    let rows = [
        ("ls -l", "ls -l"),
        ("TOKEN=[masked: GitHub token] make [masked: key]x", "TOKEN=masked make maskedx"),
        ("echo '[masked: ' && ls", "echo '[masked: ' && ls"),
    ];
    for (text, expected) in rows {
        let mut value = serde_json::json!([{ "command": text }]);
        replace_marks_in_json(&mut value);
        assert_eq!(value[0]["command"], expected, "{text}");
    }
}

#[test]
fn secrets_are_masked_whole_and_the_text_around_them_stays() {
    assert!(SECRETS.len() >= 90);
    let mut wrong = Vec::new();
    for (text, recipe) in SECRETS {
        let secret = cook(recipe);
        let (before, after) = text.split_once("{}").unwrap();
        let whole = format!("{before}{secret}{after}");
        let masked = mask_secrets(&whole);
        let is_gone = !masked.contains(&secret) && masked.contains("[masked: ");
        if !is_gone || !masked.starts_with(before) || !masked.ends_with(after) {
            wrong.push(format!("{whole:?} became {masked:?}"));
        }
        // The mark replaces all of it.
        let rest = masked.len() - before.len().min(masked.len()) - after.len().min(masked.len());
        if rest > MAX_MARK_BYTES {
            wrong.push(format!("{whole:?} left something in {masked:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Positions of a text in a payload.
const POSITIONS: &[&str] = &[
    "{}",
    "first {} last",
    "first\n{}\nlast",
    "first\\n{}\\nlast",
    "(see {})",
    "> {}",
    "     7→{}",
    "key: {}\n",
    "- {}",
    "export X='{}'",
    "curl -H \"X: {}\" https://x.example/",
    "https://x.example/?q={}&r=1",
    "\u{1b}[32m{}\u{1b}[0m",
    "<b>{}</b>",
    "| {} |",
];

#[test]
fn every_form_of_the_table_is_masked_at_every_position() {
    let mut wrong = Vec::new();
    for example in secret_examples() {
        for position in POSITIONS {
            let text = position.replace("{}", &example.text);
            let masked = mask_secrets(&text);
            if masked.contains(&example.secret) || !masked.contains("[masked: ") {
                wrong.push(format!("{text:?} became {masked:?}"));
            }
            let mut value = json!({"tool_response": {"stdout": text, "list": [{"deep": text}]}, "note": text});
            mask_json(&mut value);
            if value.to_string().contains(&example.secret) {
                wrong.push(format!("{text:?} stayed in {value}"));
            }
            // Escaped twice, as JSON in a string.
            let mut value = json!({ "stdout": json!({ "text": text }).to_string() });
            mask_json(&mut value);
            let secret = example.secret.replace('\n', "\\n");
            if value["stdout"].as_str().unwrap().contains(&secret) {
                wrong.push(format!("{text:?} stayed in {value}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lookalikes_of_secrets_stay() {
    assert!(LOOKALIKES.len() >= 70);
    let wrong: Vec<_> = LOOKALIKES
        .iter()
        .chain(LOOKALIKES_ALONE)
        .filter(|text| mask_secrets(text) != **text)
        .map(|text| format!("{text:?} became {:?}", mask_secrets(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(LOOKALIKES.iter().all(|text| matches!(mask_secrets(text), Cow::Borrowed(_))));
}

#[test]
fn several_secrets_in_a_text_are_each_masked_by_name() {
    let text = format!(
        "export GITHUB_TOKEN={}\ncurl -u me:hunter2 -H 'X-Api-Key: {}' https://a:b1@c\n",
        cook("gh|p_|~36"),
        cook("#32"),
    );
    insta::assert_snapshot!(mask_secrets(&text), @"
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
fn sessions_within_cookies_are_masked() {
    let session = cook("~32");
    let mut value = json!({
        "cookies": [{"name": "sid", "value": session, "domain": "x.example", "path": "/", "expires": "2026-01-02T00:00:00Z"}],
        "request": {"cookies": {"sid": session, "theme": "dark"}},
        "other": {"sid": session},
    });
    mask_json(&mut value);
    let masked = "[masked: cookie]";
    assert_eq!(
        value,
        json!({
            "cookies": [{"name": "sid", "value": masked, "domain": "x.example", "path": "/", "expires": "2026-01-02T00:00:00Z"}],
            "request": {"cookies": {"sid": masked, "theme": "dark"}},
            "other": {"sid": session},
        })
    );
}

#[test]
fn private_members_of_a_json_web_key_are_masked() {
    let key = cook("~43");
    let mut value = json!({
        "kty": "RSA", "n": key, "e": "AQAB", "kid": key, "d": key, "p": key, "q": key, "dp": key, "dq": key, "qi": key,
        "keys": [{"kty": "oct", "k": key}, {"d": key, "k": key}],
    });
    mask_json(&mut value);
    let masked = "[masked: key]";
    assert_eq!(
        value,
        json!({
            "kty": "RSA", "n": key, "e": "AQAB", "kid": key,
            "d": masked, "p": masked, "q": masked, "dp": masked, "dq": masked, "qi": masked,
            "keys": [{"kty": "oct", "k": masked}, {"d": key, "k": key}],
        })
    );
}

#[test]
fn arguments_after_options_are_masked() {
    let cookie = cook("session=|~16");
    let mut value = json!([
        ["curl", "-b", cookie, "-s", "https://x"],
        ["/usr/bin/curl", "--cookie", cookie],
        ["tool", "--password", "swordfish", "--token", "--verbose", "--user", "me"],
        ["git", "checkout", "-b", cookie],
    ]);
    mask_json(&mut value);
    assert_eq!(
        value,
        json!([
            ["curl", "-b", "[masked: cookie]", "-s", "https://x"],
            ["/usr/bin/curl", "--cookie", "[masked: cookie]"],
            ["tool", "--password", "[masked: password]", "--token", "--verbose", "--user", "me"],
            ["git", "checkout", "-b", cookie],
        ])
    );
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
fn hostile_texts_are_scanned_a_limited_number_of_times() {
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
        ".",
        "Z",
        "$",
        "$2y$",
        "$2y$10$",
        "$6$a$",
        "$1$.",
        "{SHA}",
        "*:*:",
        "a:5432:b:c:d ",
        "a:5432:b:c:d\\",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTi/",
        "LS0tLS1CRUdJTi\n",
        "LS0tLS1CRUdJTi%2b",
        "iVBORw0KGgoAAAANSUhEUgAAAAE+/",
        "Private-Lines: 9\n",
        "Private-Lines: 9999\naaaaaaaaaaaaaaaa\n",
        "\"kty\":",
        "\"kty\":{",
        "\"d\":\"aaaaaaaaaaaaaaaaaaaa\",",
        "{\"d\":\"aaaaaaaaaaaaaaaaaaaa\",",
        "azure ",
        "azure abcdefg2hijklmn3opqrstu4vwxyzab5cdefghi6jklmnop7qrstu ",
        "AZDO",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4.",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4.abcdef.",
        "curl -b ",
        "curl -bbbb",
        "curl -b 'a=",
        "_",
        "key_ghp_",
        "L",
        "LS0tLUJFR0lOI",
        "LS0tQkVHSU4g\n",
        "TFMwdExTMUNSVWRKVG",
        "/\tTRUE\t0\t",
        "/\tTRUE\t0\ta\tb",
        "ffuf -b a=",
        "> Private-Lines: 9999\n> aaaaaaaaaaaaaaaa\n",
        "d = \"aaaaaaaaaaaaaaaaaaaa\"\n",
        "kty=",
        "$P$",
        "pbkdf2_sha$",
        "pbkdf2_sha_a:",
        "scrypt:a",
        ":aBcDeFgHiJkLm:1:2:3",
        "[::1]:5432:a:b:",
        "\\:1:5432:a:b:c",
        "machine a passwd b login ",
        "pat abcdefg2hijklmn3opqrstu4vwxyzab5cdefghi6jklmnop7qrstu ",
        "nvapi-aaaaaaaaaaaaaaaaaaaaaaaa",
        "\u{1b}[",
        "\u{1b}[K",
        "\\u0022",
        "=3D",
    ];
    let size = 1 << 18;
    for piece in pieces {
        let text = piece.repeat(size / piece.len());
        let (masked, steps) = mask_once(&text);
        assert!(steps <= 16 * text.len(), "{piece:?}: {steps} steps");
        // A second pass scans no more than the first one left.
        assert!(masked.is_none_or(|masked| masked.len() <= 8 * text.len()), "{piece:?}");
    }
}

#[test]
fn a_mebibyte_is_masked_in_time() {
    let deadline = Duration::from_secs(300);
    let pieces = [
        "a",
        ":",
        ".",
        "-",
        "$2y$",
        "*:*:",
        "LS0tLS1CRUdJTi/",
        "iVBORw0KGgoAAAANSUhEUgAAAAE+/",
        "\"d\":\"aaaaaaaaaaaaaaaaaaaa\",",
        "machine a login b password ",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 20) / piece.len());
        let start = Instant::now();
        let _ = mask_secrets(&text);
        assert!(start.elapsed() < deadline, "{piece:?}: {:?}", start.elapsed());
    }
}

/// Random texts made of parts of secrets and their surroundings.
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
    fn masking_is_idempotent(text in any_text()) {
        let once = mask_secrets(&text).into_owned();
        prop_assert_eq!(mask_secrets(&once), once.as_str());
    }

    #[test]
    fn any_text_can_be_masked(text in any::<String>()) {
        let _ = mask_secrets(&text);
    }

    #[test]
    fn secrets_between_ordinary_lines_are_masked(
        (text, recipe) in proptest::sample::select(SECRETS),
        before in proptest::sample::select(LOOKALIKES),
        after in proptest::sample::select(LOOKALIKES),
    ) {
        let secret = cook(recipe);
        // Some ordinary lines contain the same characters as a secret.
        prop_assume!(!before.contains(&secret) && !after.contains(&secret));
        let whole = format!("{before}\n{}\n{after}\n", text.replace("{}", &secret));
        prop_assert!(!mask_secrets(&whole).contains(&secret));
    }

    #[test]
    fn ordinary_lines_stay(lines in proptest::collection::vec(proptest::sample::select(LOOKALIKES), 1..6)) {
        let text = lines.join("\n");
        prop_assert_eq!(mask_secrets(&text), text.as_str());
    }

    #[test]
    fn plain_prose_stays(text in "([a-z]{1,12}[ ,.]){0,40}") {
        prop_assert_eq!(mask_secrets(&text), text.as_str());
    }
}
