//! Which API a request is for, and what it asks there.

use super::gemini;
use super::http::Request;
use super::truth::Api;

/// What a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// A model's answer.
    Answer,
    /// How many tokens a request would have.
    Count,
    /// The list of models.
    Models,
    /// Something that is not here.
    Unknown,
}

/// Where a request goes.
pub(super) fn route(request: &Request) -> (Api, Ask) {
    let api = api(request);
    let ask = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages" | "/v1/responses" | "/v1/chat/completions") => Ask::Answer,
        ("POST", "/v1/messages/count_tokens") => Ask::Count,
        ("GET", "/v1/models" | "/v1beta/models") => Ask::Models,
        ("POST", path) => match gemini::target(path) {
            Some((_, "generateContent" | "streamGenerateContent")) => Ask::Answer,
            Some((_, "countTokens")) => Ask::Count,
            _ => Ask::Unknown,
        },
        _ => Ask::Unknown,
    };
    (api, ask)
}

fn api(request: &Request) -> Api {
    // The list of models has one path for three APIs: there the key's header tells.
    let under = |folder: &str| request.path.starts_with(folder);
    let has = |name: &str| request.header(name).is_some();
    if under("/v1/messages") {
        Api::Anthropic
    } else if under("/v1/responses") {
        Api::OpenAi
    } else if under("/v1/chat/") {
        Api::Chat
    } else if under("/v1beta/") || has("x-goog-api-key") {
        Api::Gemini
    } else if has("anthropic-version") || has("x-api-key") {
        Api::Anthropic
    } else {
        Api::OpenAi
    }
}
