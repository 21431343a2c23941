//! Handing over where it pays: the lines of money and of the model, what is read again, a cache that has gone cold.

use super::scenario::Scenario;
use crate::policy::{Economy, Place};
use crate::{AgentEvent, Capabilities, Effect, Notice, Price, Rates, Reading};

const WINDOW: u64 = 1_000_000;

fn opus() -> Price {
    let rates = Rates {
        input: 5_000_000,
        cache_read: 500_000,
        cache_write: 6_250_000,
        cache_write_1h: 10_000_000,
        output: 25_000_000,
    };
    Price { rates, long: None, date: String::new(), source: String::new() }
}

fn auto(price: Option<Price>) -> Scenario {
    let mut scene = Scenario::new("auto").window(WINDOW);
    scene.price = Some(price);
    scene.can = Capabilities { brake: true, ..scene.can };
    scene
}

/// Calls that add two thousand tokens each, with a list item closed every tenth, until the session is replaced.
fn works(scene: &mut Scenario) -> u64 {
    let session = scene.view().sessions;
    let (mut tokens, mut calls) = (40_000, 0);
    while scene.view().sessions == session && tokens < WINDOW {
        scene.usage(tokens);
        calls += 1;
        if calls % 10 == 0 {
            scene.says(AgentEvent::ItemsSeen { open: 500, closed: calls / 10, items: Vec::new() });
        }
        tokens += 2_000;
    }
    tokens
}

fn reasons(scene: &Scenario) -> Vec<String> {
    scene.collect(|effect| {
        if let Effect::Announce(Notice::HandoffDecided { reason, .. }) = effect {
            Some(reason.clone())
        } else {
            None
        }
    })
}

#[test]
fn a_million_tokens_are_handed_over_where_it_pays_and_the_reason_is_told_in_money() {
    let mut scene = auto(Some(opus())).start();
    let at = works(&mut scene);
    assert!((120_000..340_000).contains(&at), "{at}");
    let said = reasons(&scene).join("\n");
    assert!(said.contains("this call $0.") && said.contains("pays back in"), "{said}");
}

#[test]
fn without_a_price_the_line_is_the_models_own() {
    let mut scene = auto(None).start();
    let at = works(&mut scene);
    assert!((215_000..=262_000).contains(&at), "{at}");
    assert!(
        reasons(&scene).join("\n").contains("beyond 256k the model loses track"),
        "{:?}",
        reasons(&scene)
    );
}

#[test]
fn with_both_lines_off_the_window_is_used() {
    let off = Economy { price: Place::Off, quality: Place::Off, most: None };
    let mut scene = auto(Some(opus())).spec(|spec| spec.policy.economy = Some(off)).start();
    assert!(works(&mut scene) > 800_000);
}

#[test]
fn a_threshold_in_tokens_is_the_hard_line() {
    let mut scene = auto(Some(opus())).spec(|spec| spec.policy.set_threshold_tokens(160_000)).start();
    let at = works(&mut scene);
    assert!((130_000..=164_000).contains(&at), "{at}");
}

fn looks_at(scene: &mut Scenario, title: &str, chars: u64) {
    let (tool, title) = (title.to_owned(), title.to_owned());
    scene.says(AgentEvent::ToolStarted { tool: tool.clone(), title: title.clone() });
    scene.says(AgentEvent::ToolDescribed { tool: tool.clone(), reads: true, exit: None, last_line: None });
    scene.says(AgentEvent::ToolEnded { tool, title, ok: true, chars });
}

#[test]
fn what_a_successor_reads_again_is_measured_and_moves_the_line() {
    let mut scene = auto(Some(opus())).start();
    for n in 0..8 {
        looks_at(&mut scene, &format!("Read src/{n}.rs"), 40_000);
    }
    let first = works(&mut scene);
    looks_at(&mut scene, "Read src/1.rs", 40_000);
    looks_at(&mut scene, "Read src/7.rs", 400_000);
    looks_at(&mut scene, "Read src/other.rs", 40_000);
    let second = works(&mut scene);
    let reread = scene.view().rereads.last().cloned().unwrap();
    assert_eq!((reread.session, reread.files.len()), (2, 2));
    assert_eq!(reread.files[0], "Read src/7.rs");
    // In this scene a token is a character.
    assert!((400_000..460_000).contains(&reread.tokens), "{}", reread.tokens);
    let third = works(&mut scene);
    assert!(third > second, "after an expensive handoff the next comes later: {first} {second} {third}");
}

#[test]
fn a_cache_that_has_gone_cold_is_a_good_moment() {
    let mut scene = auto(Some(opus())).start();
    let call = |read: u64, write: u64| AgentEvent::UsageRead(Reading::exact(10, read, write, 100));
    for n in 0..20 {
        scene.tool(2_000).says(call(40_000 + n * 2_000, 2_000));
    }
    assert!(!scene.run.completed);
    scene.tool(2_000).says(call(0, 82_000));
    assert!(scene.run.completed);
}
