//! Which fault is due, and the refusals in each API's own words.

use serde_json::Value;

use super::answer::{Answer, Thread};
use super::reply::Ids;
use super::script::{Fault, FaultKind};
use super::truth::{Api, TOO_LONG};
use super::{anthropic, openai};

/// How often each fault is still to happen.
#[derive(Debug)]
pub(super) struct Faults {
    left: Vec<(Fault, u32)>,
    calls: u64,
}

impl Faults {
    pub(super) fn new(faults: &[Fault]) -> Self {
        Self { left: faults.iter().map(|fault| (fault.clone(), fault.times)).collect(), calls: 0 }
    }

    /// Counts a model call and takes the fault that is due at it.
    pub(super) fn due(&mut self, answer: &Answer) -> Option<FaultKind> {
        if answer.thread != Thread::Main {
            return None;
        }
        self.calls += 1;
        let calls = self.calls;
        let (fault, left) = self.left.iter_mut().find(|(fault, left)| {
            *left > 0
                && fault.at_request.is_none_or(|n| calls >= n)
                && fault.at_step.is_none_or(|step| answer.steps.contains(&step))
        })?;
        *left -= 1;
        Some(fault.kind)
    }
}

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The error in the truth log.
    pub(super) error: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// The refusal that a fault stands for; `None` for faults of the transport.
pub(super) fn refusal(kind: FaultKind, api: Api, ids: &Ids) -> Option<Refusal> {
    let (status, error, message) = match (kind, api) {
        (FaultKind::CutStream | FaultKind::Stall { .. } | FaultKind::Hang, _) => return None,
        (FaultKind::RateLimit { .. }, Api::Anthropic) => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please reduce the prompt length or wait, then try again.",
        ),
        (FaultKind::RateLimit { .. }, Api::OpenAi) => (
            429,
            "rate_limit_exceeded",
            "Rate limit reached for scripted in organization org-rehearsal on tokens per min (TPM): Limit 30000, Used 30000, Requested 9000. Please try again in 1s. Visit https://platform.openai.com/account/rate-limits to learn more.",
        ),
        (FaultKind::Overloaded, Api::Anthropic) => (529, "overloaded_error", "Overloaded"),
        (FaultKind::Overloaded, Api::OpenAi) => {
            (503, "server_is_overloaded", "Our servers are currently overloaded. Please try again later.")
        }
        (FaultKind::Unauthorized, Api::Anthropic) => (401, "authentication_error", "invalid x-api-key"),
        (FaultKind::Unauthorized, Api::OpenAi) => (
            401,
            "invalid_api_key",
            "Incorrect API key provided: x. You can find your API key at https://platform.openai.com/account/api-keys.",
        ),
        (FaultKind::ServerError, Api::Anthropic) => (500, "api_error", "Internal server error"),
        (FaultKind::ServerError, Api::OpenAi) => {
            (500, "server_error", "The server had an error while processing your request. Sorry about that!")
        }
        (FaultKind::Quota, Api::Anthropic) => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        (FaultKind::Quota, Api::OpenAi) => (
            429,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
        ),
    };
    let mut headers = Vec::new();
    if let FaultKind::RateLimit { retry_after, headers: told } = kind {
        headers.extend(retry_after.map(|seconds| header("retry-after", seconds)));
        if told {
            headers.extend(limit_headers(api, retry_after.unwrap_or(1), ids.at_ms));
        }
    }
    Some(Refusal { status, error: error.to_owned(), headers, body: body(api, error, message, ids) })
}

/// The refusal of a request that is too long.
pub(super) fn too_long(api: Api, tokens: u64, window: u64, ids: &Ids) -> Refusal {
    let body = match api {
        Api::Anthropic => {
            let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
            anthropic::error("invalid_request_error", &message, ids)
        }
        Api::OpenAi => openai::error(
            "invalid_request_error",
            Some("context_length_exceeded"),
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
    };
    Refusal { status: 400, error: TOO_LONG.to_owned(), headers: Vec::new(), body }
}

/// The refusal of something that cannot be understood or is not here.
pub(super) fn unknown(api: Api, status: u16, message: &str, ids: &Ids) -> Refusal {
    let error = if status == 404 { "not_found_error" } else { "invalid_request_error" };
    let body = match api {
        Api::Anthropic => anthropic::error(error, message, ids),
        Api::OpenAi => openai::error("invalid_request_error", None, message),
    };
    Refusal { status, error: error.to_owned(), headers: Vec::new(), body }
}

fn body(api: Api, error: &str, message: &str, ids: &Ids) -> Value {
    let (kind, code) = match error {
        "rate_limit_exceeded" => ("tokens", Some(error)),
        "invalid_api_key" => ("invalid_request_error", Some(error)),
        "server_is_overloaded" => ("service_unavailable_error", Some(error)),
        "insufficient_quota" => ("insufficient_quota", Some(error)),
        other => (other, None),
    };
    match api {
        Api::Anthropic => anthropic::error(error, message, ids),
        Api::OpenAi => openai::error(kind, code, message),
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
        Api::OpenAi => vec![
            header("x-ratelimit-limit-tokens", 30_000),
            header("x-ratelimit-remaining-tokens", 0),
            header("x-ratelimit-reset-tokens", format!("{seconds}s")),
        ],
    }
}

fn header(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_server::answer::Kind;

    fn running(step: u32) -> Answer {
        Answer { steps: vec![step], ..Answer::words(Thread::Main, Kind::Work, "") }
    }

    #[test]
    fn a_fault_comes_as_often_as_it_should_and_only_where_it_should() {
        let fault = |at_request, at_step, kind, times| Fault { at_request, at_step, kind, times };
        let mut faults = Faults::new(&[
            fault(Some(2), None, FaultKind::Overloaded, 2),
            fault(None, Some(3), FaultKind::Hang, 1),
        ]);
        let side = Answer::words(Thread::Side, Kind::Work, "");
        assert_eq!(faults.due(&running(1)), None);
        assert_eq!(faults.due(&side), None);
        assert_eq!(faults.due(&running(2)), Some(FaultKind::Overloaded));
        assert_eq!(faults.due(&running(2)), Some(FaultKind::Overloaded));
        assert_eq!(faults.due(&running(2)), None);
        assert_eq!(faults.due(&running(3)), Some(FaultKind::Hang));
        assert_eq!(faults.due(&running(3)), None);
    }
}
