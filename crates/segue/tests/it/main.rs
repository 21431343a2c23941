//! The built program with the scripted agent, from end to end. One binary, so that it is linked once.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod allowing;
#[cfg(test)]
mod allowing_plans;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod beside_kill;
#[cfg(test)]
mod beside_life;
#[cfg(test)]
mod beside_merge;
#[cfg(test)]
mod blocked;
#[cfg(test)]
mod bridge;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod checkpoint_forms;
#[cfg(test)]
mod checkpoint_life;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod detached;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod endurance;
#[cfg(test)]
mod executed;
#[cfg(test)]
mod first_minutes;
#[cfg(test)]
mod forecast;
#[cfg(test)]
mod gate_changes;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod handoff;
#[cfg(test)]
mod helper;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod kill_more;
#[cfg(test)]
mod links;
#[cfg(test)]
mod long_runs;
#[cfg(test)]
mod loops;
#[cfg(test)]
mod meter;
#[cfg(test)]
mod notify;
#[cfg(test)]
mod on_terminal;
#[cfg(test)]
mod outer;
#[cfg(test)]
mod owner;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod plan_each_format;
#[cfg(test)]
mod plan_formats;
#[cfg(test)]
mod plan_found;
#[cfg(test)]
mod plan_handback;
#[cfg(test)]
mod plan_items;
#[cfg(test)]
mod plan_kill;
#[cfg(test)]
mod plan_life;
#[cfg(test)]
mod plan_open;
#[cfg(test)]
mod plan_prompts;
#[cfg(test)]
mod plan_run;
#[cfg(test)]
mod plan_split;
#[cfg(test)]
mod rehearse;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod secret_files;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod stall;
#[cfg(test)]
mod state;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trigger;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod waiting;
#[cfg(test)]
mod way_back;
#[cfg(test)]
mod weakened;
#[cfg(test)]
mod weakened_more;
mod weakened_third;
#[cfg(test)]
mod words;
#[cfg(test)]
mod work;
#[cfg(test)]
mod worker;
