//! Refusals, in each API's own words: status, headers and body.

use serde_json::{Value, json};

use super::reply::Ids;
use super::script::FaultKind;
use super::truth::{Api, TOO_LONG};
use super::{anthropic, gemini, openai};

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The error in the truth log.
    pub(super) error: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// Status, the error's own type, code or status, and its message.
type Words = (u16, &'static str, &'static str);

/// The refusal that a fault stands for; `None` for faults of the transport and for a request that
/// is too long, which has a refusal of its own.
pub(super) fn of_fault(kind: FaultKind, api: Api, ids: &Ids) -> Option<Refusal> {
    let (status, error, message) = match api {
        Api::Anthropic => anthropic_words(kind),
        Api::OpenAi | Api::Chat => openai_words(kind),
        Api::Gemini => gemini_words(kind),
    }?;
    let body = match api {
        Api::Anthropic => anthropic::error(error, message, ids),
        Api::OpenAi | Api::Chat => openai_body(error, message),
        Api::Gemini => gemini::error(status, error, message, &gemini_details(kind)),
    };
    let mut headers = Vec::new();
    // The Gemini API tells all of this in the body.
    if let (FaultKind::RateLimit { retry_after, headers: told }, true) = (kind, api != Api::Gemini) {
        headers.extend(retry_after.map(|seconds| header("retry-after", seconds)));
        if told {
            headers.extend(limit_headers(api, retry_after.unwrap_or(1), ids.at_ms));
        }
    }
    Some(Refusal { status, error: error.to_owned(), headers, body })
}

/// The refusal of a request that is too long.
pub(super) fn too_long(api: Api, tokens: u64, window: u64, ids: &Ids) -> Refusal {
    let openai =
        |message: &str| openai::error("invalid_request_error", Some("context_length_exceeded"), message);
    let body = match api {
        Api::Anthropic => {
            let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
            anthropic::error("invalid_request_error", &message, ids)
        }
        Api::OpenAi => openai(
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        Api::Chat => {
            let mut body = openai(&format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} \
                 tokens. Please reduce the length of the messages."
            ));
            body["error"]["param"] = "messages".into();
            body
        }
        Api::Gemini => {
            let message = format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
            );
            gemini::error(400, "INVALID_ARGUMENT", &message, &[])
        }
    };
    Refusal { status: 400, error: TOO_LONG.to_owned(), headers: Vec::new(), body }
}

/// The refusal of calls and results that do not fit together.
pub(super) fn broken_pair(api: Api, id: &str, ids: &Ids) -> Refusal {
    let body = match api {
        Api::Anthropic => {
            let message = format!(
                "messages: `tool_use` ids must be unique and each must have one `tool_result` block in the next message: {id}"
            );
            anthropic::error("invalid_request_error", &message, ids)
        }
        Api::OpenAi => openai::error(
            "invalid_request_error",
            None,
            &format!("No tool output found for function call {id}."),
        ),
        Api::Chat => {
            let message = format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
            );
            openai::error("invalid_request_error", None, &message)
        }
        Api::Gemini => {
            let message = "Please ensure that the number of function response parts is equal to the number of function \
                           call parts of the function call turn.";
            gemini::error(400, "INVALID_ARGUMENT", message, &[])
        }
    };
    Refusal { status: 400, error: "broken_pair".to_owned(), headers: Vec::new(), body }
}

/// The refusal of a request that leaves no room for the answer that it allows, where the API has one.
pub(super) fn no_room(api: Api, input: u64, answer: u64, window: u64, ids: &Ids) -> Option<Refusal> {
    if input + answer <= window {
        return None;
    }
    let (error, body) = match api {
        // Claude Code asks again for a shorter answer, so this is no overflow.
        Api::Anthropic => {
            let message = format!(
                "input length and `max_tokens` exceed context limit: {input} + {answer} > {window}, decrease input \
                 length or `max_tokens` and try again"
            );
            ("no_room_for_answer", anthropic::error("invalid_request_error", &message, ids))
        }
        Api::Chat => {
            let message = format!(
                "This model's maximum context length is {window} tokens. However, you requested {} tokens ({input} in \
                 the messages, {answer} in the completion). Please reduce the length of the messages or completion.",
                input + answer
            );
            (TOO_LONG, openai::error("invalid_request_error", Some("context_length_exceeded"), &message))
        }
        Api::OpenAi | Api::Gemini => return None,
    };
    Some(Refusal { status: 400, error: error.to_owned(), headers: Vec::new(), body })
}

/// The refusal of something that cannot be understood or is not here.
pub(super) fn unknown(api: Api, status: u16, message: &str, ids: &Ids) -> Refusal {
    let error = if status == 404 { "not_found_error" } else { "invalid_request_error" };
    let body = match api {
        Api::Anthropic => anthropic::error(error, message, ids),
        Api::OpenAi | Api::Chat => openai::error("invalid_request_error", None, message),
        Api::Gemini => {
            let name = if status == 404 { "NOT_FOUND" } else { "INVALID_ARGUMENT" };
            gemini::error(status, name, message, &[])
        }
    };
    Refusal { status, error: error.to_owned(), headers: Vec::new(), body }
}

