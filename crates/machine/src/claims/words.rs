//! A sentence as words, with what Markdown and punctuation put around them.

use super::Change;
use super::paths::paths;

/// One word as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'t>(pub(super) &'t str);

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    text.split_whitespace().map(Word).collect()
}

/// Whether a word is in a list of words.
pub(super) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

const CREATED: &str = "created added new wrote introduced neu neue erstellt erstellte angelegt angelegte hinzugefügt \
    créé créée créés créées crees nouveau nouveaux ajouté ajoutés ajoutes creado creados creadas añadido añadidos nuevo \
    nuevos criado criei creato generated aangemaakt создан создал 创建 创建了 新增";
const MODIFIED: &str = "modified changed edited updated touched written rewritten geändert geänderte bearbeitet modifié \
    modifiés modifies modificado modificados actualizado actualizados extended refactored rewrote fixed adapted \
    reworked implemented simplified wired";
const DELETED: &str = "deleted removed gelöscht gelöschte entfernt supprimé supprimés supprimes eliminado eliminados \
    borrado borrados";

impl Word<'_> {
    /// Without marks around it.
    pub(super) fn bare(self) -> String {
        let word = self.0.trim_matches(|c: char| !c.is_alphanumeric());
        word.to_lowercase().replace('’', "'")
    }

    /// The change of a file that it says was made.
    pub(super) fn change(self) -> Option<Change> {
        let word = self.bare();
        match word.as_str() {
            _ if listed(CREATED, &word) || word.ends_with("作成") => Some(Change::Created),
            _ if listed(MODIFIED, &word) => Some(Change::Modified),
            _ if listed(DELETED, &word) => Some(Change::Deleted),
            _ => None,
        }
    }

    /// The one path that it is, if it is nothing else.
    pub(super) fn path(self) -> Option<String> {
        match paths(self.0).as_slice() {
            [path] => Some(path.clone()),
            _ => None,
        }
    }

    /// The path that it is where nothing but paths can stand.
    pub(super) fn place(self) -> Option<String> {
        let word = self.0.trim_matches(['`', '"', ',', ';']);
        let path = self.path().is_none() && word.contains(['/', '.']) && word.contains(char::is_alphanumeric);
        if path && !word.contains(['(', ':']) { Some(word.to_owned()) } else { self.path() }
    }

    /// The hash that it is.
    pub(super) fn hash(self) -> Option<String> {
        let word = self.bare();
        let hex = (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
        let mixed = word.bytes().any(|b| b.is_ascii_digit());
        (hex && mixed && (word.bytes().any(|b| b.is_ascii_alphabetic()) || self.0.contains('`')))
            .then_some(word)
    }

    /// Whether a part of the sentence ends with it.
    pub(super) fn closes(self) -> bool {
        self.0.trim_end_matches(['*', '`', '"']).ends_with([',', ';', ':', '.', ')', '!'])
    }
}

/// Whether something in a text denies, doubts, plans or asks.
pub(super) fn hedged(text: &str) -> bool {
    const HEDGES: &str = "not had no none never cannot without if unless until once would should could will may might \
        must need needs needed plan planned want to-do todo next later still remaining instead \
        try tried except but unchanged untouched reverted undid undone removed skipped failed \
        fails fail failing only earlier previously already temporarily temporary upstream \
        separately nicht noch kein keine keinen pas sin pendiente";
    let doubt = |word: &Word<'_>| {
        let bare = word.bare();
        bare.ends_with("n't") || listed(HEDGES, &bare)
    };
    let text = clean(text);
    text.trim_end().ends_with('?') || words(&text).iter().any(doubt)
}

// "0 failed" fails nothing, "10 failed" does.
fn clean(text: &str) -> String {
    const CLEAN: [&str; 6] = ["0 failed", "0 failures", "no failures", "0 errors", "no warnings", "exit 0"];
    let text = format!(" {}", text.to_lowercase().replace("exit code", "exit").replace(':', ": "));
    CLEAN.iter().fold(text, |text, clean| text.replace(&format!(" {clean}"), " clean"))
}

/// Whether a text says that something passes, and nothing else.
pub(super) fn passes(text: &str) -> bool {
    const FILLS: &str = "all the whole entire full tests test suite cases checks gates specs examples assertions now are is do and in of with ist sind \
         tout todo";
    const PASSES: &str = "pass passes passed passing green ok true yes success succeeded succeeds clean grün bestanden \
        erfolgreich réussi réussis réussie passé passe passent verde pasa pasan superado superados 成功 合格";
    let text = clean(text.split(['(', '[']).next().unwrap_or_default());
    let text = text.replace(['✅', '✓', '✔'], " ok ");
    let digits = |word: &str| word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 's'));
    let number =
        |word: &str| word.split_once('/').map_or(digits(word), |(part, all)| part == all && digits(all));
    let fills = |word: &String| listed(FILLS, word) || number(word);
    let mut said = words(&text).into_iter().map(Word::bare).filter(|word| !fills(word)).peekable();
    said.peek().is_some() && said.all(|word| listed(PASSES, &word))
}
