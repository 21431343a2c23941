//! The forecast from end to end: what it rests on, where it is shown, and what the agent is told.

use segue_rehearsal::script::Script;
use serde_json::{Value, json};

use crate::support::{Done, World};

const STAGES: &str =
    "[[stage]]\nat = \"30%\"\ndo = [\"tell\"]\n[[stage]]\nat = \"90%\"\ndo = [\"restart\"]\n";

/// Calls of 500 tokens or so in a window of 20,000.
fn even() -> Script {
    Script {
        window: 20_000,
        system_tokens: 2_000,
        step_output_chars: 2_000,
        notes: true,
        ..Script::default()
    }
}

fn forecasts(done: &Done) -> Vec<Value> {
    let readings = done.of("gauge.read").into_iter().filter(|line| line["final"] == true);
    readings.map(|line| line["forecast"].clone()).collect()
}

#[test]
fn a_stage_that_tells_reaches_an_agent_that_can_be_told_while_it_works() {
    let world = World::new(14, even());
    world.configure(STAGES);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let steps = world.steps();
    let told = steps.told();
    assert_eq!(told.len(), 1, "{told:?}\n{}", done.all());
    assert!(told[0].starts_with("Context window: 3") && told[0].ends_with('.'), "{told:?}");
    world.assert_each_step_once(&done);
}

#[test]
fn an_agent_that_cannot_be_told_is_left_alone_and_so_is_every_agent_with_no_tell() {
    for (notes, flag, key) in
        [(false, None, ""), (true, Some("--no-tell"), ""), (true, None, "tell = false\n")]
    {
        let world = World::new(14, Script { notes, ..even() });
        world.configure(&format!("{key}{STAGES}"));
        let args: Vec<&str> = ["run", "TASK.md", "--json"].into_iter().chain(flag).collect();
        let done = world.segue(&args);
        done.exits(0);
        assert!(world.steps().told().is_empty(), "{:?}", world.steps().told());
        assert_eq!(done.of("stage.reached").len(), 1, "{}", done.all());
    }
}

#[test]
fn readings_carry_a_forecast_from_the_tenth_call_of_a_session_on_and_a_replay_agrees() {
    let world = World::new(14, even());
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let seen = forecasts(&done);
    assert!(seen.len() >= 14 && seen[..10].iter().all(Value::is_null), "{seen:?}");
    let left: Vec<u64> = seen[10..].iter().map(|f| f["calls_left"]["middle"].as_u64().unwrap()).collect();
    assert!(left.iter().all(|n| (5..60).contains(n)) && left.is_sorted_by(|a, b| a >= b), "{left:?}");
    assert_eq!((&seen[11]["basis"], &seen[11]["repository_calls"]), (&"session".into(), &0.into()));
    world.segue(&["replay", &done.run()]).exits(0);
}

#[test]
fn what_a_repositorys_sessions_added_is_kept_and_used_from_200_calls_on() {
    let world = World::new(6, even());
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let kept = world.root().join(".local/state/segue/growth.json");
    let mut learned: Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
    let (_, entry) = learned["repositories"].as_object_mut().unwrap().iter_mut().next().unwrap();
    let calls = entry["growth"]["calls"].as_u64().unwrap();
    assert!(calls >= 6, "{entry}");
    assert!(forecasts(&done).iter().all(Value::is_null), "too few calls to go by");
    entry["growth"]["calls"] = json!(250);
    std::fs::write(&kept, learned.to_string()).unwrap();
    world.git(&["clean", "-fdq", "parts"]);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let first = &forecasts(&done)[0];
    assert_eq!((&first["basis"], &first["repository_calls"]), (&"repository".into(), &250.into()), "{first}");
    world.segue(&["replay", &done.run()]).exits(0);
}
