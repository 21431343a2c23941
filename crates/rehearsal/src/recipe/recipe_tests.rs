use serde_json::Value;

use super::*;

const URL: &str = "http://127.0.0.1:4711";

fn of(agent: &str) -> Recipe {
    let setup = Setup { url: URL.to_owned(), window: 61_000, output: 4_000, patience_ms: 9_000 };
    recipe(agent, &setup).unwrap()
}

fn whole(recipe: &Recipe) -> String {
    format!("{:?} {:?} {:?}", recipe.env, recipe.args, recipe.files)
}

#[test]
fn every_agent_is_led_to_the_server_and_told_the_window_where_it_takes_one() {
    for agent in AGENTS {
        let recipe = of(agent);
        assert!(whole(&recipe).contains(URL), "{agent}");
        assert!(recipe.model.is_some(), "{agent}");
        assert_eq!(whole(&recipe).contains("61000"), agent != "gemini", "{agent}");
    }
    let setup = Setup { url: URL.to_owned(), window: 1, output: 1, patience_ms: 1 };
    assert_eq!(recipe("somebody-else", &setup), None);
}

#[test]
fn no_variable_that_may_hold_a_real_key_keeps_its_value_and_none_is_set_twice() {
    for agent in AGENTS {
        let recipe = of(agent);
        for name in SECRETS {
            let values: Vec<&str> =
                recipe.env.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect();
            assert!(values == [""] || values == [KEY], "{agent} {name}: {values:?}");
        }
        let mut names: Vec<&String> = recipe.env.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), recipe.env.len(), "{agent}");
    }
}

#[test]
fn files_are_json_and_lie_in_the_work_tree() {
    for agent in AGENTS {
        for (path, text) in of(agent).files {
            assert!(!path.starts_with('/') && !path.contains(".."), "{agent} {path}");
            assert!(serde_json::from_str::<Value>(&text).unwrap().is_object(), "{agent} {path}");
        }
    }
    let config =
        of("opencode").env.into_iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap().1;
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["provider"]["rehearsal"]["models"]["scripted"]["limit"]["context"], 61_000);
}

#[test]
fn what_claude_code_finds_in_the_work_tree_says_the_same_as_its_environment() {
    let recipe = of("claude");
    let settings: Value = serde_json::from_str(&recipe.files[0].1).unwrap();
    for (name, value) in &recipe.env {
        assert_eq!(settings["env"][name], value.as_str(), "{name}");
    }
}

#[test]
fn each_override_of_codex_stands_behind_its_own_flag() {
    let args = of("codex").args;
    assert!(args.len() >= 10 && args.len().is_multiple_of(2));
    assert!(args.chunks(2).all(|pair| pair[0] == "-c" && pair[1].contains('=')), "{args:?}");
}
