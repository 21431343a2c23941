//! What is still known after twenty handoffs, and what holds for any text.

#[path = "ledger/reworded.rs"]
mod reworded;
#[path = "ledger/story.rs"]
mod story;

use proptest::prelude::*;
use segue_machine::claims::{Evidence, claims, judge, strike};
use segue_machine::ledger::{Ledger, Memory, Origin, compose};

use story::{Dice, ROUNDS, Story, evidence};

const BUDGET: usize = 8_000;

fn origin(round: usize) -> Origin {
    let n = u32::try_from(round).unwrap_or(0);
    Origin {
        checkpoint: Some(format!("c{}", n + 1)),
        session: n + 1,
        agent: "a".to_owned(),
        at: u64::from(n) * 1_000,
    }
}

/// Rows of (handoff, facts planted so far, held by the ledger, held by the last summary).
fn told(seed: u64, like_decisions: bool) -> (Ledger, Vec<[usize; 4]>) {
    let story = Story::new(seed, like_decisions);
    let (world, mut dice, mut ledger) = (evidence(&story), Dice(seed ^ 77), Ledger::default());
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        let summary = story.summary(round, &mut dice);
        let judged = judge(claims(&summary), &world);
        ledger.merge(&judged, &origin(round));
        let passed_on = strike(&summary, &judged);
        let whole = compose(Memory::Ledger, &ledger, &passed_on, BUDGET);
        let last = compose(Memory::LastSummary, &ledger, &passed_on, BUDGET);
        let planted: Vec<_> = story.facts.iter().filter(|f| f.round <= round).collect();
        let plain = |text: &str| text.replace("**", "").to_lowercase();
        let held = |text: &str| planted.iter().filter(|f| plain(text).contains(&plain(&f.text))).count();
        for text in [&whole.text, &last.text] {
            assert!(text.len() <= BUDGET * 4);
            for lie in &story.lies {
                assert!(!text.contains(&lie.text), "round {round}: {}", lie.text);
            }
        }
        rows.push([round + 1, planted.len(), held(&whole.text), held(&last.text)]);
    }
    (ledger, rows)
}

#[test]
fn h6_after_twenty_handoffs_all_40_facts_are_told_among_400_lines_of_noise() {
    for (like_decisions, name) in [(false, "mixed noise"), (true, "noise that looks like decisions")] {
        for seed in 1..=4 {
            let (ledger, rows) = told(seed, like_decisions);
            let made = ledger.render(BUDGET);
            if seed == 1 {
                println!(
                    "{name}, {} items, {} bytes shown\n| handoff | planted | ledger | last summary |\n|---|---|---|---|",
                    ledger.items().len(),
                    made.text.len()
                );
                for [handoff, planted, ledger, last] in rows.iter().filter(|r| r[0] % 5 == 0 || r[0] == 1) {
                    println!("| {handoff} | {planted} | {ledger} | {last} |");
                }
            }
            for [handoff, planted, held, _] in &rows {
                assert_eq!(
                    held, planted,
                    "{name}, seed {seed}, handoff {handoff}, left out: {:?}",
                    made.left_out
                );
            }
            assert_eq!(rows[ROUNDS - 1][1], 40);
            assert!(rows[ROUNDS - 1][3] < 40, "the comparison forgets");
            assert!(!made.text.contains("- Use tabs"), "{}", made.text);
            assert!(made.text.contains("- Do not use tabs in part 19"));
            assert!(ledger.conflicts().len() >= ROUNDS);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_read_judged_struck_and_kept(text in wild(), tokens in 0_usize..400) {
        let judged = judge(claims(&text), &Evidence { git: true, ..Evidence::default() });
        let passed_on = strike(&text, &judged);
        prop_assert!(passed_on.len() <= text.len() + judged.len() * 80);
        let mut ledger = Ledger::default();
        ledger.rules(&text);
        ledger.note(&text, &origin(1));
        ledger.tool(&text, false, &text, &origin(1));
        ledger.merge(&judged, &origin(2));
        prop_assert!(ledger.render(tokens).text.len() <= tokens * 4);
        let once = ledger.clone();
        ledger.merge(&judged, &origin(2));
        prop_assert_eq!(&once, &ledger);
        let stored = serde_json::to_string(&ledger).unwrap();
        let mut read: Ledger = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &ledger);
        read.merge(&judged, &origin(3));
        ledger.merge(&judged, &origin(3));
        prop_assert_eq!(&read, &ledger);
        let shown = ledger.render(100_000);
        prop_assert_eq!(shown.left_out, []);
    }
}

fn wild() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,40}",
        "\\PC{0,12}",
        Just("\n- ".to_owned()),
        Just("\n## Completed Work\n".to_owned()),
        Just("Created src/a.rs".to_owned()),
        Just("all tests pass. ".to_owned()),
        Just("```\n".to_owned()),
        Just("`ä/😀.rs`".to_owned()),
        Just("<checkpoint>".to_owned()),
        Just("Key Decisions:\n".to_owned()),
        Just("never do it \u{301}。".to_owned()),
        Just(" committed \"".to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|p| p.concat())
}
