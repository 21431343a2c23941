//! Formats of keys that providers give out: a prefix, and what follows it. Data, and the one function that reads it.

use crate::spelling::{contains, distinct, mixed, run, starts_word};

/// What the rest of a token is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Alnum,
    Upper,
    Hex,
    Word,
    Dash,
    Dots,
    Base64,
    Address,
    Percent,
}

/// One format.
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) prefix: &'static str,
    set: Set,
    least: usize,
    most: usize,
}

const fn t(kind: &'static str, prefix: &'static str, set: Set, least: usize) -> Token {
    Token { kind, prefix, set, least, most: usize::MAX }
}

const fn exact(kind: &'static str, prefix: &'static str, set: Set, least: usize) -> Token {
    Token { kind, prefix, set, least, most: least }
}

use Set::{Address, Alnum, Base64, Dash, Dots, Hex, Percent, Upper, Word};

/// How key blocks begin in base64.
const BLOCKS: [&str; 7] = [
    "LS0tLS1CRUdJTiBSU0Eg",
    "LS0tLS1CRUdJTiBQUklW",
    "LS0tLS1CRUdJTiBFQyBQ",
    "LS0tLS1CRUdJTiBPUEVO",
    "LS0tLS1CRUdJTiBFTkNS",
    "LS0tLS1CRUdJTiBEU0Eg",
    "LS0tLS1CRUdJTiBQR1Ag",
];

