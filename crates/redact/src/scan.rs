//! One pass over a text: literals that rules start from are searched for together, and each rule looks only around its
//! own. This file knows which rule belongs to which literal, and how overlapping finds become one.

use aho_corasick::{
    Input, MatchKind,
    automaton::{Automaton, OverlappingState},
    dfa::DFA,
};

use crate::{
    assignment, command, encoded, header, key_block, known, layout,
    literals::{LINES, NAME_PARTS},
    names::Telling,
    near,
    options::{Options, RedactError},
    personal,
    spelling::run,
    tokens, url,
};

/// A secret's place and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: u16,
}

/// Which rule looks at a literal.
enum Rule {
    Token(usize),
    Name,
    Label,
    /// The shift that a telling word has in base64.
    Encoded(usize),
    Pgpass,
    Url,
    Oracle,
    BlockStart,
    BlockEnd,
    Authorization,
    Bearer,
    Cookie,
    Command(usize),
    Email,
    Known(usize),
    Marker,
    Identified,
    Signature,
    Digest,
    Basic,
    Code,
    Phrase,
    Line,
    Layout(fn(&[u8], usize, usize, usize) -> (layout::Parts, layout::Seen)),
}

/// Kinds that are not formats; those of `TOKENS` come after them.
const KINDS: &[&str] = &[
    "secret",
    "password",
    "env-value",
    "url-password",
    "private-key",
    "authorization",
    "cookie",
    "discord-token",
    "email",
    "card",
    "iban",
    "sas-signature",
];

/// What a search has seen so far.
struct Seen {
    hits: Vec<Hit>,
    markers: Vec<(usize, usize)>,
    /// Where the last name ends, the last key block, and what was last found by its layout.
    named: usize,
    blocked: usize,
    laid_out: usize,
    layout_floor: usize,
    /// Where the last value ends that a name was given, and the last runs of tokens.
    given: usize,
    runs: tokens::Runs,
    depth: u8,
    /// Where the last text in base64 ends that was decoded.
    decoded: usize,
    /// The last two places of the word `value`.
    labels: [usize; 2],
    barren: near::Barren,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            hits: Vec::new(),
            markers: Vec::new(),
            named: 0,
            blocked: 0,
            laid_out: 0,
            layout_floor: 0,
            given: 0,
            runs: tokens::Runs::default(),
            depth: 0,
            decoded: 0,
            labels: [usize::MAX / 2; 2],
            barren: near::Barren::default(),
        }
    }
}

/// In a value of more bytes no other name is looked at.
const LONG: usize = 256;

/// Everything that is searched for.
pub(crate) struct Scanner {
    search: DFA,
    rules: Vec<Rule>,
    values: Vec<Vec<u8>>,
    payment: bool,
    pub(crate) kinds: Vec<String>,
}

