//! `segue plan`: the built program on files and folders of its own repository.

use serde_json::Value;

use crate::support::{World, small};

const MASTER: &str = "# Shop - Master Plan\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n\
| 1 | [Goods](shop-phase-1.md) | Completed |\n| 6D | [Basket](shop-phase-6D.md) | Pending |\n";

const PHASE: &str = "# Shop Phase 6D: Basket\n\n**Depends On:** [Phase 1](shop-phase-1.md)\n\n## Gates\n\n\
- tests: all pass (command: `make test`)\n- coverage: no decrease\n\n## Tasks\n\n### 1. Model\n- [ ] 1.1: Add it\n- [ ] 1.2: Sum it\n";

fn world() -> World {
    let world = World::new(2, small());
    world.write("plans/MASTER.md", MASTER);
    world.write(
        "plans/shop-phase-1.md",
        &PHASE.replace("6D", "1").replace("[Phase 1](shop-phase-1.md)", "N/A"),
    );
    world.write("plans/shop-phase-6D.md", PHASE);
    world
}

fn json(world: &World, args: &[&str], code: i32) -> Value {
    let done = world.segue(args);
    done.exits(code);
    serde_json::from_str(done.out.trim()).unwrap_or_else(|error| panic!("{error}: {}", done.all()))
}

#[test]
fn p3_a_gate_without_a_command_fails_the_check_until_the_configuration_knows_it() {
    let world = world();
    let told = json(&world, &["plan", "check", "plans/MASTER.md", "--json"], 1);
    assert_eq!(told["counts"]["phases"], 2);
    assert_eq!((told["counts"]["tasks"].as_u64(), told["counts"]["gates"].as_u64()), (Some(4), Some(4)));
    let codes: Vec<&str> =
        told["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert_eq!(codes, ["gate-without-command", "gate-without-command"]);
    assert_eq!(
        (told["findings"][1]["file"].as_str(), told["findings"][1]["line"].as_u64()),
        (Some("plans/shop-phase-6D.md"), Some(8))
    );
    let words = world.segue(&["plan", "check", "plans"]);
    words.exits(1);
    assert!(words.out.contains("plans/shop-phase-6D.md:8: error [gate-without-command]"), "{}", words.all());
    let config = world.read("segue.toml");
    world.write("segue.toml", &format!("{config}\n[gates.coverage]\nmanual = true\n"));
    world.segue(&["plan", "check", "plans/MASTER.md"]).exits(0);
}

#[test]
fn p6_a_text_without_structure_fails_the_check_and_what_is_no_text_cannot_be_read() {
    let world = world();
    world.write("WORDS.md", "Make it faster.\n");
    let done = world.segue(&["plan", "check", "WORDS.md"]);
    done.exits(1);
    assert!(done.err.contains("### Task 1"), "{}", done.all());
    let told = json(&world, &["plan", "check", "WORDS.md", "--json"], 1);
    assert_eq!(told["findings"][0]["code"], "no-structure");
    std::fs::write(world.repo().join("BIN.md"), b"- [ ] \xff").unwrap();
    for bad in ["BIN.md", "NOPE.md"] {
        world.segue(&["plan", "check", bad]).exits(2);
    }
    world.write("segue.plan.toml", "[[phase]]\nid = \"1\"\nneds = []\n");
    let done = world.segue(&["plan", "check", "segue.plan.toml"]);
    done.exits(2);
    assert!(done.err.contains("segue.plan.toml:3"), "{}", done.all());
}

#[test]
fn a_plan_is_drawn_and_estimated() {
    let world = world();
    let drawn = world.segue(&["plan", "show", "plans/MASTER.md"]);
    drawn.exits(0);
    assert!(drawn.out.contains("● 1  Goods") && drawn.out.contains("● 6D  Basket"), "{}", drawn.all());
    let told = json(&world, &["plan", "estimate", "plans/MASTER.md", "--window", "15k", "--json"], 0);
    let estimate = &told["estimate"];
    assert_eq!(estimate["budget"], 15_000);
    assert_eq!(estimate["phases"][1]["split"][0]["id"], "6Da");
    assert!(estimate["warnings"].as_array().is_some_and(|warnings| warnings.len() == 2), "{estimate}");
    world.segue(&["plan", "estimate", "plans/MASTER.md", "--window", "none"]).exits(2);
}
