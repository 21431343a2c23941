//! Which files a sentence says were changed, and how.
//!
//! The words are walked once. A verb of change governs the paths after it, and in the passive those before it; the word
//! before a path says whether it is what was changed ("wrote a.rs", "fixed it in a.rs") or only mentioned ("tests for a.rs").

use super::clauses::{
    Clause, clause, is_agent, is_subject, labels, lets_go, opens, reaches, relative, tells,
};
use super::paths::paths;
use super::roles::{Role, is_value, looks, role};
use super::verbs::{Form, Verb, verb};
use super::words::{Hedge, Token, hedge, parts};
use super::{Change, ClaimKind};

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
        let named = walk
            .waiting
            .iter()
            .chain(&walk.idle)
            .filter(|(_, at, role)| *role != Role::Mention && opens(tokens, *at));
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
    /// Where the clause begins, and whether it only explains.
    start: usize,
    side: bool,
    /// Some verb of change was there.
    worked: bool,
}

impl Walk<'_> {
    fn step(&mut self, at: usize) {
        let token = &self.tokens[at];
        let named = paths(token);
        if !named.is_empty() {
            let role = role(self.tokens, at, self.last);
            self.last = Some((at, role));
            if role == Role::Object && is_subject(self.tokens, at) {
                self.governs = None;
            }
            for path in named {
                self.path(path, at, role);
            }
            return;
        }
        self.cut(at);
        if parts(token) && self.hedge != Some(Hedge::If) || *token == Token::Mark(';') {
            self.hedge = None;
        }
        if is_agent(token) {
            let (kept, idle): (Vec<_>, Vec<_>) =
                self.waiting.drain(..).partition(|(_, _, role)| *role == Role::Place);
            self.waiting = kept;
            self.idle.extend(idle);
        }
        if lets_go(self.tokens, at)
            && let Some(governs) = &mut self.governs
        {
            governs.asserted = false;
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
            let aside = form == Form::Past && !tells(self.tokens, at, self.start);
            if governs.asserted || !(aside || self.only_a_noun(at, form)) {
                self.govern(governs, at, form);
            }
        }
    }

    // A new clause begins without a verb; what waited for one waits no longer.
    fn cut(&mut self, at: usize) {
        let opened = self.side && self.start == 1;
        let Some(new) = clause(self.tokens, at, self.side, opened) else { return };
        self.side = new == Clause::Side;
        self.start = at + usize::from(!is_agent(&self.tokens[at]));
        self.governs = None;
        self.idle.append(&mut self.waiting);
    }

    // "added error handling to a.rs", "made an update to a.rs": what was added, not what was done to the file.
    fn only_a_noun(&self, at: usize, form: Form) -> bool {
        let before = at.checked_sub(1).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        let noun = matches!(form, Form::Ing | Form::Base | Form::Noun | Form::Present) && before != "to";
        noun && self.hedge.is_none() && self.governs.is_some_and(|g| g.asserted)
    }

    fn verb_at(&self, at: usize) -> Option<(Verb, Form)> {
        let (token, next) = (&self.tokens[at], self.tokens.get(at + 1).map_or("", Token::low));
        let phrase = match (token.low(), next) {
            ("got", "rid") => Some(Verb::Delete),
            ("set", "up") | ("put", "together" | "in") | ("filled", "in") => Some(Verb::Create),
            ("now", "in") if at > 0 && self.tokens[at - 1].is(&["is", "are"]) => Some(Verb::Exist),
            ("in", "place") => Some(Verb::Exist),
            ("now", "a" | "an")
                if self
                    .tokens
                    .get(self.start..at)
                    .unwrap_or_default()
                    .iter()
                    .any(|t| t.is(&["there", "have"])) =>
            {
                Some(Verb::Exist)
            }
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
            ("now", "lives" | "have" | "exists" | "resides" | "there") => Some(Verb::Exist),
            ("now", does) if does.len() > 2 && does.ends_with('s') => {
                return Some((Verb::Exist, Form::Present));
            }
            ("exists" | "lives", "now") => Some(Verb::Exist),
            ("a" | "m" | "d", _)
                if at == 0 && self.tokens.len() > 1 && !paths(&self.tokens[1]).is_empty() =>
            {
                let bare = matches!(token, Token::Word { raw, .. } if raw.chars().all(char::is_uppercase));
                bare.then_some(if token.low() == "d" { Verb::Delete } else { Verb::Change })
            }
            _ => None,
        };
        let code = matches!(token, Token::Word { code: true, .. });
        phrase.map(|verb| (verb, Form::Phrase)).or_else(|| verb(token.low()).filter(|_| !code))
    }

    fn asserted(&self, at: usize, verb: Verb, form: Form) -> bool {
        if self.hedge.is_some() || self.side {
            return false;
        }
        let before = at.checked_sub(1).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        let before_that = at.checked_sub(2).and_then(|b| self.tokens.get(b)).map_or("", Token::low);
        match form {
            Form::Past => {
                before != "to" && before != "being" && tells(self.tokens, at, self.start) && !self.old(at)
            }
            Form::Phrase => true,
            Form::Present if verb == Verb::Exist => true,
            Form::Present => {
                at == 0
                    || (self.above.done && !matches!(self.tokens[at - 1], Token::Word { .. }))
                    || ["this", "change", "commit", "patch", "pr", "diff"].contains(&before)
            }
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

    // "was already bumped" is no work of this run, "I already bumped" is.
    fn old(&self, at: usize) -> bool {
        let clause = self.tokens.get(self.start..at).unwrap_or_default();
        clause.iter().any(|t| t.is(&["already"])) && !clause.iter().any(is_agent)
    }

    fn conditional(&self) -> bool {
        (0..self.tokens.len()).any(|at| hedge(self.tokens, at) == Some(Hedge::If))
    }

    fn govern(&mut self, governs: Governs, verb_at: usize, form: Form) {
        self.worked = true;
        for path in relative(self.tokens, verb_at) {
            self.apply(governs, path, verb_at, Role::Place);
        }
        if form == Form::Present && !governs.asserted {
            self.governs = Some(governs);
            return;
        }
        // "finished creating a.rs", "done: created a.rs": the later verb says what was done.
        for (path, at, role) in std::mem::take(&mut self.waiting) {
            if reaches(self.tokens, at, verb_at, self.start, role == Role::Place) {
                let labels = labels(self.tokens, at, verb_at);
                self.apply(
                    governs,
                    path,
                    at,
                    if labels && role == Role::Object { Role::Place } else { role },
                );
            } else {
                self.idle.push((path, at, Role::Mention));
            }
        }
        // "a.rs now writes b.rs": only a.rs is said to be another.
        let after = !(form == Form::Present && governs.verb == Verb::Exist);
        self.governs = Some(Governs { asserted: governs.asserted && after, ..governs });
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
            (Verb::Change, Role::Place | Role::Source) if is_value(self.tokens, at) => None,
            (Verb::Create, Role::Source) | (Verb::Exist, Role::Source) => None,
            (Verb::Create, Role::Object) if self.put_into(at) => None,
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

    // "added `dist/` to .gitignore": the words were added, not the folder.
    fn put_into(&self, at: usize) -> bool {
        let mut rest = self.tokens[at + 1..].iter();
        let to = rest.find(|t| {
            !(t.is(&["and"])
                || **t == Token::Mark(',')
                || !paths(t).is_empty()
                || matches!(t, Token::Word { code: true, .. }))
        });
        let target = rest.find(|t| !t.is(&["the"]));
        to.is_some_and(|t| t.is(&["to"]))
            && target.is_some_and(|t| paths(t).iter().any(|p| !p.ends_with('/')))
    }

    // "renamed a.rs to b.rs": a.rs is gone, if a path follows.
    fn has_target(&self, at: usize) -> bool {
        let rest = &self.tokens[at + 1..];
        let to = rest.iter().position(|t| t.is(&["to", "into", "as"]) || *t == Token::Mark('→'));
        to.is_some_and(|to| rest[to..].iter().any(|t| paths(t).iter().any(|p| !p.ends_with('/'))))
    }

    // A finished item without a verb of change, such as "a.rs: the parser", is about work unless it was only looking.
    fn plain_work(&self) -> bool {
        !self.worked && !looks(self.tokens)
    }
}
