//! `segue init`: from what is installed and what the repository looks like to a short `segue.toml`.

mod ask;
mod file;
mod gates;
mod logins;

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::path::Path;

use super::args::{Init, InitPermissions, Rehearse};
use super::failure::Failure;
use super::open::Place;
use super::{agents, doctor, out, rehearse, trust};
use crate::config::builtin;
use crate::git::Repo;

/// What the file will say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setup {
    agents: Vec<String>,
    gates: Vec<gates::Gate>,
    permissions: InitPermissions,
}

/// Writes `segue.toml`, or prints it.
pub(super) fn init(at: &Place, args: &Init) -> Result<u8, Failure> {
    let root = at.store().root().to_owned();
    let path = root.join("segue.toml");
    if path.exists() && !args.print {
        return Err(Failure::usage(format!(
            "{} already exists and was not changed; `segue init --print` shows what would be written",
            path.display()
        )));
    }
    let installed = agents::choices();
    let asks = !args.yes && !args.print && !at.json;
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let recommended = recommended(args, &installed, &root)?;
    let (setup, rehearses) = if asks && terminal {
        let mut talk = ask::Talk { input: std::io::stdin().lock(), output: std::io::stdout() };
        let setup = talk.setup(args, &installed, recommended)?;
        let rehearses =
            args.rehearse || talk.yes("Rehearse now (your agent, a scripted model, no tokens spent)?")?;
        (setup, rehearses)
    } else {
        (recommended, args.rehearse)
    };
    let text = file::text(&setup);
    if args.print {
        out::bytes(text.as_bytes());
        return Ok(0);
    }
    let made = OpenOptions::new().write(true).create_new(true).open(&path);
    made.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    trust::allow_written(at)?;
    tell(at, &path, &setup, rehearses);
    if rehearses { rehearse::rehearse(at, &Rehearse::of_init()) } else { Ok(0) }
}

// What the flags say, and for the rest what is best here.
fn recommended(args: &Init, installed: &[String], root: &Path) -> Result<Setup, Failure> {
    if let Some(unknown) = args.agent.iter().find(|name| builtin::find(name).is_none()) {
        return Err(Failure::usage(format!(
            "unknown agent {unknown:?}; segue knows {}. docs/agents.md shows how to define another one in segue.toml",
            builtin::names()
        )));
    }
    let agents = if args.agent.is_empty() { logins::first(installed) } else { args.agent.clone() };
    if agents.is_empty() {
        return Err(Failure::usage(
            "no known agent is installed; `segue agents` shows how to get one, `segue demo` needs none",
        ));
    }
    let gates = if args.no_gate {
        Vec::new()
    } else if args.gate.is_empty() {
        gates::found(root)
    } else {
        gates::named(&args.gate)
    };
    Ok(Setup { agents, gates, permissions: args.permissions.unwrap_or_default() })
}

fn tell(at: &Place, path: &Path, setup: &Setup, rehearses: bool) {
    let git = Repo::find(&at.dir).is_ok();
    if at.json {
        let gates: Vec<_> =
            setup.gates.iter().map(|g| serde_json::json!({ "name": g.name, "run": g.run })).collect();
        let doc = serde_json::json!({
            "file": path, "agents": setup.agents, "gates": gates, "permissions": setup.permissions.word(),
            "repository": git,
        });
        return out::line(&doc.to_string());
    }
    let gates: Vec<&str> = setup.gates.iter().map(|gate| gate.run.as_str()).collect();
    out::line(&format!("wrote {}", path.display()));
    for name in &setup.agents {
        out::line(&format!("  agent        {name}{}", logins::words(name)));
    }
    out::line(&format!("  permissions  {}", setup.permissions.word()));
    doctor::permission_words(at).iter().for_each(|words| out::labelled("               ", words));
    out::line(&match gates.as_slice() {
        [] => "  gates        none: nothing verifies the work; add a [[gate]]".to_owned(),
        gates => format!("  gates        {}", gates.join(", ")),
    });
    agents::look_each(at, |look| {
        if look.configured
            && let Some(trouble) = look.trouble()
        {
            out::labelled("  BAD          ", &format!("{}: {trouble}", look.name));
        }
    });
    if !git {
        out::line("this directory is not a git repository: run `git init`, or add --no-git to `segue run`");
    }
    if !rehearses {
        out::labelled(
            "next: ",
            "`segue rehearse` tests this setup without spending tokens, `segue run \"your task\"` starts a run",
        );
    }
}
