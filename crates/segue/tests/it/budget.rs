//! Money, tokens and sessions: what stops a run, what does not even begin, and what the day's book says.

use segue_machine::{Effect, Notice, Record, Run};
use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, small};

/// One dollar for a million tokens: a call of 20,000 tokens costs two cents.
const PRICE: &str = "[prices.\"scripted-1\"]\ninput = 1.0\noutput = 5.0\ndate = \"2026-11-16\"\n";

// One window holds it all, so that only what is spent can end a session.
fn world(steps: u32, more: &str) -> World {
    let mut world = World::new(steps, Script { window: 400_000, ..small() });
    world.set_env("SEGUE_MODEL", "scripted-1");
    world.configure(&format!("{PRICE}{more}"));
    world.commit("configured");
    world
}

fn limits(done: &Done) -> Vec<String> {
    done.of("limit.reached").iter().map(|l| l["limit"].as_str().unwrap().to_owned()).collect()
}

fn book(world: &World) -> Value {
    let done = world.segue(&["budget", "--json"]);
    done.exits(0);
    done.lines().remove(0)
}

fn tokens(finished: &Value) -> u64 {
    finished["tokens_in"].as_u64().unwrap_or(0) + finished["tokens_out"].as_u64().unwrap_or(0)
}

#[test]
fn a_cost_cap_stops_a_run_in_every_mode_with_a_checkpoint_and_it_can_go_on() {
    for policy in ["observe", "auto"] {
        let world = world(12, "");
        // Long enough for the end to come while it thinks, as with a real model.
        world.script(Script { window: 400_000, think_ms: 400, ..small() });
        let done = world.segue(&["run", "TASK.md", "--json", "--policy", policy, "--max-cost", "0.15"]);
        done.exits(4);
        let finished = done.finished();
        let cost = finished["cost_usd"].as_f64().unwrap();
        assert!((0.15..0.30).contains(&cost), "{policy}: {cost}\n{}", done.all());
        assert_eq!((finished["limit"].as_str(), limits(&done)), (Some("cost"), vec!["cost".to_owned()]));
        assert!(finished["advice"].as_str().unwrap().contains("segue resume --max-cost"), "{finished}");
        assert_eq!(done.warnings("budget").len(), 1, "{}", done.all());
        assert!(!done.of("checkpoint.taken").is_empty());
        let again = world.segue(&["resume", "--json"]);
        again.exits(4);
        assert!(again.of("session.started").is_empty(), "{}", again.all());
        let more = world.segue(&["resume", "--json", "--max-cost", "50"]);
        more.exits(0);
        world.assert_each_step_once(&more);
        world.segue(&["replay"]).exits(0);
        assert!(
            (book(&world)["today"]["cost_usd"].as_f64().unwrap()
                - more.finished()["cost_usd"].as_f64().unwrap())
            .abs()
                < 1e-9
        );
    }
}

#[test]
fn the_days_budget_holds_over_runs_one_after_the_other() {
    let first = world(4, "");
    let state = first.root().join("shared");
    let with_state = |mut world: World| {
        world.set_env("XDG_STATE_HOME", state.display().to_string());
        world
    };
    let first = with_state(first);
    let done = first.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let spent = done.finished()["cost_usd"].as_f64().unwrap();
    assert!((book(&first)["today"]["cost_usd"].as_f64().unwrap() - spent).abs() < 1e-9);
    let limit = format!("[budget.day]\ncost_usd = \"{:.6}\"\n", spent + 0.1);
    let second = with_state(world(12, &limit));
    let done = second.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    assert_eq!(limits(&done), ["day_cost"], "{}", done.all());
    let status = second.segue(&["status", "--json"]).lines().remove(0);
    let day = &status["limits"]["day"]["cost_usd"];
    assert!(day["used"].as_f64().unwrap() >= day["max"].as_f64().unwrap(), "{status}");
    let third = with_state(world(3, &limit));
    let done = third.segue(&["run", "TASK.md", "--json"]);
    done.exits(4);
    assert_eq!((done.finished()["sessions"].as_u64(), limits(&done)), (Some(0), vec!["day_cost".to_owned()]));
    let doc = book(&third);
    assert_eq!(
        (doc["runs"].as_object().unwrap().len(), doc["left"]["cost_usd"].as_f64()),
        (3, Some(0.0)),
        "{doc}"
    );
}

/// What the run itself had spent when it met its limit, and what all runs had spent in the day by then.
fn at_limit(world: &World) -> (u64, u64) {
    let mut machine = Run::default();
    for stored in world.events(&world.run_id().unwrap()) {
        let event = serde_json::from_str(&stored.event).unwrap();
        let effects = machine.handle(&Record { seq: stored.seq, at: stored.at, event });
        let reached = |e: &Effect| matches!(e, Effect::Announce(Notice::LimitReached { .. }));
        if effects.iter().any(reached) {
            let view = machine.view();
            return (view.spent().tokens(), view.today(stored.at).unwrap().tokens);
        }
    }
    panic!("no limit was reached");
}