impl Scanner {
    pub(crate) fn new(options: &Options) -> Result<Self, RedactError> {
        let mut kinds: Vec<String> = KINDS.iter().map(|kind| (*kind).to_owned()).collect();
        let mut literals: Vec<Vec<u8>> = Vec::new();
        let mut rules = Vec::new();
        let mut add = |literal: &[u8], rule: Rule| {
            literals.push(literal.to_vec());
            rules.push(rule);
        };
        for (i, token) in tokens::TOKENS.iter().enumerate() {
            if !kinds.iter().any(|kind| kind == token.kind) {
                kinds.push(token.kind.to_owned());
            }
            // Two letters are everywhere: with the next character there are few.
            if token.prefix.len() == 2 {
                b"0123456789abcdef"
                    .iter()
                    .for_each(|b| add(&[token.prefix.as_bytes(), &[*b]].concat(), Rule::Token(i)));
            } else {
                add(token.prefix.as_bytes(), Rule::Token(i));
            }
        }
        NAME_PARTS.iter().for_each(|part| add(part.as_bytes(), Rule::Name));
        command::COMMANDS
            .iter()
            .enumerate()
            .for_each(|(i, command)| add(command.name.as_bytes(), Rule::Command(i)));
        add(b"value", Rule::Label);
        for (shift, word) in (0..3).flat_map(|shift| encoded::WORDS.map(|word| (shift, word))) {
            add(&known::base64(word.as_bytes(), shift, b'+', b'/'), Rule::Encoded(shift));
        }
        add(b":5432:", Rule::Pgpass);
        add(b"://", Rule::Url);
        [b"jdbc:oracle:".as_slice(), b"sqlplus ", b"rman target "]
            .iter()
            .for_each(|part| add(part, Rule::Oracle));
        add(b"-----BEGIN ", Rule::BlockStart);
        add(b"-----END ", Rule::BlockEnd);
        add(b"authorization", Rule::Authorization);
        add(b"bearer ", Rule::Bearer);
        add(b"cookie", Rule::Cookie);
        add(b"identified by ", Rule::Identified);
        add(b"sig=", Rule::Signature);
        [b"response=".as_slice(), b"mac=\"", b"mac=\\\""].iter().for_each(|part| add(part, Rule::Digest));
        [b"basic ".as_slice(), b"basic%20"].iter().for_each(|part| add(part, Rule::Basic));
        add(b"bearer%20", Rule::Bearer);
        [b"?code=".as_slice(), b"&code=", b"?state=", b"&state="]
            .iter()
            .for_each(|part| add(part, Rule::Code));
        [
            b"mnemonic".as_slice(),
            b"seed phrase",
            b"recovery phrase",
            b"seed_phrase",
            b"seedphrase",
            b"recovery_phrase",
        ]
        .iter()
        .for_each(|name| add(name, Rule::Phrase));
        LINES.iter().for_each(|part| add(part.as_bytes(), Rule::Line));
        [b"private key".as_slice(), b"private-lines:", b"private%20key", b"private+key"]
            .iter()
            .for_each(|name| add(name, Rule::Layout(layout::key_named)));
        add(b"kty", Rule::Layout(layout::jwk));
        [b"kind: secret".as_slice(), b"kind\":\"secret\"", b"kind\": \"secret\"", b"kind\\\":\\\"secret\\\""]
            .iter()
            .for_each(|name| add(name, Rule::Layout(layout::kubernetes)));
        add(b"[redacted:", Rule::Marker);
        if options.emails {
            add(b"@", Rule::Email);
        }
        let mut values: Vec<Vec<u8>> =
            options.values.iter().flat_map(|(_, value)| known::forms(value)).collect();
        values.sort();
        values.dedup();
        values.iter().enumerate().for_each(|(i, value)| add(&value[..value.len().min(16)], Rule::Known(i)));
        let search = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&literals)
            .map_err(|error| RedactError::Build { reason: error.to_string() })?;
        Ok(Self { search, rules, values, payment: options.payment, kinds })
    }

    pub(crate) fn kind(&self, name: &str) -> u16 {
        self.kinds
            .iter()
            .position(|kind| kind == name)
            .and_then(|i| u16::try_from(i).ok())
            .unwrap_or_default()
    }

    /// Every find in a text, in no order and with overlaps.
    pub(crate) fn scan(&self, text: &[u8]) -> Vec<Hit> {
        self.scan_at(text, 0)
    }

    /// `depth` is 1 for what was decoded, in which nothing is decoded again.
    fn scan_at(&self, text: &[u8], depth: u8) -> Vec<Hit> {
        let mut seen = Seen { depth, ..Seen::default() };
        let (input, mut state) = (Input::new(text), OverlappingState::start());
        while self.search.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(found) = state.get_match() else { break };
            if found.start() >= seen.blocked {
                self.visit(
                    &self.rules[found.pattern().as_usize()],
                    text,
                    found.start(),
                    found.end(),
                    &mut seen,
                );
            }
        }
        let Seen { mut hits, markers, .. } = seen;
        tokens::discord(text, |start, end| hits.push(Hit { start, end, kind: self.kind("discord-token") }));
        if self.payment {
            personal::payment(text, |start, end, kind| hits.push(Hit { start, end, kind: self.kind(kind) }));
        }
        hits.retain(|hit| {
            let next = markers.partition_point(|(_, end)| *end <= hit.start);
            markers.get(next).is_none_or(|(start, _)| hit.end <= *start)
        });
        hits
    }

    fn visit(&self, rule: &Rule, text: &[u8], start: usize, end: usize, seen: &mut Seen) {
        match rule {
            Rule::Name if end <= seen.named || end < seen.given => {}
            Rule::Name => {
                let name = assignment::name_around(text, start);
                seen.named = name.end;
                let label = seen.labels[usize::from(seen.labels[1] + 5 <= name.start)];
                match given(text, &name, label) {
                    Some(hit) => {
                        // Names in a short value may be given values that end later.
                        if hit.end - hit.start > LONG {
                            seen.given = hit.end;
                        }
                        seen.hits.push(hit);
                    }
                    None => nearby(text, &name, seen),
                }
            }
            Rule::Label => seen.labels = [seen.labels[1], start],
            Rule::Encoded(shift) if start >= seen.decoded && seen.depth == 0 => {
                let (found, decoded) = encoded::around(text, start, *shift, seen.decoded);
                seen.decoded = decoded;
                let secret = |found: &encoded::Encoded| !self.scan_at(&found.text, 1).is_empty();
                let parts = found.filter(secret).map(|found| found.parts).unwrap_or_default();
                seen.hits.extend(parts.into_iter().map(|(start, end)| Hit { start, end, kind: 0 }));
            }
            Rule::Encoded(_) => {}
            Rule::BlockStart => {
                let parts = key_block::from_start(text, start).unwrap_or_default();
                seen.blocked = parts.last().map_or(seen.blocked, |(_, end)| *end);
                let open = !parts.is_empty() && !text[start..seen.blocked].windows(5).any(|w| w == b"-END ");
                if open && start >= seen.laid_out {
                    let (lines, searched) = layout::key_named(text, start, seen.blocked, 0);
                    seen.laid_out = lines.last().map_or(searched.skip, |(_, end)| *end);
                    self.lay_out(lines, &mut seen.hits);
                }
                self.lay_out(parts, &mut seen.hits);
            }
            Rule::BlockEnd => {
                let floor = seen.blocked.min(start);
                let part = key_block::to_end(text, start, floor);
                if part.is_some() {
                    self.lay_out(layout::key_before(text, start, floor), &mut seen.hits);
                }
                seen.blocked = part.map_or(seen.blocked, |(_, end)| end);
                self.lay_out(part.into_iter().collect(), &mut seen.hits);
            }
            Rule::Layout(find) if start >= seen.laid_out => {
                let (parts, searched) = find(text, start, end, seen.layout_floor);
                // What was found moves nothing: a second search finds it again.
                if parts.is_empty() {
                    seen.layout_floor = searched.floor.max(seen.layout_floor);
                }
                seen.laid_out = parts.last().map_or(searched.skip, |(_, end)| (*end).max(searched.skip));
                self.lay_out(parts, &mut seen.hits);
            }
            Rule::Layout(_) => {}
            Rule::Line => {
                let kind = self.kind("password");
                let parts = near::command(text, start, end, &mut seen.barren);
                seen.hits.extend(parts.into_iter().map(|(start, end)| Hit { start, end, kind }));
            }
            Rule::Marker => seen.markers.extend(marker(text, start, end)),
            Rule::Token(_) if seen.hits.last().is_some_and(|hit| start < hit.end && hit.start < start) => {}
            // Where a secret goes on for long, each place in it would be followed to its end.
            Rule::Authorization | Rule::Bearer | Rule::Cookie | Rule::Digest | Rule::Basic | Rule::Code
                if seen.hits.last().is_some_and(|hit| end + LONG < hit.end && hit.start < start) => {}
            Rule::Token(_)
            | Rule::Pgpass
            | Rule::Url
            | Rule::Oracle
            | Rule::Authorization
            | Rule::Bearer
            | Rule::Cookie
            | Rule::Command(_)
            | Rule::Email
            | Rule::Known(_)
            | Rule::Identified
            | Rule::Signature
            | Rule::Digest
            | Rule::Basic
            | Rule::Code
            | Rule::Phrase => seen.hits.extend(self.look(rule, text, start, end, &mut seen.runs)),
        }
    }

    fn lay_out(&self, parts: Vec<(usize, usize)>, hits: &mut Vec<Hit>) {
        let kind = self.kind("private-key");
        hits.extend(parts.into_iter().map(|(start, end)| Hit { start, end, kind }));
    }

    fn look(&self, rule: &Rule, text: &[u8], at: usize, end: usize, runs: &mut tokens::Runs) -> Option<Hit> {
        let (found, kind) = match rule {
            Rule::Token(i) => (tokens::find(&tokens::TOKENS[*i], text, at, runs), tokens::TOKENS[*i].kind),
            Rule::Url => (url::find(text, at), "url-password"),
            Rule::Pgpass => (url::pgpass(text, at), "password"),
            Rule::Oracle => (url::oracle(text, end), "url-password"),
            Rule::Authorization => (header::authorization(text, end), "authorization"),
            Rule::Bearer => (header::bearer(text, end), "authorization"),
            Rule::Cookie => (header::cookie(text, end, at), "cookie"),
            Rule::Command(i) => (command::find(&command::COMMANDS[*i], text, end), "password"),
            Rule::Identified => (assignment::identified(text, end), "password"),
            Rule::Signature => (assignment::signature(text, end), "sas-signature"),
            Rule::Digest => (header::digest(text, end), "authorization"),
            Rule::Basic => (header::basic(text, end), "authorization"),
            Rule::Code => (header::bearer(text, end), "secret"),
            Rule::Phrase => (assignment::phrase(text, end), "secret"),
            Rule::Email => (personal::email(text, at), "email"),
            Rule::Known(i) => {
                let value = &self.values[*i];
                (text[at..].starts_with(value).then_some((at, at + value.len())), "env-value")
            }
            Rule::Name
            | Rule::Label
            | Rule::Encoded(_)
            | Rule::BlockStart
            | Rule::BlockEnd
            | Rule::Marker
            | Rule::Line
            | Rule::Layout(_) => (None, ""),
        };
        found.map(|(start, end)| Hit { start, end, kind: self.kind(kind) })
    }
}

