//! Keeps coding agents working past their context window: this is the program, and it only starts.

mod anchor;
mod bridge;
mod budget;
mod checkpoint;
mod child_env;
mod clean;
mod cli;
mod clock;
mod config;
mod crash;
mod driver;
mod foot;
mod gates;
mod git;
mod history;
mod keep;
mod learned;
mod notify;
mod permissions;
mod places;
mod plan;
mod private;
mod process;
mod prompt;
mod run_state;
mod secret_store;
mod snapshots;
mod state;
mod store;
mod trace;
mod trust;
mod watch;

fn main() -> std::process::ExitCode {
    cli::main()
}