/// Every format with a prefix of its own.
pub(crate) const TOKENS: &[Token] = &[
    exact("aws-key", "AKIA", Upper, 16),
    exact("aws-key", "ASIA", Upper, 16),
    exact("aws-key", "ABIA", Upper, 16),
    exact("aws-key", "ACCA", Upper, 16),
    t("aws-key", "ABSK", Base64, 100),
    t("github-token", "ghp_", Alnum, 20),
    t("github-token", "gho_", Alnum, 20),
    t("github-token", "ghu_", Alnum, 20),
    t("github-token", "ghs_", Alnum, 20),
    t("github-token", "ghr_", Alnum, 20),
    t("github-token", "github_pat_", Word, 20),
    t("gitlab-token", "glpat-", Dots, 16),
    t("gitlab-token", "gldt-", Dash, 16),
    t("gitlab-token", "glrt-", Dots, 16),
    t("gitlab-token", "glptt-", Dash, 16),
    t("gitlab-token", "glcbt-", Dash, 16),
    t("gitlab-token", "glsoat-", Dash, 16),
    t("gitlab-token", "glagent-", Dash, 16),
    t("gitlab-token", "gloas-", Dash, 16),
    t("slack-token", "xoxb-", Dash, 16),
    t("slack-token", "xoxp-", Dash, 16),
    t("slack-token", "xoxa-", Dash, 16),
    t("slack-token", "xoxr-", Dash, 16),
    t("slack-token", "xoxs-", Dash, 16),
    t("slack-token", "xoxc-", Dash, 16),
    t("slack-token", "xoxd-", Dash, 16),
    t("slack-token", "xoxe.", Dots, 16),
    t("slack-token", "xoxe-", Dash, 16),
    t("slack-token", "xapp-", Dash, 16),
    t("stripe-key", "sk_live_", Alnum, 16),
    t("stripe-key", "sk_test_", Alnum, 16),
    t("stripe-key", "rk_live_", Alnum, 16),
    t("stripe-key", "rk_test_", Alnum, 16),
    t("stripe-key", "whsec_", Base64, 20),
    t("openai-key", "sk-", Dash, 20),
    t("openai-key", "sk_", Alnum, 32),
    t("groq-key", "gsk_", Alnum, 32),
    t("xai-key", "xai-", Alnum, 32),
    t("perplexity-key", "pplx-", Alnum, 32),
    t("replicate-key", "r8_", Alnum, 32),
    t("nvidia-key", "nvapi-", Dash, 32),
    t("hugging-face-token", "hf_", Alnum, 24),
    t("hugging-face-token", "api_org_", Alnum, 24),
    t("google-key", "AIza", Dash, 30),
    t("google-token", "ya29.", Dots, 20),
    t("google-secret", "GOCSPX-", Dash, 20),
    t("google-token", "1//0", Dash, 30),
    t("npm-token", "npm_", Alnum, 30),
    t("pypi-token", "pypi-", Dash, 40),
    exact("crates-token", "cio", Alnum, 32),
    t("rubygems-key", "rubygems_", Hex, 32),
    t("sendgrid-key", "SG.", Dots, 40),
    t("mailgun-key", "key-", Hex, 32),
    t("mailchimp-key", "xkeysib-", Dash, 40),
    t("twilio-key", "SK", Hex, 32),
    t("twilio-key", "AC", Hex, 32),
    t("digitalocean-token", "dop_v1_", Hex, 32),
    t("digitalocean-token", "doo_v1_", Hex, 32),
    t("digitalocean-token", "dor_v1_", Hex, 32),
    t("heroku-key", "HRKU-", Dash, 30),
    t("databricks-token", "dapi", Hex, 32),
    t("vault-token", "hvs.", Dash, 20),
    t("vault-token", "hvb.", Dash, 20),
    t("vault-token", "hvr.", Dash, 20),
    t("docker-token", "dckr_pat_", Dash, 20),
    t("docker-token", "dckr_oat_", Dash, 20),
    t("linear-key", "lin_api_", Alnum, 30),
    t("linear-key", "lin_oauth_", Alnum, 30),
    t("notion-key", "ntn_", Alnum, 36),
    t("notion-key", "secret_", Alnum, 36),
    t("shopify-token", "shpat_", Hex, 32),
    t("shopify-token", "shpca_", Hex, 32),
    t("shopify-token", "shppa_", Hex, 32),
    t("shopify-token", "shpss_", Hex, 32),
    t("square-token", "sq0atp-", Dash, 20),
    t("square-token", "sq0csp-", Dash, 20),
    t("square-token", "sq0idp-", Dash, 20),
    t("square-token", "EAAA", Dash, 50),
    t("facebook-token", "EAAC", Alnum, 50),
    t("age-key", "AGE-SECRET-KEY-1", Upper, 40),
    t("cloudflare-key", "v1.0-", Dash, 80),
    t("grafana-token", "glsa_", Word, 30),
    t("grafana-token", "glc_", Base64, 30),
    t("newrelic-key", "NRAK-", Upper, 24),
    t("newrelic-key", "NRJS-", Alnum, 16),
    t("newrelic-key", "NRII-", Dash, 24),
    t("postman-key", "PMAK-", Dash, 40),
    t("pulumi-token", "pul-", Hex, 32),
    t("supabase-key", "sbp_", Hex, 32),
    t("supabase-key", "sb_secret_", Dash, 20),
    t("sentry-token", "sntrys_", Dots, 40),
    t("sentry-token", "sntryu_", Hex, 40),
    t("tailscale-key", "tskey-", Dash, 20),
    t("figma-token", "figd_", Dash, 24),
    t("alibaba-key", "LTAI", Alnum, 16),
    t("tencent-key", "AKID", Alnum, 32),
    t("atlassian-token", "ATATT3", Dots, 40),
    t("atlassian-token", "ATCTT3", Dots, 40),
    t("atlassian-token", "ATBB", Alnum, 28),
    t("doppler-token", "dp.pt.", Alnum, 30),
    t("doppler-token", "dp.st.", Dots, 30),
    t("artifactory-key", "AKCp", Alnum, 60),
    t("artifactory-key", "cmVmdGtu", Alnum, 48),
    t("easypost-key", "EZAK", Alnum, 50),
    t("flutterwave-key", "FLWSECK", Dash, 20),
    t("planetscale-token", "pscale_tkn_", Dots, 30),
    t("planetscale-token", "pscale_pw_", Dots, 30),
    t("contentful-token", "CFPAT-", Dash, 30),
    t("buildkite-token", "bkua_", Hex, 30),
    t("circleci-token", "CCIPAT_", Word, 40),
    t("circleci-token", "CCIPRJ_", Word, 40),
    t("dynatrace-token", "dt0c01.", Dots, 40),
    t("onepassword-token", "ops_eyJ", Dots, 100),
    t("mapbox-token", "sk.eyJ", Dots, 60),
    t("fly-token", "fm2_", Base64, 60),
    t("fly-token", "fo1_", Dash, 30),
    t("clojars-token", "CLOJARS_", Alnum, 40),
    t("readme-key", "rdme_", Alnum, 50),
    t("prefect-key", "pnu_", Alnum, 30),
    t("typeform-token", "tfp_", Dots, 40),
    t("duffel-token", "duffel_", Dash, 40),
    t("shippo-token", "shippo_", Word, 36),
    t("dropbox-token", "sl.", Dots, 100),
    t("airtable-token", "pat", Dots, 75),
    t("langsmith-key", "lsv2_", Word, 32),
    t("langfuse-key", "sk-lf-", Dash, 30),
    t("telegram-token", ":AA", Dash, 32),
    t("openrouter-key", "sk-or-", Dash, 30),
    t("anthropic-key", "sk-ant-", Dash, 20),
    t("jwt", "eyJ", Dots, 24),
    t("slack-webhook", "hooks.slack.com/services/", Base64, 20),
    t("slack-webhook", "hooks.slack.com/workflows/", Base64, 20),
    t("discord-webhook", "/api/webhooks/", Base64, 40),
    t("discord-webhook", "/webhooks/", Base64, 60),
    t("slack-webhook", "hooks.slack.com/triggers/", Base64, 20),
    t("zapier-webhook", "hooks.zapier.com/hooks/catch/", Base64, 8),
    t("teams-webhook", "webhook.office.com/webhookb2/", Address, 40),
    t("teams-webhook", "outlook.office.com/webhook/", Address, 40),
    t("make-webhook", "make.com/", Alnum, 28),
    t("make-webhook", "integromat.com/", Alnum, 28),
    t("ifttt-key", "ifttt.com/trigger/", Address, 20),
    t("telegram-token", "api.telegram.org/bot", Address, 30),
    t("telegram-token", "api.telegram.org/file/bot", Address, 30),
    t("webhook-site", "webhook.site/", Dash, 30),
    t("pipedream-webhook", ".m.pipedream.net/", Dash, 16),
    t("google-webhook", "chat.googleapis.com/v1/spaces/", Address, 60),
    t("private-key", BLOCKS[0], Base64, 40),
    t("private-key", BLOCKS[1], Base64, 40),
    t("private-key", BLOCKS[2], Base64, 40),
    t("private-key", BLOCKS[3], Base64, 40),
    t("private-key", BLOCKS[4], Base64, 40),
    t("private-key", BLOCKS[5], Base64, 40),
    t("private-key", BLOCKS[6], Base64, 40),
    t("private-key", "b3BlbnNzaC1rZXktdjE", Base64, 60),
    t("github-token", "ghi_", Alnum, 30),
    t("gitlab-token", "glft-", Dash, 16),
    t("gitlab-token", "glimt-", Dash, 16),
    t("gitlab-token", "glffct-", Dash, 16),
    t("gitlab-token", "GR1348941", Dash, 16),
    t("gitlab-token", "glwt-", Dots, 16),
    t("slack-token", "xwfp-", Dash, 16),
    t("slack-token", "xoxo-", Dash, 16),
    t("square-token", "sandbox-sq0", Dash, 20),
    t("stripe-key", "pk_live_", Alnum, 20),
    t("stripe-key", "sk_prod_", Alnum, 16),
    t("together-key", "tgp_v1_", Dash, 30),
    t("fireworks-key", "fw_", Alnum, 20),
    t("cerebras-key", "csk-", Alnum, 32),
    t("jina-key", "jina_", Dash, 40),
    t("tavily-key", "tvly-", Dash, 20),
    t("firecrawl-key", "fc-", Hex, 30),
    t("pinecone-key", "pcsk_", Word, 40),
    t("helicone-key", "sk-helicone-", Dash, 20),
    t("vercel-token", "vcp_", Alnum, 20),
    t("vercel-token", "vercel_blob_rw_", Word, 20),
    t("netlify-token", "nfp_", Alnum, 30),
    t("render-key", "rnd_", Alnum, 24),
    t("neon-key", "napi_", Alnum, 40),
    t("neon-password", "npg_", Alnum, 10),
    t("resend-key", "re_", Word, 24),
    t("mailersend-key", "mlsn.", Hex, 40),
    t("shopify-token", "shptka_", Hex, 32),
    t("shopify-token", "shpua_", Hex, 32),
    t("shopify-token", "shpit_", Hex, 32),
    t("digitalocean-token", "dos_v1_", Hex, 32),
    t("digitalocean-token", "DO00", Alnum, 16),
    t("scaleway-key", "SCW", Upper, 17),
    t("cloudflare-key", "cfut_", Dash, 30),
    t("cloudflare-key", "cfat_", Dash, 30),
    t("terraform-token", ".atlasv1.", Dash, 40),
    t("sonar-token", "squ_", Hex, 32),
    t("sonar-token", "sqp_", Hex, 32),
    t("sonar-token", "sqa_", Hex, 32),
    t("semgrep-token", "sgp_", Hex, 32),
    t("sourcegraph-token", "sgp_local_", Hex, 32),
    t("sourcegraph-token", "sgd_", Hex, 32),
    t("sourcegraph-token", "slk_", Hex, 32),
    t("nuget-key", "oy2", Alnum, 43),
    t("hashicorp-token", "hvp.", Dash, 20),
    t("infracost-key", "ico-", Alnum, 30),
    t("harness-token", "pat.", Dots, 50),
    t("harness-token", "sat.", Dots, 50),
    t("jfrog-token", "jfrt@", Dots, 30),
    t("bitbucket-token", "ATCTT", Dash, 40),
    t("bitbucket-token", "ATOA", Dash, 40),
    t("intercom-token", "dG9rO", Base64, 40),
    t("hubspot-token", "pat-na1-", Dash, 30),
    t("hubspot-token", "pat-eu1-", Dash, 30),
    t("hubspot-token", "pat-na2-", Dash, 30),
    t("okta-token", "SSWS ", Dash, 30),
    t("posthog-key", "phx_", Alnum, 30),
    t("posthog-key", "phs_", Alnum, 30),
    t("honeycomb-key", "hcaik_", Alnum, 30),
    t("honeycomb-key", "hcbik_", Alnum, 30),
    t("logfire-token", "pylf_v1_", Word, 30),
    t("axiom-token", "xaat-", Dash, 30),
    t("axiom-token", "xapt-", Dash, 30),
    t("elastic-key", "essu_", Base64, 30),
    t("sentry-token", "sntryi_", Dots, 30),
    t("twitch-token", "oauth:", Alnum, 30),
    t("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", Percent, 40),
    t("facebook-token", "EAAG", Alnum, 50),
    t("facebook-token", "EAAB", Alnum, 50),
    t("facebook-token", "EAAI", Alnum, 50),
    t("instagram-token", "IGQV", Dash, 50),
    t("plaid-token", "access-sandbox-", Dash, 30),
    t("plaid-token", "access-production-", Dash, 30),
    t("plaid-token", "access-development-", Dash, 30),
    t("paypal-token", "A21AA", Dash, 60),
    t("paypal-token", "access_token$", Percent, 30),
    t("adyen-key", "AQE", Base64, 90),
    t("razorpay-key", "rzp_live_", Alnum, 14),
    t("razorpay-key", "rzp_test_", Alnum, 14),
    t("frameio-token", "fio-u-", Dash, 60),
    t("confluent-key", "cflt", Base64, 56),
    t("mongo-key", "mdb_sa_sk_", Dash, 30),
    t("aiven-token", "aivenv1", Base64, 60),
    t("cockroach-key", "CCDB1_", Word, 40),
    t("yandex-key", "AQVN", Dash, 35),
    t("yandex-token", "t1.", Dots, 60),
    t("yandex-token", "y0_", Dash, 50),
    t("dynatrace-token", "dt0s01.", Dots, 40),
    t("dynatrace-token", "dt0s16.", Dots, 40),
    t("brave-key", "BSA", Dash, 27),
    t("adafruit-key", "aio_", Alnum, 26),
    t("ubidots-token", "BBFF-", Alnum, 30),
    t("cal-key", "cal_live_", Hex, 30),
    t("sanity-token", "skS", Alnum, 60),
    t("depot-token", "depot_", Word, 30),
    t("chromatic-token", "chpt_", Alnum, 12),
    t("maxmind-key", "mmk", Word, 38),
    t("intra42-key", "s-s4t2ud-", Hex, 60),
    t("settlemint-token", "sm_pat_", Alnum, 16),
    t("settlemint-token", "sm_aat_", Alnum, 16),
    t("scalingo-token", "tk-us-", Dash, 40),
    t("microsoft-secret", "8Q~", Percent, 30),
    t("openshift-token", "sha256~", Dash, 40),
    t("defined-token", "dnkey-", Dash, 40),
    t("gemini-key", "AQ.Ab8", Dash, 30),
    t("cursor-key", "key_", Hex, 60),
    t("cursor-key", "crsr_", Hex, 40),
    t("snowflake-token", "ver:1-hint:", Base64, 40),
    t("nostr-key", "nsec1", Alnum, 50),
    t("bitcoin-key", "xprv9", Alnum, 90),
    t("bitcoin-key", "xprvA", Alnum, 90),
    t("bitcoin-key", "zprv", Alnum, 90),
    t("asana-token", "2/1", Address, 40),
    t("launchdarkly-key", "sdk-", Dash, 36),
];