#[test]
fn two_runs_side_by_side_share_the_days_budget() {
    const TOKENS: u64 = 600_000;
    let limit = format!("[budget.day]\ntokens = {TOKENS}\n");
    let (mut one, mut two) = (world(60, &limit), world(60, &limit));
    let state = one.root().join("shared").display().to_string();
    one.set_env("XDG_STATE_HOME", state.clone());
    two.set_env("XDG_STATE_HOME", state);
    let slow = Script { window: 400_000, think_ms: 250, ..small() };
    one.script(slow.clone());
    two.script(slow);
    let running =
        (one.launch(&["run", "TASK.md", "--json"], "a"), two.launch(&["run", "TASK.md", "--json"], "b"));
    let (a, b) = (running.0.wait(), running.1.wait());
    for (done, world) in [(&a, &one), (&b, &two)] {
        done.exits(4);
        assert_eq!(limits(done), ["day_tokens"], "{}", done.all());
        let (own, day) = at_limit(world);
        assert!(own < TOKENS && day >= TOKENS, "{own} of {day}\n{}", done.all());
        world.segue(&["replay"]).exits(0);
    }
    let sum = tokens(&a.finished()) + tokens(&b.finished());
    assert_eq!(book(&one)["today"]["tokens"].as_u64(), Some(sum));
}

#[test]
fn a_run_that_was_killed_and_resumed_is_in_the_book_once() {
    let world = world(10, "");
    world.launch_with(&["run", "TASK.md", "--json"], "killed", &[("SEGUE_CRASH_AFTER", "45")]).wait();
    let run = world.run_id().unwrap();
    assert_eq!(world.events(&run).len(), 45);
    let before = book(&world);
    assert!(before["today"]["tokens"].as_u64().unwrap() > 0, "{before}");
    let done = world.segue(&["resume", "--json"]);
    done.exits(0);
    let (finished, doc) = (done.finished(), book(&world));
    assert_eq!(doc["today"]["tokens"].as_u64(), Some(tokens(&finished)), "{doc}\n{finished}");
    assert_eq!(doc["today"]["sessions"], finished["sessions"]);
    assert_eq!(doc["runs"].as_object().unwrap().keys().collect::<Vec<_>>(), [&run]);
    world.segue(&["replay"]).exits(0);
}

#[test]
fn a_cost_limit_without_a_price_is_refused_and_an_unknown_cost_is_never_nothing() {
    let mut world = World::new(3, small());
    world.set_env("SEGUE_MODEL", "house-model");
    let done = world.segue(&["run", "TASK.md", "--json", "--max-cost", "5"]);
    done.exits(4);
    assert_eq!(
        (limits(&done), done.finished()["cost_usd"].is_null()),
        (vec!["unknown_cost".to_owned()], true)
    );
    let advice = done.finished()["advice"].as_str().unwrap().to_owned();
    assert!(
        advice.contains("[prices.\"house-model\"]") && advice.contains("--allow-unknown-cost"),
        "{advice}"
    );
    assert!(done.of("gauge.read").is_empty(), "a call was made\n{}", done.all());
    let done = world.segue(&["resume", "--json", "--allow-unknown-cost"]);
    done.exits(0);
    assert_eq!(
        (done.warnings("unknown_cost").len() as u64, &done.finished()["cost_usd"]),
        (done.finished()["sessions"].as_u64().unwrap() - 1, &Value::Null)
    );
    let status = world.segue(&["status"]);
    assert!(status.out.contains("unknown cost"), "{}", status.all());
    let doc = book(&world);
    assert!(
        doc["today"]["cost_usd"].is_null() && doc["today"]["unpriced_tokens"].as_u64().unwrap() > 0,
        "{doc}"
    );
    assert!(world.segue(&["budget"]).out.contains("without a known price"));
}

#[test]
fn a_session_whose_first_calls_exceed_what_is_left_is_not_started() {
    let world = world(4, "");
    world.segue(&["run", "TASK.md", "--json"]).exits(0);
    let done = world.segue(&["run", "TASK.md", "--json", "--max-tokens", "50k"]);
    done.exits(4);
    let finished = done.finished();
    assert_eq!((finished["sessions"].as_u64(), limits(&done)), (Some(0), vec!["tokens".to_owned()]));
    assert!(finished["reason"].as_str().unwrap().contains("it was not started"), "{finished}");
}

#[test]
fn no_more_sessions_are_started_than_allowed_and_more_can_be_allowed() {
    let world = World::new(12, Script { think_ms: 0, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "seamless", "--max-sessions", "1"]);
    done.exits(4);
    assert_eq!((done.finished()["sessions"].as_u64(), limits(&done)), (Some(1), vec!["sessions".to_owned()]));
    let more = world.segue(&["resume", "--json", "--max-sessions", "20"]);
    more.exits(0);
    world.assert_each_step_once(&more);
}

#[test]
fn the_prices_are_listed_with_their_day_and_the_users_own_come_first() {
    let world = world(1, "[prices.\"gpt-5.5\"]\ninput = 7\noutput = 9\ndate = \"2026-11-01\"\n");
    let listed = world.segue(&["budget", "--prices", "--json"]);
    listed.exits(0);
    let of = |model: &str| listed.lines().into_iter().find(|p| p["model"] == model).unwrap();
    assert_eq!(of("gpt-5.5")["usd_per_million"]["input"], 7.0);
    assert_eq!(of("gpt-5.5")["date"], "2026-11-01");
    assert!(of("claude-opus-5-5")["source"].as_str().unwrap().contains("Claude Code"));
}
