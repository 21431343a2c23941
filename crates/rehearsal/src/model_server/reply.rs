//! What all APIs need to put an answer on the wire: ids, the figures of a call, and text in parts.

/// Characters of one delta.
const PART: usize = 400;

/// The ids of one answer. No two answers of any server share one.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    pub(super) stem: String,
    pub(super) message: String,
    pub(super) response: String,
    pub(super) request: String,
    pub(super) at_ms: u64,
}

impl Ids {
    pub(super) fn new(start_ms: u64, n: u64, at_ms: u64) -> Self {
        let stem = format!("{start_ms:x}{n:05}");
        Self {
            message: format!("msg_{stem}"),
            response: format!("resp_{stem}"),
            request: format!("req_{stem}"),
            stem,
            at_ms,
        }
    }
}

/// The figures of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    /// The whole prompt.
    pub(super) input: u64,
    /// How much of it was cached; never more than the prompt.
    pub(super) cached: u64,
    /// The answer with the reasoning before it.
    pub(super) output: u64,
    /// How much of the output was reasoning.
    pub(super) reasoning: u64,
    /// Whether the client asked for caching.
    pub(super) caches: bool,
}

/// The text in parts that a stream sends one by one.
pub(super) fn parts(text: &str) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(PART).map(|part| part.iter().collect()).collect()
}