/// The last run of each set that was read to its end, so that no run is read again for each prefix in it.
#[derive(Default)]
pub(crate) struct Runs(Vec<(Set, usize, usize)>);

impl Runs {
    fn end(&mut self, set: Set, text: &[u8], at: usize) -> usize {
        let known = self.0.iter_mut().find(|(known, ..)| *known == set);
        match known {
            Some((_, start, end)) if (*start..=*end).contains(&at) => *end,
            known => {
                let end = at + run(text, at, |b| set.has(b));
                match known {
                    Some(known) => (known.1, known.2) = (at, end),
                    None => self.0.push((set, at, end)),
                }
                end
            }
        }
    }
}

/// How much of a token is looked at to tell whether it is one.
const LOOKED_AT: usize = 512;

/// The token that starts with the prefix at `at`, as `(start, end)`.
pub(crate) fn find(token: &Token, text: &[u8], at: usize, runs: &mut Runs) -> Option<(usize, usize)> {
    let body = at + token.prefix.len();
    if text.get(at..body)? != token.prefix.as_bytes() {
        return None;
    }
    let loose = matches!(token.prefix, ":AA" | ".atlasv1." | "8Q~")
        || token.prefix.len() > 3 && token.prefix.contains('/')
        || token.prefix.starts_with('.');
    let first = &text[body..text.len().min(body + 64)];
    let first = &first[..run(first, 0, |b| token.set.has(b))];
    // Most candidates end here: a long run is only read to its end if its start is random.
    if first.len() < token.least.min(64)
        || !(loose || starts_word(text, at))
        || !mixed(first)
        || (distinct(first) as usize) < token.least.min(8)
    {
        return None;
    }
    let (mut start, mut end) = (at, runs.end(token.set, text, body));
    while end > body && matches!(text[end - 1], b'.' | b'/') {
        end -= 1;
    }
    let rest = &text[body..end];
    let near = &rest[..rest.len().min(LOOKED_AT)];
    if rest.len() < token.least || rest.len() > token.most || sample(rest) {
        return None;
    }
    match token.prefix {
        ":AA" => start = telegram(text, at)?,
        ".atlasv1." => {
            let id = text[at.saturating_sub(14)..at].iter().rev().take_while(|b| b.is_ascii_alphanumeric());
            start -= id.count();
        }
        "eyJ" if !jwt(near) => return None,
        "SG." | "pat" if !near.contains(&b'.') => return None,
        "/api/webhooks/" | "/webhooks/"
            if !text[at.saturating_sub(24)..at].windows(7).any(|w| w == b"discord") =>
        {
            return None;
        }
        _ => {}
    }
    if token.most == token.least && text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    Some((start, end))
}

