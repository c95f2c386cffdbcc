//! Secrets that are known by how they begin.

use super::runs::Chars;

/// A form of secrets: a prefix that nothing else begins with, and what follows it.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) prefix: &'static str,
    pub(super) chars: Chars,
    /// How many characters follow at least.
    pub(super) min: usize,
    /// How many follow at most: a longer run is something else.
    pub(super) max: usize,
    pub(super) needs: Needs,
    pub(super) prefix_is: Prefix,
}

/// What must be among the characters after the prefix, to tell a secret from words joined by hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    Digit,
    /// Letters of both cases.
    BothCases,
}

/// Whether the prefix goes with the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Masked,
    /// It is an address that says what was called.
    Kept,
}

const NO_MAX: usize = usize::MAX;

const fn open(name: &'static str, prefix: &'static str, chars: Chars, min: usize, needs: Needs) -> Form {
    Form {
        name,
        prefix,
        chars,
        min,
        max: NO_MAX,
        needs,
        prefix_is: Prefix::Masked,
    }
}

const fn exact(name: &'static str, prefix: &'static str, chars: Chars, length: usize) -> Form {
    Form {
        max: length,
        ..open(name, prefix, chars, length, Needs::Digit)
    }
}

const fn address(name: &'static str, prefix: &'static str, min: usize) -> Form {
    Form {
        prefix_is: Prefix::Kept,
        ..open(name, prefix, Chars::Path, min, Needs::Digit)
    }
}

use Chars::{Alnum, Base64, Dotted, Hex, Upper, Url};
use Needs::{BothCases, Digit, Nothing};