fn anthropic_words(kind: FaultKind) -> Option<Words> {
    Some(match kind {
        FaultKind::CutStream | FaultKind::Stall { .. } | FaultKind::Hang | FaultKind::Overflow => {
            return None;
        }
        FaultKind::RateLimit { .. } => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please reduce the prompt length or wait, then try again.",
        ),
        FaultKind::Overloaded => (529, "overloaded_error", "Overloaded"),
        FaultKind::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
        FaultKind::Forbidden => {
            (403, "permission_error", "Your API key does not have permission to use the specified resource.")
        }
        FaultKind::ServerError => (500, "api_error", "Internal server error"),
        FaultKind::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
    })
}

fn openai_words(kind: FaultKind) -> Option<Words> {
    Some(match kind {
        FaultKind::CutStream | FaultKind::Stall { .. } | FaultKind::Hang | FaultKind::Overflow => {
            return None;
        }
        FaultKind::RateLimit { .. } => (
            429,
            "rate_limit_exceeded",
            "Rate limit reached for scripted in organization org-rehearsal on tokens per min (TPM): Limit 30000, Used 30000, Requested 9000. Please try again in 1s. Visit https://platform.openai.com/account/rate-limits to learn more.",
        ),
        FaultKind::Overloaded => {
            (503, "server_is_overloaded", "Our servers are currently overloaded. Please try again later.")
        }
        FaultKind::Unauthorized => (
            401,
            "invalid_api_key",
            "Incorrect API key provided: x. You can find your API key at https://platform.openai.com/account/api-keys.",
        ),
        FaultKind::Forbidden => {
            (403, "unsupported_country_region_territory", "Country, region, or territory not supported")
        }
        FaultKind::ServerError => {
            (500, "server_error", "The server had an error while processing your request. Sorry about that!")
        }
        FaultKind::Quota => (
            429,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
        ),
    })
}

fn openai_body(error: &str, message: &str) -> Value {
    let (kind, code) = match error {
        "rate_limit_exceeded" => ("tokens", Some(error)),
        "invalid_api_key" => ("invalid_request_error", Some(error)),
        "unsupported_country_region_territory" => ("request_forbidden", Some(error)),
        "server_is_overloaded" => ("service_unavailable_error", Some(error)),
        "insufficient_quota" => ("insufficient_quota", Some(error)),
        other => (other, None),
    };
    openai::error(kind, code, message)
}

fn gemini_words(kind: FaultKind) -> Option<Words> {
    const SPENT: &str = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.";
    Some(match kind {
        FaultKind::CutStream | FaultKind::Stall { .. } | FaultKind::Hang | FaultKind::Overflow => {
            return None;
        }
        FaultKind::RateLimit { retry_after: None, headers: false } => {
            (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
        }
        FaultKind::RateLimit { .. } | FaultKind::Quota => (429, "RESOURCE_EXHAUSTED", SPENT),
        FaultKind::Overloaded => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        FaultKind::Unauthorized => (
            401,
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
        ),
        FaultKind::Forbidden => (403, "PERMISSION_DENIED", "The caller does not have permission"),
        FaultKind::ServerError => (
            500,
            "INTERNAL",
            "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
        ),
    })
}

// Which limit was met, and when to come back. A limit per day is not worth a retry.
fn gemini_details(kind: FaultKind) -> Vec<Value> {
    let failure = |id: &str, value: &str| {
        json!({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count",
            "quotaId": id, "quotaDimensions": { "location": "global", "model": "scripted" }, "quotaValue": value,
        }] })
    };
    let retry = |seconds: u64| json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") });
    match kind {
        FaultKind::RateLimit { retry_after, headers } => {
            let limit =
                headers.then(|| failure("GenerateContentPaidTierInputTokensPerModelPerMinute", "30000"));
            limit.into_iter().chain(retry_after.map(retry)).collect()
        }
        FaultKind::Quota => vec![failure("GenerateRequestsPerDayPerProjectPerModel", "100")],
        FaultKind::Overloaded
        | FaultKind::Unauthorized
        | FaultKind::Forbidden
        | FaultKind::ServerError
        | FaultKind::CutStream
        | FaultKind::Stall { .. }
        | FaultKind::Hang
        | FaultKind::Overflow => Vec::new(),
    }
}

fn limit_headers(api: Api, seconds: u64, at_ms: u64) -> Vec<(String, String)> {
    match api {
        Api::Anthropic => {
            let at = i64::try_from(at_ms / 1000 + seconds).unwrap_or(0);
            let reset = jiff::Timestamp::from_second(at).unwrap_or_default();
            vec![
                header("anthropic-ratelimit-input-tokens-limit", 30_000),
                header("anthropic-ratelimit-input-tokens-remaining", 0),
                header("anthropic-ratelimit-input-tokens-reset", reset),
                header("anthropic-ratelimit-requests-limit", 50),
                header("anthropic-ratelimit-requests-remaining", 0),
                header("anthropic-ratelimit-requests-reset", reset),
            ]
        }
        Api::OpenAi | Api::Chat => vec![
            header("x-ratelimit-limit-tokens", 30_000),
            header("x-ratelimit-remaining-tokens", 0),
            header("x-ratelimit-reset-tokens", format!("{seconds}s")),
        ],
        Api::Gemini => Vec::new(),
    }
}

fn header(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}
