//! Twenty handoffs by an agent that says everything in other words each time: with the ids that it was given, without them,
//! and with another item's.

use segue_machine::claims::{Evidence, claims, judge};
use segue_machine::ledger::{Category, Item, Ledger, State};

use super::{BUDGET, origin};

/// What is left to do, as it was said first, later, and when it was done.
const WITH_FILE: [[&str; 3]; 12] = [
    [
        "Write the tokenizer in src/lex.rs",
        "src/lex.rs still lacks its tokenizer",
        "src/lex.rs now splits its input",
    ],
    [
        "Add paging to api/orders.py",
        "Paging is missing in api/orders.py",
        "The listing in api/orders.py comes in pages",
    ],
    [
        "Move the retry logic into net/retry.go",
        "net/retry.go has no retries yet",
        "Retries live in net/retry.go",
    ],
    [
        "Describe the limits in docs/limits.md",
        "docs/limits.md is empty",
        "All limits are explained in docs/limits.md",
    ],
    [
        "Drop the old column in db/0042_drop.sql",
        "The migration db/0042_drop.sql is open",
        "db/0042_drop.sql removes that column",
    ],
    [
        "Teach ui/Form.tsx to show errors",
        "ui/Form.tsx shows no errors",
        "Errors appear below each field of ui/Form.tsx",
    ],
    ["Close the handle in io/pipe.c", "io/pipe.c leaks a handle", "The leak in io/pipe.c is gone"],
    ["Cache the answer in lib/geo.rb", "lib/geo.rb asks every time", "lib/geo.rb remembers what it was told"],
    ["Split mail/queue.ex in two", "mail/queue.ex is too long", "mail/queue.ex has a sibling now"],
    [
        "Sign the archive in tools/pack.sh",
        "tools/pack.sh makes unsigned archives",
        "tools/pack.sh signs what it packs",
    ],
    ["Round the totals in core/tax.kt", "core/tax.kt does not round", "Half cents are gone from core/tax.kt"],
    [
        "Log slow queries in srv/log.rs",
        "srv/log.rs says nothing of slow queries",
        "srv/log.rs names queries above a second",
    ],
];
const WITHOUT: [[&str; 3]; 12] = [
    [
        "Write the parser for invoices",
        "The invoice parser has to be written",
        "Wrote the parser for invoices",
    ],
    [
        "Run the importer against the archive",
        "The importer must run against the archive",
        "Ran the importer against the whole archive",
    ],
    [
        "Remove the second login screen",
        "The second login screen has to go",
        "The second login screen is removed",
    ],
    [
        "Rename the billing queue",
        "The billing queue keeps its bad name",
        "Renamed the billing queue as agreed",
    ],
    ["Build the installer for Windows", "No installer for Windows yet", "The Windows installer is built"],
    [
        "Send the weekly digest by mail",
        "The weekly digest is not sent",
        "The digest is sent each week by mail",
    ],
    ["Stop the worker at midnight", "The worker runs past midnight", "The worker is stopped at midnight"],
    [
        "Check addresses before printing labels",
        "Labels are printed unchecked",
        "Addresses are checked before labels are printed",
    ],
    [
        "Keep refunds visible for ten years",
        "Refunds vanish too early",
        "Refunds are kept visible for ten years",
    ],
    [
        "Draw the seating plan from the bookings",
        "The seating plan is drawn by hand",
        "The seating plan is drawn from bookings now",
    ],
    ["Choose a font for receipts", "Receipts have no font of their own", "A font for receipts was chosen"],
    ["Sort the suppliers by region", "Suppliers are unsorted", "Suppliers come sorted by their region"],
];

const ROUNDS: usize = 20;
/// So many lines that nobody needs, three times what the ledger may tell.
const NOISE: usize = 60;

#[derive(Clone, Copy, PartialEq)]
enum Ids {
    Kept,
    Dropped,
    Swapped,
}

fn all() -> Vec<[&'static str; 3]> {
    WITH_FILE.iter().zip(&WITHOUT).flat_map(|(a, b)| [*a, *b]).collect()
}

