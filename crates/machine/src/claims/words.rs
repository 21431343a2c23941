//! A sentence as words and marks, and which of its words take back, put off or doubt what follows.

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word {
        /// As written.
        raw: String,
        /// In lower case, with a plain apostrophe.
        low: String,
        /// Whether it was marked as code.
        code: bool,
        /// Whether it is part of code of several words, such as a command.
        span: bool,
    },
    /// A mark that parts a sentence.
    Mark(char),
    /// Something in double quotes with more than one word.
    Quote(String),
}

impl Token {
    /// The word in lower case; empty for anything else.
    pub(super) fn low(&self) -> &str {
        if let Self::Word { low, .. } = self { low } else { "" }
    }

    /// Whether it is one of these words.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        let low = self.low();
        !low.is_empty() && words.contains(&low)
    }
}

/// Why something that is said is not said to be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hedge {
    /// It is denied.
    Not,
    /// It is wanted, planned, asked for or guessed.
    Later,
    /// It depends on something.
    If,
}

/// The pieces of a sentence.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let close = match c {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            _ => None,
        };
        let inner = close.and_then(|close| rest[c.len_utf8()..].split_once(close));
        if let Some((inside, after)) = inner {
            if c == '`' {
                let names = inside.split_whitespace().all(|w| w.contains(['.', '/']));
                let span = inside.trim().contains(char::is_whitespace) && !names;
                inside.split_whitespace().for_each(|w| found.push(word(w, true, span)));
            } else if inside.trim().contains(char::is_whitespace) {
                found.push(Token::Quote(inside.to_owned()));
            } else if !inside.trim().is_empty() {
                found.push(word(inside.trim(), true, false));
            }
            rest = after;
        } else if c.is_whitespace() || close.is_some() {
            rest = &rest[c.len_utf8()..];
        } else {
            let end =
                rest.find(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '“')).unwrap_or(rest.len());
            plain(&rest[..end], &mut found);
            rest = &rest[end..];
        }
    }
    found
}

fn plain(piece: &str, found: &mut Vec<Token>) {
    let piece = piece.replace("**", "").replace("->", "→");
    let mut inner = piece.as_str();
    while let Some(c) = inner.chars().next().filter(|c| is_mark(*c)) {
        push_mark(c, found);
        inner = &inner[c.len_utf8()..];
    }
    let mut after: Vec<char> = Vec::new();
    while let Some(c) =
        inner.chars().next_back().filter(|c| is_mark(*c) || matches!(c, '.' | '!' | '?' | '…'))
    {
        after.push(c);
        inner = &inner[..inner.len() - c.len_utf8()];
    }
    if matches!(inner, "-" | "–" | "—" | "+" | "*") {
        found.push(Token::Mark('—'));
    } else if !inner.is_empty() {
        found.push(word(inner, false, false));
    }
    after.into_iter().rev().for_each(|c| push_mark(c, found));
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '(' | ')' | '[' | ']' | ',' | ';' | ':' | '—' | '–' | '|' | '→' | '\'' | '‘' | '’' | '<' | '>' | '_'
    )
}

fn push_mark(c: char, found: &mut Vec<Token>) {
    match c {
        '(' | '[' => found.push(Token::Mark('(')),
        ')' | ']' => found.push(Token::Mark(')')),
        '—' | '–' => found.push(Token::Mark('—')),
        ',' | ';' | ':' | '|' | '→' => found.push(Token::Mark(c)),
        _ => {}
    }
}

fn word(raw: &str, code: bool, span: bool) -> Token {
    Token::Word { raw: raw.to_owned(), low: raw.to_lowercase().replace('’', "'"), code, span }
}

