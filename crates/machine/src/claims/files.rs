//! Which files a sentence says were changed, and how.
//!
//! The words are walked once. A verb of change governs the paths after it, and in the passive those before it; the word
//! before a path says whether it is what was changed ("wrote a.rs", "fixed it in a.rs") or only mentioned ("tests for a.rs").

use super::paths::paths;
use super::verbs::{Form, Verb, verb};
use super::words::{Hedge, Token, hedge, parts};
use super::{Change, ClaimKind};

/// How a path stands to the verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is what was changed.
    Object,
    /// The change was made in it.
    Place,
    /// Something came out of it.
    Source,
    /// It is only mentioned.
    Mention,
}

#[derive(Debug, Clone, Copy)]
struct Governs {
    verb: Verb,
    asserted: bool,
}

/// What stands above a sentence, as far as it matters for its files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Above {
    /// It is a list of finished work: "Create a.rs" means that it was created.
    pub(super) done: bool,
    /// It is a list of files that were changed in this way.
    pub(super) files: Option<Change>,
}

/// The files that a sentence says were changed.
pub(super) fn files(tokens: &[Token], above: Above) -> Vec<ClaimKind> {
    let mut walk = Walk { tokens, above, ..Walk::default() };
    (0..tokens.len()).for_each(|at| walk.step(at));
    if walk.found.is_empty() && !walk.doubted && (above.files.is_some() || (above.done && walk.plain_work()))
    {
        let change = above.files.unwrap_or(Change::Touched);
        let named = walk.waiting.iter().chain(&walk.idle).filter(|(_, _, role)| *role != Role::Mention);
        walk.found = named.map(|(path, _, _)| (path.clone(), change)).collect();
    }
    let moved = walk.found.iter().any(|(_, c)| *c != Change::Deleted);
    let lone_move = |change: Change| change == Change::Deleted && walk.moved && !moved;
    walk.found
        .into_iter()
        .filter(|(_, change)| !lone_move(*change))
        .map(|(path, change)| ClaimKind::File { path, change })
        .collect()
}

#[derive(Default)]
struct Walk<'t> {
    tokens: &'t [Token],
    above: Above,
    hedge: Option<Hedge>,
    governs: Option<Governs>,
    /// Paths that no verb has governed yet, with where they are.
    waiting: Vec<(String, usize, Role)>,
    /// Paths that waited in vain.
    idle: Vec<(String, usize, Role)>,
    found: Vec<(String, Change)>,
    last: Option<(usize, Role)>,
    /// Something in the sentence is denied or put off.
    doubted: bool,
    moved: bool,
}

