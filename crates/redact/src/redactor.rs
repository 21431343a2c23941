//! The redactor: made once, used everywhere. What it returns has no secret in it, nor has its `Debug`.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use regex::bytes::{Regex, RegexBuilder};

use crate::{
    options::{Extra, Options, RedactError},
    scan::{Hit, Scanner, merged},
};

/// Replaces secrets by `[redacted:KIND]`. Cheap to clone; the same text gives the same result, always, and a result
/// that is cleaned again stays as it is.
#[derive(Clone)]
pub struct Redactor(Arc<Inner>);

struct Inner {
    enabled: bool,
    scanner: Scanner,
    allowed: Vec<Vec<u8>>,
    allowed_kinds: Vec<u16>,
    extra: Vec<(Regex, u16)>,
}

/// A text without its secrets.
#[derive(Debug, Clone)]
pub struct Clean<'a> {
    /// The text; borrowed if there was nothing to replace.
    pub text: Cow<'a, str>,
    /// How many secrets were replaced, by kind.
    pub counts: Counts,
}

/// Bytes without their secrets.
#[derive(Debug, Clone)]
pub struct CleanBytes<'a> {
    /// The bytes; borrowed if there was nothing to replace.
    pub bytes: Cow<'a, [u8]>,
    /// How many secrets were replaced, by kind.
    pub counts: Counts,
}

/// How many secrets were replaced, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Each kind with its number, by name.
    pub fn by_kind(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(kind, n)| (kind.as_str(), *n))
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        for (kind, n) in &other.0 {
            *self.0.entry(kind.clone()).or_default() += n;
        }
    }

    pub(crate) fn one(&mut self, kind: &str) {
        *self.0.entry(kind.to_owned()).or_default() += 1;
    }
}

impl Redactor {
    /// Prepares the search; fails with the name of a pattern that cannot be used.
    ///
    /// # Errors
    /// If a pattern of one's own or an entry of the allow-list is not usable.
    pub fn new(options: Options) -> Result<Self, RedactError> {
        let mut scanner = Scanner::new(&options)?;
        let mut extra = Vec::new();
        for own in &options.extra {
            extra.push((compiled(own)?, u16::try_from(scanner.kinds.len()).unwrap_or(u16::MAX)));
            scanner.kinds.push(own.name.clone());
        }
        let (mut allowed, mut allowed_kinds) = (Vec::new(), Vec::new());
        for entry in options.allow {
            match entry.strip_prefix("kind:") {
                Some(kind) if scanner.kinds.iter().any(|known| known == kind) => {
                    allowed_kinds.push(scanner.kind(kind))
                }
                Some(kind) => {
                    return Err(RedactError::Kind { kind: kind.to_owned(), known: scanner.kinds.join(", ") });
                }
                None => allowed.push(entry.into_bytes()),
            }
        }
        Ok(Self(Arc::new(Inner { enabled: options.enabled, scanner, allowed, allowed_kinds, extra })))
    }

    /// A text without its secrets.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Clean<'a> {
        let clean = self.bytes(text.as_bytes());
        let text = match clean.bytes {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            ),
        };
        Clean { text, counts: clean.counts }
    }

    /// Bytes, of whatever encoding, without the secrets in them.
    #[must_use]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> CleanBytes<'a> {
        let mut counts = Counts::default();
        let hits = self.hits(bytes);
        if hits.is_empty() {
            return CleanBytes { bytes: Cow::Borrowed(bytes), counts };
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for hit in hits {
            out.extend_from_slice(&bytes[at..hit.start]);
            out.extend_from_slice(self.marker(hit.kind).as_bytes());
            counts.one(self.kind(hit.kind));
            at = hit.end;
        }
        out.extend_from_slice(&bytes[at..]);
        CleanBytes { bytes: Cow::Owned(out), counts }
    }

    /// Where the secrets are.
    pub(crate) fn hits(&self, bytes: &[u8]) -> Vec<Hit> {
        if !self.0.enabled {
            return Vec::new();
        }
        let mut hits = self.0.scanner.scan(bytes);
        for (pattern, kind) in &self.0.extra {
            let own = pattern.captures_iter(bytes).filter_map(|found| found.get(1).or_else(|| found.get(0)));
            hits.extend(own.map(|part| Hit { start: part.start(), end: part.end(), kind: *kind }));
        }
        hits.retain(|hit| !self.allows(&bytes[hit.start..hit.end], hit.kind));
        merged(hits, bytes)
    }

    pub(crate) fn kind(&self, kind: u16) -> &str {
        self.0.scanner.kinds.get(usize::from(kind)).map_or("secret", String::as_str)
    }

    pub(crate) fn marker(&self, kind: u16) -> String {
        format!("[redacted:{}]", self.kind(kind))
    }

    fn allows(&self, secret: &[u8], kind: u16) -> bool {
        self.0.allowed_kinds.contains(&kind) || self.0.allowed.iter().any(|glob| fits(glob, secret))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("enabled", &self.0.enabled).finish_non_exhaustive()
    }
}

fn compiled(own: &Extra) -> Result<Regex, RedactError> {
    let name = own.name.clone();
    let plain = own.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !plain || own.name.is_empty() || own.name.len() > 32 {
        return Err(RedactError::Name { name });
    }
    let pattern = RegexBuilder::new(&own.pattern).size_limit(1 << 20).build();
    let pattern =
        pattern.map_err(|error| RedactError::Pattern { name: name.clone(), reason: error.to_string() })?;
    if pattern.is_match(b"") { Err(RedactError::Empty { name }) } else { Ok(pattern) }
}

/// Whether a glob with `*` and `?` fits the whole of a text.
fn fits(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        if glob.get(g) == Some(&b'*') {
            star = Some((g, t));
            g += 1;
        } else if glob.get(g).is_some_and(|b| *b == b'?' || *b == text[t]) {
            g += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            g = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|b| *b == b'*')
}