/// A checkpoint: one item more is done each time; what is left is told as at first or in other words, by turns.
fn checkpoint(round: usize, ids: Ids, ledger: &Ledger) -> String {
    let items = all();
    let id = |n: usize| {
        let text = items[(n + usize::from(ids == Ids::Swapped)) % items.len()][0];
        let at = ledger.items().iter().position(|item| item.text == text);
        at.filter(|_| ids != Ids::Dropped).map_or(String::new(), |at| format!("[R{}] ", at + 1))
    };
    let mut text = "<checkpoint>\n## Goal\nShip it\n## Completed Work\n".to_owned();
    for n in 0..NOISE {
        let n = round * NOISE + n;
        text += &format!(
            "- Read note {n} of the collection, which says nothing new about lot {}, shelf {}\n",
            n * 7,
            n * 13
        );
    }
    if round > 0 {
        text += &format!("- {}{}\n", id(round - 1), items[round - 1][2]);
    }
    text += "## Remaining Tasks\n";
    for (n, item) in items.iter().enumerate().skip(round) {
        // Other words would be another item to whoever is not told the id.
        let words = if ids == Ids::Kept && round % 2 == 1 { item[1] } else { item[0] };
        text += &format!("- {}{words}\n", if round > 0 && ids == Ids::Kept { id(n) } else { String::new() });
    }
    text + "</checkpoint>\n"
}

fn after_twenty(ids: Ids) -> Ledger {
    let mut ledger = Ledger::default();
    let mut noise = 0;
    for round in 0..ROUNDS {
        let text = checkpoint(round, ids, &ledger);
        noise += text.len();
        ledger.merge(&judge(claims(&text), &Evidence::default()), &origin(round));
        let told = ledger.render(BUDGET / 4).text;
        for item in all() {
            assert!(told.contains(item[0]), "round {round}: {} is lost\n{told}", item[0]);
        }
    }
    assert!(noise > 3 * BUDGET, "{noise}");
    ledger
}

fn is_marked(ledger: &Ledger, text: &str) -> bool {
    let named = |item: &&Item| item.category == Category::Remaining && item.text == text;
    let found = ledger.items().iter().find(named);
    matches!(found.map(|item| &item.state), Some(State::SaidDone { .. }))
}

#[test]
fn k8_with_ids_every_finished_item_is_known_whatever_the_words() {
    let ledger = after_twenty(Ids::Kept);
    for (n, words) in all().iter().enumerate() {
        assert_eq!(is_marked(&ledger, words[0]), n < ROUNDS - 1, "{}", words[0]);
    }
    let left = ledger.items().iter().filter(|item| item.category == Category::Remaining).count();
    assert_eq!(left, all().len(), "other words made no second item");
}

#[test]
fn k8_without_ids_items_with_a_file_are_all_known_and_nine_in_ten_of_the_others() {
    for ids in [Ids::Dropped, Ids::Swapped] {
        let ledger = after_twenty(ids);
        let finished = &all()[..ROUNDS - 1];
        let known = |from: &[[&str; 3]]| {
            let of: Vec<&[&str; 3]> = finished.iter().filter(|words| from.contains(words)).collect();
            (of.iter().filter(|words| is_marked(&ledger, words[0])).count(), of.len())
        };
        let (files, others) = (known(&WITH_FILE), known(&WITHOUT));
        println!("files {} of {}, others {} of {}", files.0, files.1, others.0, others.1);
        assert_eq!(files.0, files.1);
        assert!(others.0 * 10 >= others.1 * 9, "{others:?}");
        for words in &all()[ROUNDS - 1..] {
            assert!(!is_marked(&ledger, words[0]), "{} is not done", words[0]);
        }
    }
}

#[test]
fn k8_nothing_is_both_done_and_left() {
    let mut ledger = Ledger::default();
    let mut say = |round: usize, text: &str| {
        ledger.merge(&judge(claims(text), &Evidence::default()), &origin(round));
        ledger.render(BUDGET).text
    };
    say(0, "## Remaining Tasks\n- Write the parser for invoices\n- Write the printer\n");
    let told = say(
        1,
        "## Completed Work\n- Wrote the parser for invoices\n## Remaining Tasks\n- Write the printer\n",
    );
    assert_eq!(told.matches("the parser for invoices").count(), 1, "{told}");
    assert!(told.contains("- [R1] Write the parser for invoices (said done in c2, not confirmed)"), "{told}");
    let told = say(2, "## Remaining Tasks\n- [R1] The parser drops credit notes\n");
    assert!(told.contains("- [R1] Write the parser for invoices\n") && !told.contains("Wrote"), "{told}");
    let told = say(3, "## Completed Work\n- Set up the mail relay\n");
    assert!(told.contains("Set up the mail relay"));
    let told = say(4, "## Remaining Tasks\n- Set up the mail relay\n- [R99] Ask Marta\n");
    assert_eq!(told.matches("Set up the mail relay").count(), 1, "{told}");
    assert!(!told.contains("## Done"), "{told}");
    assert!(told.contains("[R99] Ask Marta"), "an id that nobody gave is text: {told}");
}
