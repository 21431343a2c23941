//! The configuration of segue in layers: defaults, preset, user file, project file, environment, flags.
//!
//! [`Layers`] reads and merges them and remembers where each value came from; [`resolve`] turns them into
//! [`Settings`] that a run can use; [`show`] lists them for a person. Only [`Layers::load`] touches the disk.

pub(crate) mod builtin;
pub(crate) mod key;
pub(crate) mod layers;
pub(crate) mod origin;
pub(crate) mod other_tools;
pub(crate) mod problem;
pub(crate) mod settings;
pub(crate) mod value;

mod agents;
mod budget;
mod defaults;
mod env;
mod file;
mod flags;
mod lists;
mod notify;
mod paths;
mod policy;
mod read;
mod resolve;
mod scalar;
mod show;

#[cfg(test)]
mod config_tests;
#[cfg(test)]
mod file_tests;

pub(crate) use budget::{configured_prices as prices, day as day_limits};
pub(crate) use builtin::KNOWN as KNOWN_AGENTS;
pub(crate) use flags::{Flags, configured_gates};
pub(crate) use key::{KEYS, nearest};
pub(crate) use layers::Layers;
pub(crate) use notify::configured as notify_settings;
pub(crate) use paths::path_fault;
pub(crate) use problem::ConfigErrors;
pub(crate) use read::expected;
pub(crate) use resolve::{forms, redaction, resolve, retention, trees_dir};
pub(crate) use scalar::millis as duration_ms;
pub(crate) use settings::{
    AgentKind, AgentSettings, BudgetSettings, Forms, PromptBy, RedactSettings, Retention, Settings,
};
pub(crate) use show::{defaults, show, to_json};
pub(crate) use value::Permissions;