const NOT: [&str; 22] = [
    "not", "never", "no", "cannot", "without", "nothing", "neither", "nor", "none", "unable", "instead",
    "rather", "skipped", "avoid", "avoided", "refused", "isnt", "didnt", "hardly", "except", "forgot",
    "unlike",
];
const LATER: [&str; 64] = [
    "will",
    "would",
    "should",
    "could",
    "might",
    "may",
    "shall",
    "must",
    "need",
    "needs",
    "going",
    "gonna",
    "plan",
    "plans",
    "planned",
    "planning",
    "intend",
    "intends",
    "want",
    "wants",
    "wanted",
    "hope",
    "hopefully",
    "todo",
    "tbd",
    "pending",
    "next",
    "later",
    "soon",
    "remaining",
    "remains",
    "let",
    "let's",
    "lets",
    "ought",
    "supposed",
    "trying",
    "try",
    "tries",
    "attempted",
    "propose",
    "proposed",
    "suggest",
    "suggested",
    "recommend",
    "consider",
    "asked",
    "asks",
    "requested",
    "requires",
    "required",
    "expected",
    "expect",
    "think",
    "believe",
    "assume",
    "presumably",
    "probably",
    "likely",
    "being",
    "ensure",
    "make",
    "almost",
    "still",
];
const IF: [&str; 8] = ["if", "unless", "until", "whether", "once", "assuming", "provided", "whenever"];

/// What the word at `at` does to what follows it.
pub(super) fn hedge(tokens: &[Token], at: usize) -> Option<Hedge> {
    let low = tokens.get(at)?.low();
    let next = tokens.get(at + 1).map_or("", Token::low);
    if low.is_empty() {
        return None;
    }
    if low == "not" && next == "only"
        || low == "no" && next == "longer"
        || low == "still" && at + 1 == tokens.len()
    {
        return None;
    }
    if NOT.contains(&low) || low.ends_with("n't") || (low == "failed" && next == "to") {
        return Some(Hedge::Not);
    }
    if low == "can" && !(next == "be" || next == "now")
        || low == "about" && next == "to"
        || low.ends_with("'ll")
    {
        return Some(Hedge::Later);
    }
    if low == "to" && next == "be"
        || low == "yet" && next == "to"
        || (low == "have" || low == "has") && next == "to"
    {
        return Some(Hedge::Later);
    }
    if low == "when" && tokens[at..].iter().any(|t| t.is(&["is", "are", "will"]))
        || low == "in" && next == "case"
    {
        return Some(Hedge::If);
    }
    if IF.contains(&low) {
        return Some(Hedge::If);
    }
    LATER.contains(&low).then_some(Hedge::Later)
}

/// Whether a new statement may begin here, so that a hedge before it says nothing about it.
pub(super) fn parts(token: &Token) -> bool {
    const WORDS: [&str; 13] = [
        "but", "then", "however", "so", "while", "although", "though", "because", "since", "which",
        "whereas", "hence", "plus",
    ];
    matches!(token, Token::Mark(_)) || token.is(&WORDS)
}

/// Whether the sentence as a whole says nothing about what was done in this run.
pub(super) fn beside_the_point(text: &str, tokens: &[Token]) -> bool {
    let has = |words: &[&str]| tokens.iter().any(|t| t.is(words));
    let low = text.to_lowercase();
    let phrase = |phrases: &[&str]| phrases.iter().any(|p| low.contains(p));
    text.trim_end_matches(['"', ')', '*']).ends_with('?')
        || has(&[
            "previously",
            "originally",
            "reverted",
            "undid",
            "undone",
            "hypothetically",
            "todo",
            "fixme",
            "temporarily",
            "ago",
            "yesterday",
            "blame",
            "scratch",
            "throwaway",
            "considered",
            "alternatively",
        ])
        || phrase(&[
            "already exist",
            "already there",
            "already present",
            "before the run",
            "by the user",
            "rolled back",
            "removed it",
            "deleted it",
            "took it out",
            "threw it away",
            "for example",
            "e.g. ",
            "the user ",
            "the task ",
            "you asked",
            "the spec ",
            "the plan ",
            "instructions say",
            "backed out",
            "at some point",
            "last week",
            "last month",
            "last year",
            "removed that",
            "deleted that",
            "removed them",
            "deleted them",
            "no changes to",
            "no change to",
        ])
}
