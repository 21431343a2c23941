//! What an agent's error means. Only errors come here: what an agent writes as text never does (M9).

use segue_machine::{AgentFailure, TurnEnd};

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
    let spent = has("exceeded your current quota") && !has("retry after") && !has("retry in");
    let failure = if has("overloaded")
        || has("at capacity")
        || status("529")
        || status("503")
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
    } else if has("rate_limit") || has("rate limit") || status("429") || has("resource_exhausted") {
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
    } else {
        AgentFailure::Other
    };
    TurnEnd::Failed { failure, message: message.to_owned() }
}

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
            ("something broke", AgentFailure::Other),
        ] {
            assert_eq!(kind(message, None), Some(failure), "{message}");
        }
    }
}