/// Discord's bot tokens have no prefix: 23 to 28 characters, a dot, 6, a dot, and at least 27. The two dots are searched
/// for in blocks, which takes next to no time.
pub(crate) fn discord(text: &[u8], mut found: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at + 8 < text.len() {
        let size = (text.len() - at - 7).min(64);
        let (here, there) = (&text[at..at + size], &text[at + 7..at + 7 + size]);
        let pairs = here
            .iter()
            .zip(there)
            .fold(0_u8, |any, (a, b)| any | (u8::from(*a == b'.') & u8::from(*b == b'.')));
        if pairs != 0 {
            let dots = (at..at + size).filter(|dot| text[*dot] == b'.' && text[dot + 7] == b'.');
            dots.filter_map(|dot| discord_around(text, dot)).for_each(|(start, end)| found(start, end));
        }
        at += size;
    }
}

fn discord_around(text: &[u8], dot: usize) -> Option<(usize, usize)> {
    if !text[dot + 1..dot + 7].iter().all(|b| Dash.has(*b)) {
        return None;
    }
    let first = text[dot.saturating_sub(30)..dot].iter().rev().take_while(|b| Dash.has(**b)).count();
    let start = (dot - first..dot).find(|start| starts_word(text, *start))?;
    let last = run(text, dot + 8, |b| Dash.has(b));
    let head = &text[start..dot];
    let shape =
        (23..=28).contains(&head.len()) && (27..=40).contains(&last) && matches!(head[0], b'M' | b'N' | b'O');
    (shape && mixed(head) && mixed(&text[dot + 8..dot + 8 + last])).then_some((start, dot + 8 + last))
}