/// The forms. Where one prefix begins with another, the longer one stands first.
pub(super) const FORMS: &[Form] = &[
    open("Anthropic key", "sk-ant-", Url, 16, Digit),
    open("OpenRouter key", "sk-or-v1-", Hex, 32, Digit),
    open("OpenAI key", "sk-proj-", Url, 20, Digit),
    open("OpenAI key", "sk-svcacct-", Url, 20, Digit),
    open("OpenAI key", "sk-admin-", Url, 20, Digit),
    open("LangSmith key", "lsv2_", Url, 32, Digit),
    open("API key", "sk-", Alnum, 20, Digit),
    exact("AWS key id", "AKIA", Upper, 16),
    exact("AWS key id", "ASIA", Upper, 16),
    exact("AWS key id", "ABIA", Upper, 16),
    open("AWS key", "ABSK", Base64, 80, Digit),
    open("GitHub token", "ghp_", Alnum, 20, Digit),
    open("GitHub token", "gho_", Alnum, 20, Digit),
    open("GitHub token", "ghu_", Alnum, 20, Digit),
    open("GitHub token", "ghs_", Dotted, 20, Digit),
    open("GitHub token", "ghr_", Alnum, 20, Digit),
    open("GitHub token", "github_pat_", Url, 30, Digit),
    open("GitLab token", "glpat-", Dotted, 16, Digit),
    open("GitLab token", "glptt-", Url, 16, Digit),
    open("GitLab token", "gldt-", Url, 16, Digit),
    open("GitLab token", "glrt-", Dotted, 16, Digit),
    open("GitLab token", "glcbt-", Url, 16, Digit),
    open("GitLab token", "glsoat-", Url, 16, Digit),
    open("GitLab token", "glagent-", Url, 16, Digit),
    open("GitLab token", "gloas-", Url, 16, Digit),
    open("Slack token", "xoxb-", Url, 20, Digit),
    open("Slack token", "xoxp-", Url, 20, Digit),
    open("Slack token", "xoxa-", Url, 20, Digit),
    open("Slack token", "xoxr-", Url, 20, Digit),
    open("Slack token", "xoxs-", Url, 20, Digit),
    open("Slack token", "xoxc-", Url, 20, Digit),
    open("Slack token", "xoxd-", Base64, 20, Digit),
    open("Slack token", "xoxe-", Url, 20, Digit),
    open("Slack token", "xoxe.xox", Url, 20, Digit),
    open("Slack token", "xapp-", Url, 20, Digit),
    address("Slack webhook", "hooks.slack.com/services/", 20),
    address("Slack webhook", "hooks.slack.com/workflows/", 20),
    address("Discord webhook", "discord.com/api/webhooks/", 40),
    address("Discord webhook", "discordapp.com/api/webhooks/", 40),
    open("Stripe key", "sk_live_", Alnum, 12, Digit),
    open("Stripe key", "rk_live_", Alnum, 12, Digit),
    open("Stripe key", "sk_test_", Alnum, 12, Digit),
    open("Stripe key", "rk_test_", Alnum, 12, Digit),
    open("webhook secret", "whsec_", Base64, 20, Digit),
    exact("Google key", "AIza", Url, 35),
    open("Google token", "ya29.", Url, 20, Digit),
    open("Google secret", "GOCSPX-", Url, 20, Digit),
    open("Google token", "1//0", Url, 30, BothCases),
    exact("npm token", "npm_", Alnum, 36),
    open("PyPI token", "pypi-AgE", Url, 30, Digit),
    open("Hugging Face token", "hf_", Alnum, 30, BothCases),
    open("SendGrid key", "SG.", Dotted, 50, BothCases),
    exact("Twilio key", "SK", Hex, 32),
    open("DigitalOcean token", "dop_v1_", Hex, 40, Digit),
    open("DigitalOcean token", "doo_v1_", Hex, 40, Digit),
    open("DigitalOcean token", "dor_v1_", Hex, 40, Digit),
    open("age key", "AGE-SECRET-KEY-1", Upper, 40, Nothing),
    open("Vault token", "hvs.", Url, 20, Digit),
    open("Vault token", "hvb.", Url, 20, Digit),
    open("Vault token", "hvr.", Url, 20, Digit),
    exact("Databricks token", "dapi", Hex, 32),
    open("Shopify token", "shpat_", Hex, 32, Digit),
    open("Shopify token", "shpca_", Hex, 32, Digit),
    open("Shopify token", "shppa_", Hex, 32, Digit),
    open("Shopify secret", "shpss_", Hex, 32, Digit),
    open("Linear key", "lin_api_", Alnum, 30, Digit),
    open("Linear token", "lin_oauth_", Alnum, 30, Digit),
    open("Notion token", "secret_", Alnum, 40, Digit),
    open("Notion token", "ntn_", Alnum, 40, Digit),
    open("Doppler token", "dp.pt.", Alnum, 40, Digit),
    open("Doppler token", "dp.st.", Dotted, 40, Digit),
    open("Doppler token", "dp.ct.", Alnum, 40, Digit),
    open("Doppler token", "dp.sa.", Alnum, 40, Digit),
    open("Sentry token", "sntrys_", Base64, 40, Digit),
    open("Sentry token", "sntryu_", Hex, 40, Digit),
    open("Figma token", "figd_", Url, 30, Digit),
    open("PlanetScale token", "pscale_tkn_", Dotted, 30, Digit),
    open("PlanetScale password", "pscale_pw_", Dotted, 30, Digit),
    open("PlanetScale token", "pscale_oauth_", Dotted, 30, Digit),
    open("Supabase token", "sbp_", Hex, 40, Digit),
    open("Supabase key", "sb_secret_", Url, 20, Digit),
    open("xAI key", "xai-", Alnum, 40, Digit),
    open("Groq key", "gsk_", Alnum, 40, Digit),
    open("Replicate token", "r8_", Alnum, 30, Digit),
    open("Perplexity key", "pplx-", Alnum, 40, Digit),
    exact("Mailgun key", "key-", Hex, 32),
    open("Docker token", "dckr_pat_", Url, 20, Digit),
    open("Grafana token", "glsa_", Url, 32, Digit),
    open("Tailscale key", "tskey-", Url, 20, Digit),
    open("New Relic key", "NRAK-", Upper, 20, Digit),
    open("Postman key", "PMAK-", Url, 40, Digit),
    open("Pulumi token", "pul-", Hex, 40, Digit),
    open("RubyGems key", "rubygems_", Hex, 40, Digit),
    open("Atlassian token", "ATATT3", Base64, 60, Digit),
    open("1Password token", "ops_eyJ", Base64, 60, Digit),
    open("Netlify token", "nfp_", Alnum, 36, Digit),
];

/// For each byte, the forms whose prefix has it at one place, a bit for each.
const fn forms_with(place: usize) -> [u128; 256] {
    assert!(FORMS.len() <= 128, "a form is a bit of a u128");
    let mut table = [0; 256];
    let mut at = 0;
    while at < FORMS.len() {
        table[FORMS[at].prefix.as_bytes()[place] as usize] |= 1 << at;
        at += 1;
    }
    table
}

pub(super) static BY_FIRST: [u128; 256] = forms_with(0);
static BY_SECOND: [u128; 256] = forms_with(1);

/// The forms whose prefix `text` begins with, in order. Two bytes tell for nearly every word that there is none.
pub(super) fn beginning(text: &[u8]) -> impl Iterator<Item = &'static Form> {
    let mut left = match text {
        [first, second, ..] => BY_FIRST[usize::from(*first)] & BY_SECOND[usize::from(*second)],
        _ => 0,
    };
    std::iter::from_fn(move || {
        let at = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        FORMS.get(at)
    })
    .filter(move |form| text.starts_with(form.prefix.as_bytes()))
}