/// What an earlier cleaning put there is left alone.
fn marker(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let size = run(text, end, |b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    (size > 0 && text.get(end + size) == Some(&b']')).then_some((start, end + size + 1))
}

fn given(text: &[u8], name: &assignment::Name, label: usize) -> Option<Hit> {
    let found = assignment::find(text, name).or_else(|| assignment::value_before(text, name, label));
    let (start, end, telling) = found?;
    Some(Hit { start, end, kind: u16::from(telling == Telling::Password) })
}

fn nearby(text: &[u8], name: &assignment::Name, seen: &mut Seen) {
    if !seen.barren.near(text, name) {
        return;
    }
    let telling = assignment::tells(text, name);
    let kind = u16::from(telling == Telling::Password);
    let parts = near::around(text, name, telling, &mut seen.barren);
    seen.hits.extend(parts.into_iter().map(|(start, end)| Hit { start, end, kind }));
}

/// Finds in order, none touching a character by half, overlapping ones as one with the more telling kind.
pub(crate) fn merged(mut hits: Vec<Hit>, text: &[u8]) -> Vec<Hit> {
    let inside = |at: usize| text.get(at).is_some_and(|b| b & 0xC0 == 0x80);
    for hit in &mut hits {
        while hit.start > 0 && inside(hit.start) {
            hit.start -= 1;
        }
        while inside(hit.end) {
            hit.end += 1;
        }
    }
    hits.retain(|hit| hit.start < hit.end);
    hits.sort_by_key(|hit| (hit.start, hit.end));
    let mut out: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match out.last_mut() {
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                last.kind = last.kind.max(hit.kind);
            }
            _ => out.push(hit),
        }
    }
    out
}
