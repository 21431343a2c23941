//! What a worker comes to know while it works: decisions, constraints and findings, said once in the middle of its prose.
//!
//! They carry no word that marks them ("decision", "note", "must"), so that only what is passed on whole or understood
//! reaches a successor. Whether one arrived is read from the request that the server was sent.

use std::collections::BTreeMap;

/// Every fact there is.
pub const FACTS: [&str; 24] = [
    "The supplier feed from Gdansk arrives with a byte order mark, and the importer keeps it because the billing host compares whole files.",
    "Amounts are held in tenths of a cent, since two customers in Oslo are invoiced below one cent per call.",
    "The nightly export takes the read replica on port 6543; the primary refuses sessions after 22:40.",
    "Ticket 4471 asked for retries, but the vendor bills each attempt, so one attempt it stays.",
    "Rows with a null region belong to the Lisbon office and are not errors.",
    "The column ledger_seq wraps around at 65,535 on the older till firmware.",
    "Marta from accounting agreed to lose the pre-2019 discount codes altogether.",
    "A wrong checksum on page 12 of the archive comes from the scanner, and reprinting that page settles it.",
    "The parser reads Latin-1 first and only then UTF-8, because the Nantes files pass as both.",
    "Deleting a draft leaves its attachments on the second volume until the Sunday sweep.",
    "Prices for pallets of 48 are quoted without freight, those of 40 with it.",
    "The test account 9-0087 is live in Madrid, so anything charged to it is real money.",
    "Sorting by arrival date breaks the reconciliation, while sorting by booking number keeps it whole.",
    "The mobile team still calls version 3 of the totals route until their release on the 9th of March.",
    "Setting the pool above eleven connections makes the proxy in Frankfurt drop the oldest one.",
    "The legal department wants refunds over 900 euros to stay visible for ten years.",
    "An empty envelope from the courier service means accepted, not failed.",
    "The tax rate for Ceuta comes from a spreadsheet that Joaquin updates by hand on Fridays.",
    "Two of the seven warehouses run on summer time throughout the year.",
    "The word settled in the old reports covers both paid and written off.",
    "Compressing the message queue halves its size, yet the consumer in Porto cannot unpack it.",
    "The staging certificate expired in June and everyone works with the pinned copy in the vault.",
    "Invoices above 500 lines are split by the printer driver, which renumbers the second part from one.",
    "Customer 31 sends dates with the day first, in spite of the contract.",
];

/// So many of the facts, by the step before which they are said: a third of them in the first tenth of the work, the rest
/// spread evenly over what comes then, and none in the last tenth, where no handoff would follow.
pub fn spread(count: usize, steps: u32) -> BTreeMap<u32, Vec<String>> {
    let count = count.min(FACTS.len());
    let early = count.div_ceil(3);
    let tenth = steps.div_ceil(10).max(1);
    let late_steps = (steps * 9 / 10).saturating_sub(tenth).max(1);
    let mut said: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (place, fact) in FACTS.iter().take(count).enumerate() {
        let index = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let step = if place < early {
            1 + index(place) % tenth
        } else {
            tenth + 1 + index(place - early) * late_steps / index(count - early).max(1)
        };
        said.entry(step.min(steps)).or_default().push((*fact).to_owned());
    }
    said
}

/// Those of the facts that a text holds, however it breaks its lines.
pub fn held_by<'f>(facts: impl IntoIterator<Item = &'f str>, text: &str) -> Vec<&'f str> {
    let text = on_one_line(text);
    facts.into_iter().filter(|fact| text.contains(&on_one_line(fact))).collect()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_is_said_in_the_first_tenth_and_every_fact_once() {
        for (count, steps) in [(24, 40), (12, 24), (3, 10), (24, 200)] {
            let said = spread(count, steps);
            let early: usize = said.range(..=steps.div_ceil(10)).map(|(_, facts)| facts.len()).sum();
            assert!(early * 3 >= count, "{early} of {count} in the first tenth of {steps}");
            assert_eq!(said.values().map(Vec::len).sum::<usize>(), count);
            assert!(said.keys().all(|step| (1..=steps).contains(step)));
        }
    }

    #[test]
    fn facts_carry_no_word_that_marks_them() {
        let marks = [
            "decision",
            "decided",
            "note",
            "important",
            "must",
            "never",
            "remember",
            "constraint",
            "finding",
            "key",
        ];
        for fact in FACTS {
            let words: Vec<String> =
                fact.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
            assert!(!marks.iter().any(|mark| words.iter().any(|word| word == mark)), "{fact}");
        }
    }

    #[test]
    fn a_fact_is_found_whole_or_not_at_all() {
        let wrapped = FACTS[4].replace("Lisbon office", "Lisbon\n  office");
        assert_eq!(held_by(FACTS, &format!("before {wrapped} after")), [FACTS[4]]);
        assert!(held_by(FACTS, "Rows with a null region belong to the Lisbon office").is_empty());
    }
}
