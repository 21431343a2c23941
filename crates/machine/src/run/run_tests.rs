//! The machine's behaviours, each as a short scene: what an agent does, and what the machine makes of it.

#[path = "run_tests/scenario.rs"]
mod scenario;

#[path = "run_tests/auto.rs"]
mod auto;
#[path = "run_tests/brake.rs"]
mod brake;
#[path = "run_tests/budget.rs"]
mod budget;
#[path = "run_tests/checkpoint.rs"]
mod checkpoint;
#[path = "run_tests/claims.rs"]
mod claims;
#[path = "run_tests/continuing.rs"]
mod continuing;
#[path = "run_tests/economy.rs"]
mod economy;
#[path = "run_tests/ends.rs"]
mod ends;
#[path = "run_tests/gates.rs"]
mod gates;
#[path = "run_tests/helper.rs"]
mod helper;
#[path = "run_tests/meter.rs"]
mod meter;
#[path = "run_tests/next.rs"]
mod next;
#[path = "run_tests/resume.rs"]
mod resume;
#[path = "run_tests/saving.rs"]
mod saving;
#[path = "run_tests/side.rs"]
mod side;
#[path = "run_tests/stall.rs"]
mod stall;
#[path = "run_tests/stated.rs"]
mod stated;
#[path = "run_tests/trigger.rs"]
mod trigger;
#[path = "run_tests/waiting.rs"]
mod waiting;
