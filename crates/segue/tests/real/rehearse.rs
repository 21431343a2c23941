//! `segue rehearse` with real CLIs: the verdict is true, real keys stay away from the server, and a fault is survived.

use segue_rehearsal::model_server::ServerScript;
use serde_json::Value;

use crate::inside::{inside, say};
use crate::support::{Done, World};

fn rehearse(agent: &str, window: &str, more: &[&str]) -> (World, Done, Value) {
    let mut world = World::of(&[(agent, 90_000)], 1, ServerScript::default());
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "OPENAI_API_KEY"] {
        world.set_env(name, "a-real-key");
    }
    let args = ["rehearse", "--agent", agent, "--window", window, "--steps", "8", "--json"];
    let done = world.segue(&[&args[..], &["--permissions", "bypass"], more].concat());
    let verdict = done.of("rehearsal.finished").pop().unwrap_or_else(|| panic!("{}", done.all()));
    say(&format!("rehearsal of {agent} {more:?}: {verdict}"));
    assert!(world.truth().is_empty(), "it talked to the server of the configuration: {}", done.all());
    (world, done, verdict)
}

#[track_caller]
fn works(done: &Done, verdict: &Value) {
    assert_eq!((done.code, &verdict["works"]), (Some(0), &true.into()), "{}", done.all());
    let (steps, keys) = (&verdict["steps"], &verdict["other_keys"]);
    assert_eq!((&steps["done"], keys), (&8.into(), &0.into()), "{}", done.all());
    assert!(!verdict["handoffs"].as_array().unwrap().is_empty(), "{}", done.all());
    assert_eq!(verdict["gauge"]["source"], "exact");
    assert!(verdict["gauge"]["worst"].as_f64().unwrap() <= 0.01, "{verdict}");
}

#[test]
fn rehearsal_of_claude_is_true_and_a_refused_key_stops_it_until_it_is_mended() {
    inside(240, || {
        let (world, done, verdict) = rehearse("claude", "90k", &[]);
        works(&done, &verdict);
        world.assert_nothing_left(&done);
        let (_, done, verdict) = rehearse("claude", "90k", &["--fault", "401"]);
        works(&done, &verdict);
        let ends = verdict["ends"].as_array().unwrap();
        assert_eq!((&ends[0]["verdict"], &ends[1]["verdict"]), (&"needs_input".into(), &"verified".into()));
        assert_eq!(verdict["fault"]["taken_for"][0], "unauthorised");
    });
}

#[test]
fn rehearsal_of_gemini_is_true() {
    inside(240, || {
        let (world, done, verdict) = rehearse("gemini", "60k", &[]);
        works(&done, &verdict);
        world.assert_nothing_left(&done);
    });
}
