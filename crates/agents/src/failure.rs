//! What an agent's error means. Only errors come here: what an agent writes as text never does (M9).

use segue_machine::{AgentFailure, TurnEnd};

use crate::retry;

/// Reads an error that an agent gave as the end of a turn.
///
/// A full window is believed only when the message also carries a number or a machine-readable code, because
/// people write "prompt is too long" in many places.
pub fn classify(message: &str, code: Option<&str>) -> TurnEnd {
    let text = message.to_lowercase();
    let code = code.unwrap_or_default().to_lowercase();
    let has = |needle: &str| text.contains(needle) || code.contains(needle);
    // A number in the middle of a request's id is no status.
    let status = |number: &str| stands_alone(&text, number) || stands_alone(&code, number);
    let numbered = text.bytes().any(|b| b.is_ascii_digit()) || !code.is_empty();
    let full = [
        "prompt is too long",
        "context_length_exceeded",
        "context window",
        "input token count",
        "contextwindowexceeded",
    ];
    if numbered && full.iter().any(|f| has(f)) {
        return TurnEnd::Overflow { message: message.to_owned() };
    }
    // Providers say "exceeded your current quota" of a minute as well as of the money; the minute comes with a time.
    let retry = retry::in_words(message);
    let spent = has("exceeded your current quota") && retry.is_none();
    // What people write about limits is believed only beside a number or a code (M9).
    let told = |needle: &str| numbered && has(needle);
    let failure = if told("overloaded")
        || has("overloaded_error")
        || has("model is overloaded")
        || has("servers are currently overloaded")
        || has("at capacity")
        || ["529", "502", "503", "504"].iter().any(|number| status(number))
        // In words any number may be anything.
        || stands_alone(&code, "500")
        || has("service unavailable")
    {
        AgentFailure::Overloaded
    } else if has("insufficient_quota")
        || has("quota exceeded")
        || has("daily quota")
        || has("credit balance")
        || spent
    {
        AgentFailure::Quota
    } else if told("rate_limit") || told("rate limit") || status("429") || has("resource_exhausted") {
        AgentFailure::RateLimited
    } else if status("401")
        || status("403")
        || has("authentication")
        || has("auth_required")
        || has("unauthorized")
    {
        AgentFailure::Unauthorised
    } else if has("model_not_found") || has("not_found_error") || has("unknown model") {
        AgentFailure::BadModel
    } else if UNREACHABLE.iter().any(|words| has(words)) {
        AgentFailure::Network
    } else {
        AgentFailure::Other
    };
    let limited =
        matches!(failure, AgentFailure::Overloaded | AgentFailure::RateLimited | AgentFailure::Quota);
    TurnEnd::Failed { failure, message: message.to_owned(), retry: retry.filter(|_| limited) }
}

/// How the CLIs and the systems below them say that there is no connection, in lower case.
const UNREACHABLE: [&str; 19] = [
    "econnrefused",
    "connection refused",
    "econnreset",
    "connection reset",
    "connection error",
    "enotfound",
    "eai_again",
    "getaddrinfo",
    "dns error",
    "failed to lookup address",
    "etimedout",
    "request timed out",
    "connection timed out",
    "unable to connect",
    "fetch failed",
    "network error",
    "tls handshake",
    "certificate",
    "stream disconnected before completion",
];
/// What kind of failure an agent meets that it tries to get over by itself: by its status where there is one.
pub(crate) fn failure_of(why: &str, status: Option<u64>) -> AgentFailure {
    match (status, classify(why, None)) {
        (Some(429), TurnEnd::Failed { failure: AgentFailure::Quota, .. }) => AgentFailure::Quota,
        (Some(429), _) => AgentFailure::RateLimited,
        (Some(503 | 529), _) => AgentFailure::Overloaded,
        (Some(401 | 403), _) => AgentFailure::Unauthorised,
        (_, TurnEnd::Failed { failure, .. }) => failure,
        (_, TurnEnd::Finished { .. } | TurnEnd::Cancelled | TurnEnd::Overflow { .. }) => AgentFailure::Other,
    }
}

fn stands_alone(text: &str, number: &str) -> bool {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(number).any(|(at, found)| {
        apart(text[..at].chars().next_back()) && apart(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use segue_machine::Retry;

    use super::*;

    fn kind(message: &str, code: Option<&str>) -> Option<AgentFailure> {
        if let TurnEnd::Failed { failure, .. } = classify(message, code) { Some(failure) } else { None }
    }

    #[test]
    fn a_full_window_is_known_by_its_number_or_code() {
        assert_eq!(kind("prompt is too long: 213224 tokens > 200000 maximum", None), None);
        assert_eq!(
            kind("Your input exceeds the context window of this model", Some("context_length_exceeded")),
            None
        );
        assert_eq!(kind("the user says the prompt is too long", None), Some(AgentFailure::Other));
    }

    #[test]
    fn each_failure_has_its_own_name() {
        for (message, failure) in [
            ("529 overloaded_error: Overloaded", AgentFailure::Overloaded),
            ("unexpected status 503 Service Unavailable: Our servers are busy", AgentFailure::Overloaded),
            ("Selected model is at capacity. Please try a different model.", AgentFailure::Overloaded),
            ("429 rate_limit_error", AgentFailure::RateLimited),
            (
                "last status: 429 Too Many Requests, request id: req_1a1e250378d00002",
                AgentFailure::RateLimited,
            ),
            ("HTTP/429, request 0a15290c", AgentFailure::RateLimited),
            ("429: You exceeded your current quota. Suggested retry after 2s.", AgentFailure::RateLimited),
            (
                "You exceeded your current quota, please check your plan and billing details.",
                AgentFailure::Quota,
            ),
            ("429: You have exhausted your daily quota on this model.", AgentFailure::Quota),
            ("You exceeded your current quota: insufficient_quota", AgentFailure::Quota),
            ("401 authentication_error", AgentFailure::Unauthorised),
            ("model_not_found", AgentFailure::BadModel),
            ("Connection error.", AgentFailure::Network),
            ("Unable to connect to API (ECONNREFUSED)", AgentFailure::Network),
            ("getaddrinfo ENOTFOUND api.example.com", AgentFailure::Network),
            ("Request timed out", AgentFailure::Network),
            ("stream disconnected before completion: stream closed", AgentFailure::Network),
            ("504 Gateway Timeout", AgentFailure::Overloaded),
            ("something broke", AgentFailure::Other),
        ] {
            assert_eq!(kind(message, None), Some(failure), "{message}");
        }
    }

    #[test]
    fn m9_words_about_limits_without_a_number_or_a_code_are_no_limit() {
        for message in [
            "the notes in LIMITS.md say that we hit a rate limit",
            "the reviewer wrote that the queue is overloaded",
            "rate_limit is a key of the file",
        ] {
            assert_eq!(kind(message, None), Some(AgentFailure::Other), "{message}");
        }
        assert_eq!(kind("we hit a rate limit", Some("rate_limit_error")), Some(AgentFailure::RateLimited));
        assert_eq!(kind("rate limit reached: 30000 tokens", None), Some(AgentFailure::RateLimited));
    }

    #[test]
    fn a_time_to_come_back_is_read_where_a_limit_is_told() {
        let retry = |message: &str, code| {
            if let TurnEnd::Failed { retry, .. } = classify(message, code) { retry } else { None }
        };
        assert_eq!(retry("Please try again in 1s.", Some("429")), Some(Retry::After(1_000)));
        assert_eq!(retry("it broke, try again in 5 minutes", None), None);
        assert_eq!(retry("Please try again later", Some("429")), None);
    }
}