fn telegram(text: &[u8], colon: usize) -> Option<usize> {
    let digits =
        text[colon.saturating_sub(12)..colon].iter().rev().take_while(|b| b.is_ascii_digit()).count();
    (8..=11).contains(&digits).then_some(colon - digits)
}

/// Three parts, or two when the end was cut off: the second is the payload and long.
fn jwt(rest: &[u8]) -> bool {
    let mut parts = rest.split(|b| *b == b'.');
    let (Some(head), Some(payload)) = (parts.next(), parts.next()) else { return false };
    head.len() >= 8 && payload.len() >= 8 && !payload.is_empty()
}

fn sample(rest: &[u8]) -> bool {
    rest.ends_with(b"EXAMPLE")
        || rest.ends_with(b"EXAMPLEKEY")
        || contains(&rest[..rest.len().min(LOOKED_AT)], b"xxxxxx")
        || contains(&rest[..rest.len().min(LOOKED_AT)], b"your-")
}

impl Set {
    fn has(self, b: u8) -> bool {
        match self {
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Hex => b.is_ascii_hexdigit(),
            Self::Word => b.is_ascii_alphanumeric() || b == b'_',
            Self::Dash => b.is_ascii_alphanumeric() || b == b'_' || b == b'-',
            Self::Dots => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'='),
            Self::Address => b.is_ascii_alphanumeric() || b"_-./:@=%+~".contains(&b),
            Self::Percent => b.is_ascii_alphanumeric() || b"_-.~%$".contains(&b),
            Self::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-'),
        }
    }
}
