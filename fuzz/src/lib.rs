//! Every decoder of segue as a function of bytes, with what must hold whatever the bytes are.
//!
//! [`TARGETS`] is the list; a new decoder is one line in it. What runs them is elsewhere: libFuzzer, the plain runner
//! of [`plain`], or a test that goes through the seeds.

pub mod corpus;
pub mod plain;

mod plans;
mod records;
mod seeds;
mod slow;
mod texts;
mod wire;

// The program's own reader, which is not part of a library.
#[expect(dead_code, reason = "the configuration only reads its rules")]
#[path = "../../crates/segue/src/child_env.rs"]
mod child_env;
#[expect(dead_code, unused_imports, reason = "only its reading of files is called here")]
#[path = "../../crates/segue/src/config/mod.rs"]
mod config;
#[path = "../../crates/segue/src/notify"]
mod notify {
    #[expect(dead_code, reason = "the configuration only makes it")]
    mod settings;

    pub(crate) use settings::{BodyFormat, Kind, NotifySettings, Url};
}
#[path = "../../crates/segue/src/store"]
mod store {
    #[expect(dead_code, reason = "the configuration only reads plain files")]
    pub(crate) mod safely;
}

use segue_agents::Adapter;
use segue_agents::acp::Acp;
use segue_agents::claude::{self, Claude};
use segue_agents::codex::{self, Codex, CodexExec};
use segue_agents::command::Command;
use segue_agents::gemini::{self, Gemini};
use segue_agents::opencode::{self, OpenCode};

/// One decoder.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    how: How,
    /// The agents whose recordings its seeds are made of.
    cassettes: &'static [&'static str],
    seeds: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
enum How {
    Adapter(fn() -> Box<dyn Adapter>),
    Bytes(fn(&[u8])),
}

impl Target {
    /// Gives the decoder these bytes.
    ///
    /// # Panics
    /// Something that must hold does not.
    pub fn run(&self, data: &[u8]) {
        match self.how {
            How::Adapter(make) => wire::check(make, data),
            How::Bytes(check) => check(data),
        }
    }
}

const fn adapter(
    name: &'static str,
    make: fn() -> Box<dyn Adapter>,
    cassettes: &'static [&'static str],
    seeds: &'static [&'static str],
) -> Target {
    Target { name, how: How::Adapter(make), cassettes, seeds }
}

const fn bytes(name: &'static str, check: fn(&[u8]), seeds: &'static [&'static str]) -> Target {
    Target { name, how: How::Bytes(check), cassettes: &[], seeds }
}

/// The agents that are recorded as they speak ACP.
const ACP: &[&str] = &["qwen", "codex-acp"];

/// Every decoder. In the bytes of an adapter, a line that begins with `~` is one of the file that is read along.
pub const TARGETS: &[Target] = &[
    adapter("acp", || Box::new(Acp::new("/w", None)), ACP, seeds::ACP),
    adapter("acp-load", || Box::new(Acp::new("/w", Some("old".to_owned()))), ACP, seeds::ACP),
    adapter("claude", || Box::new(Claude::new(claude_options())), &["claude"], &[]),
    adapter("codex", || Box::new(Codex::new(codex_options())), &["codex"], &[]),
    adapter("codex-exec", || Box::new(CodexExec::new(None, false)), &[], seeds::CODEX_EXEC),
    adapter("gemini", || Box::new(Gemini::new(gemini_options())), ACP, seeds::GEMINI),
    adapter("opencode", || Box::new(OpenCode::new(opencode_options(None))), &["opencode"], &[]),
    adapter("opencode-load", || Box::new(OpenCode::new(opencode_options(Some("old")))), &["opencode"], &[]),
    adapter("command", || Box::new(Command::default()), &["claude"], &[]),
    bytes("lines", texts::lines, seeds::TEXTS),
    bytes("classify", texts::classify, seeds::ERRORS),
    bytes("checkpoint", texts::checkpoint, seeds::ANSWERS),
    bytes("plan", texts::plan, seeds::PLANS),
    bytes("config", texts::config, seeds::CONFIGS),
    bytes("records", records::check, seeds::RECORDS),
    bytes("model-server", texts::model_server, seeds::REQUESTS),
    bytes("plans", plans::read, plans::SEEDS),
    bytes("phase-report", plans::report, plans::REPORTS),
    bytes("handoff", plans::handoff, plans::HANDOFFS),
    bytes("slow-redaction", slow::redact, slow::SEEDS),
];

/// The decoder of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn claude_options() -> claude::Options {
    claude::Options {
        conversation: "c1".to_owned(),
        resume: None,
        model: None,
        permission: claude::Permission::Ask,
        no_compaction: true,
        brake: Some("segue hook after-tool".to_owned()),
        archive: None,
    }
}

fn codex_options() -> codex::Options {
    codex::Options {
        cwd: "/work/tree".to_owned(),
        resume: None,
        model: None,
        bypass: false,
        edit: false,
        compaction_guard: Some("'/usr/bin/segue' hook before-compaction".to_owned()),
    }
}

fn gemini_options() -> gemini::Options {
    gemini::Options {
        cwd: "/w".to_owned(),
        model: None,
        bypass: false,
        brake: Some(gemini::Braked { home: "/w/home".to_owned(), settings: "{}".to_owned() }),
    }
}

fn opencode_options(resume: Option<&str>) -> opencode::Options {
    let resume = resume.map(str::to_owned);
    opencode::Options { resume, model: None, bypass: false, edit: false, no_compaction: true }
}