impl Walk<'_> {
    fn step(&mut self, at: usize) {
        let token = &self.tokens[at];
        let named = paths(token);
        if !named.is_empty() {
            let role = self.role(at);
            self.last = Some((at, role));
            for path in named {
                self.path(path, at, role);
            }
            return;
        }
        if parts(token) && self.hedge != Some(Hedge::If) || *token == Token::Mark(';') {
            self.hedge = None;
        }
        if token.is(&["i", "we", "they"]) {
            let (kept, idle) = self.waiting.drain(..).partition(|(_, _, role)| *role == Role::Place);
            (self.waiting, self.idle) = (kept, idle);
        }
        if token.is(&["and", "or"]) && self.tokens.get(at + 1).is_some_and(|t| verb(t.low()).is_none()) {
            self.hedge = self.hedge.filter(|h| *h == Hedge::If);
        }
        if let Some(new) = hedge(self.tokens, at) {
            self.hedge = Some(new);
            self.doubted = true;
        }
        if let Some((verb, form)) = self.verb_at(at) {
            let governs = Governs { verb, asserted: self.asserted(at, verb, form) };
            if governs.asserted || !self.only_a_noun(at, form) {
                self.govern(governs);
            }
        }
    }

    // "added error handling to a.rs", "made an update to a.rs": what was added, not what was done to the file.
    fn only_a_noun(&self, at: usize, form: Form) -> bool {
        let before = at.checked_sub(1).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        let noun = matches!(form, Form::Ing | Form::Base | Form::Noun) && before != "to";
        noun && self.hedge.is_none() && self.governs.is_some_and(|g| g.asserted)
    }

    fn verb_at(&self, at: usize) -> Option<(Verb, Form)> {
        let (token, next) = (&self.tokens[at], self.tokens.get(at + 1).map_or("", Token::low));
        let phrase = match (token.low(), next) {
            ("got", "rid") => Some(Verb::Delete),
            ("set", "up") | ("put", "together" | "in") | ("filled", "in") => Some(Verb::Create),
            ("in", "place") | ("now", "a" | "an") => Some(Verb::Exist),
            ("longer", "exists" | "exist" | "there") => Some(Verb::Delete),
            (
                "new",
                "file" | "files" | "module" | "script" | "test" | "page" | "document" | "component" | "class",
            )
            | ("new", "")
                if self.governs.is_none() =>
            {
                Some(Verb::Create)
            }
            (
                "now",
                "lives" | "contains" | "holds" | "handles" | "supports" | "returns" | "have" | "exists"
                | "resides" | "there" | "has",
            ) => Some(Verb::Exist),
            ("exists" | "lives", "now") => Some(Verb::Exist),
            ("a" | "m" | "d", _)
                if at == 0 && self.tokens.len() > 1 && !paths(&self.tokens[1]).is_empty() =>
            {
                let bare = matches!(token, Token::Word { raw, .. } if raw.chars().all(char::is_uppercase));
                bare.then_some(if token.low() == "d" { Verb::Delete } else { Verb::Change })
            }
            _ => None,
        };
        phrase.map(|verb| (verb, Form::Past)).or_else(|| verb(token.low()))
    }

    fn asserted(&self, at: usize, verb: Verb, form: Form) -> bool {
        if self.hedge.is_some() {
            return false;
        }
        let before = at.checked_sub(1).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        let before_that = at.checked_sub(2).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        match form {
            Form::Past => before != "to" && before != "being",
            Form::Base if before == "to" => matches!(before_that, "managed" | "able" | "proceeded" | "on"),
            Form::Base => before == "did" || (self.above.done && at == 0 && !self.conditional()),
            Form::Ing => {
                let ended = ["finished", "done", "completed", "by", "after", "with"].contains(&before);
                let result = at > 0
                    && self.tokens[at - 1] == Token::Mark(',')
                    && self.governs.is_some_and(|g| g.asserted);
                ended || result || (self.above.done && at == 0)
            }
            Form::Noun => {
                let ended = |t: &Token| t.is(&["complete", "completed", "done", "finished", "ready"]);
                verb != Verb::Exist && (self.above.done || self.tokens.iter().any(ended))
            }
        }
    }

    fn conditional(&self) -> bool {
        (0..self.tokens.len()).any(|at| hedge(self.tokens, at) == Some(Hedge::If))
    }

    fn govern(&mut self, governs: Governs) {
        // "finished creating a.rs", "done: created a.rs": the later verb says what was done.
        for (path, at, role) in std::mem::take(&mut self.waiting) {
            self.apply(governs, path, at, role);
        }
        self.governs = Some(governs);
    }

    fn path(&mut self, path: String, at: usize, role: Role) {
        match self.governs {
            Some(governs) => self.apply(governs, path, at, role),
            None => self.waiting.push((path, at, role)),
        }
    }

    fn apply(&mut self, governs: Governs, path: String, at: usize, role: Role) {
        let change = match (governs.verb, role) {
            (_, Role::Mention) => None,
            (Verb::Create, Role::Source) | (Verb::Exist, Role::Source) => None,
            (Verb::Create, Role::Object) => Some(Change::Created),
            (Verb::Change, Role::Object) => Some(Change::Modified),
            (Verb::Delete, Role::Object) => Some(Change::Deleted),
            (Verb::Move, Role::Object) if self.has_target(at) => Some(Change::Deleted),
            (Verb::Move, Role::Object) => None,
            (Verb::Create | Verb::Change | Verb::Delete | Verb::Move, Role::Place | Role::Source) => {
                Some(Change::Touched)
            }
            (Verb::Exist, Role::Object | Role::Place) => Some(Change::Touched),
        };
        self.moved |= governs.verb == Verb::Move;
        match change.filter(|_| governs.asserted) {
            Some(change) if !self.found.contains(&(path.clone(), change)) => self.found.push((path, change)),
            Some(_) => {}
            None => self.idle.push((path, at, Role::Mention)),
        }
    }

    // "renamed a.rs to b.rs": a.rs is gone, if a path follows.
    fn has_target(&self, at: usize) -> bool {
        let rest = &self.tokens[at + 1..];
        let to = rest.iter().position(|t| t.is(&["to", "into", "as"]) || *t == Token::Mark('→'));
        to.is_some_and(|to| rest[to..].iter().any(|t| paths(t).iter().any(|p| !p.ends_with('/'))))
    }

    fn role(&self, at: usize) -> Role {
        const LIGHT: [&str; 34] = [
            "the",
            "a",
            "an",
            "file",
            "files",
            "module",
            "script",
            "new",
            "old",
            "obsolete",
            "both",
            "also",
            "following",
            "my",
            "our",
            "its",
            "document",
            "test",
            "config",
            "unused",
            "dead",
            "entire",
            "whole",
            "existing",
            "empty",
            "missing",
            "called",
            "named",
            "folder",
            "directory",
            "page",
            "now",
            "stale",
            "tests",
        ];
        for back in (0..at).rev() {
            let token = &self.tokens[back];
            if !paths(token).is_empty() {
                return self.last.filter(|(last, _)| *last == back).map_or(Role::Object, |(_, role)| role);
            }
            let joins =
                token.is(&["and", "&", "plus", "or"]) || matches!(token, Token::Mark(',' | '(' | ')' | '|'));
            if joins || token.is(&LIGHT) {
                continue;
            }
            return match token.low() {
                "in" | "into" | "inside" | "within" | "to" | "at" | "on" | "under" | "onto" | "across" => {
                    Role::Place
                }
                "from" => Role::Source,
                "of" if self.tokens[..back]
                    .iter()
                    .any(|t| matches!(verb(t.low()), Some((_, Form::Noun))) || t.is(&["rid"])) =>
                {
                    Role::Object
                }
                "for" | "with" | "by" | "via" | "using" | "per" | "of" | "like" | "than" | "against"
                | "about" | "matching" | "following" | "see" | "calls" | "call" | "uses" | "use"
                | "imports" | "import" | "based" | "not" | "without" | "except" | "unlike" | "through"
                | "after" | "before" | "between" | "read" | "reads" | "branch" | "tag" | "that" | "match"
                | "matches" | "mirrors" | "where" | "because" | "references" | "reference" | "loads" => {
                    Role::Mention
                }
                _ => Role::Object,
            };
        }
        Role::Object
    }

    // A finished item without a verb of change, such as "a.rs: the parser", is about work unless it was only looking.
    fn plain_work(&self) -> bool {
        const LOOKING: [&str; 30] = [
            "read",
            "reviewed",
            "ran",
            "checked",
            "analysed",
            "analyzed",
            "investigated",
            "looked",
            "studied",
            "explored",
            "understood",
            "found",
            "verified",
            "tested",
            "confirmed",
            "inspected",
            "compared",
            "opened",
            "examined",
            "searched",
            "identified",
            "discovered",
            "located",
            "run",
            "listed",
            "discussed",
            "reproduced",
            "decided",
            "traced",
            "know",
        ];
        self.governs.is_none() && !self.tokens.iter().any(|t| t.is(&LOOKING))
    }
}
