//! Verbs that say that a file was changed, in the forms in which they are used.

/// What a verb does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Change,
    Delete,
    Move,
    /// The file is there, or does something, that was not so before.
    Exist,
}

/// The form of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// created
    Past,
    /// creates
    Present,
    /// Several words that say it, such as "got rid".
    Phrase,
    /// create
    Base,
    /// creating
    Ing,
    /// creation
    Noun,
}

const CREATE: [&str; 14] = [
    "create",
    "add",
    "generate",
    "introduce",
    "scaffold",
    "author",
    "produce",
    "draft",
    "save",
    "place",
    "implement",
    "develop",
    "stub",
    "bootstrap",
];
const CHANGE: [&str; 56] = [
    "modify",
    "update",
    "change",
    "edit",
    "fix",
    "refactor",
    "extend",
    "improve",
    "adjust",
    "patch",
    "clean",
    "touch",
    "rework",
    "convert",
    "migrate",
    "port",
    "replace",
    "wire",
    "hook",
    "register",
    "export",
    "document",
    "format",
    "optimise",
    "optimize",
    "bump",
    "correct",
    "tweak",
    "simplify",
    "finish",
    "complete",
    "amend",
    "extract",
    "inline",
    "integrate",
    "enhance",
    "handle",
    "harden",
    "restructure",
    "reorganise",
    "reorganize",
    "repair",
    "resolve",
    "expand",
    "populate",
    "append",
    "insert",
    "enable",
    "configure",
    "restore",
    "polish",
    "alter",
    "revise",
    "restyle",
    "annotate",
    "strip",
];
const DELETE: [&str; 8] = ["delete", "remove", "drop", "erase", "purge", "unlink", "eliminate", "scrap"];
const MOVE: [&str; 3] = ["move", "rename", "relocate"];
const IRREGULAR: [(&str, Verb, Form); 21] = [
    ("put", Verb::Create, Form::Past),
    ("wrote", Verb::Create, Form::Past),
    ("written", Verb::Create, Form::Past),
    ("write", Verb::Create, Form::Base),
    ("writing", Verb::Create, Form::Ing),
    ("writes", Verb::Create, Form::Present),
    ("built", Verb::Create, Form::Past),
    ("made", Verb::Create, Form::Past),
    ("rewrote", Verb::Change, Form::Past),
    ("rewritten", Verb::Change, Form::Past),
    ("rewrite", Verb::Change, Form::Base),
    ("split", Verb::Change, Form::Past),
    ("creation", Verb::Create, Form::Noun),
    ("addition", Verb::Create, Form::Noun),
    ("deletion", Verb::Delete, Form::Noun),
    ("removal", Verb::Delete, Form::Noun),
    ("modification", Verb::Change, Form::Noun),
    ("refactoring", Verb::Change, Form::Noun),
    ("implementation", Verb::Change, Form::Noun),
    ("modified", Verb::Change, Form::Past),
    ("gone", Verb::Delete, Form::Past),
];

/// The verb that a word in lower case is a form of.
pub(super) fn verb(word: &str) -> Option<(Verb, Form)> {
    if word.len() < 3 {
        return None;
    }
    if let Some((_, verb, form)) = IRREGULAR.iter().find(|(w, _, _)| *w == word) {
        return Some((*verb, *form));
    }
    let (stem, form) = if let Some(stem) = word.strip_suffix("ing") {
        (stem, Form::Ing)
    } else if let Some(stem) = word.strip_suffix("ed") {
        (stem, Form::Past)
    } else if let Some(stem) = word.strip_suffix("es").or_else(|| word.strip_suffix('s')) {
        (stem, Form::Present)
    } else {
        (word, Form::Base)
    };
    let known = |list: &[&str]| list.iter().any(|base| is_form(base, stem, word));
    let table: [(&[&str], Verb); 4] =
        [(&CREATE, Verb::Create), (&CHANGE, Verb::Change), (&DELETE, Verb::Delete), (&MOVE, Verb::Move)];
    table.iter().find(|(list, _)| known(list)).map(|(_, verb)| (*verb, form))
}

// create-creat(ed), modify-modifi(ed), drop-dropp(ed), add-add(ed)
fn is_form(base: &str, stem: &str, word: &str) -> bool {
    let head = &base[..base.len() - 1];
    let last = &base[base.len() - 1..];
    word == base
        || stem == base
        || (last == "e" && stem == head)
        || (last == "y" && stem.strip_suffix('i') == Some(head))
        || (stem.strip_suffix(last) == Some(base) && last != "e")
}
