//! `cargo xtask gen`: schemas and references made from the code, so that they cannot go stale unnoticed.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::{Outcome, shell};

/// Writes every generated file; with `check`, only says which of them are out of date.
pub(crate) fn generate(check: bool) -> Outcome {
    shell::run("cargo", &["build", "--quiet", "--package", "segue"])?;
    let files = [
        ("docs/schema/events.json", pretty(&segue_report::schema())),
        ("docs/schema/status.json", pretty(&segue_report::status_schema())),
        ("docs/schema/checkpoint.json", checkpoint_schema()?),
        ("docs/schema/plan.json", pretty(segue_plans::plan_schema().as_value())),
        ("docs/schema/phase-report.json", pretty(segue_plans::report::schema().as_value())),
        ("docs/reference/commands.md", commands()?),
        ("docs/reference/configuration.md", configuration()?),
    ];
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = shell::root().join(name);
        if std::fs::read_to_string(&path).unwrap_or_default() == text {
            continue;
        }
        if check {
            stale.push(name);
            continue;
        }
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(&path, text)?;
        shell::say(&format!("wrote {name}"));
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("out of date, run `cargo xtask gen`: {}", stale.join(", ")).into())
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

fn checkpoint_schema() -> Result<String, Box<dyn std::error::Error>> {
    let text = shell::read(&program().to_string_lossy(), &["checkpoint", "schema"])?;
    Ok(pretty(&serde_json::from_str(&text)?))
}

fn program() -> PathBuf {
    shell::target().join("debug").join("segue")
}

fn help(words: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let args: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
    shell::read(&program().to_string_lossy(), &args)
}

fn commands() -> Result<String, Box<dyn std::error::Error>> {
    let top = help(&[])?;
    let mut text = format!(
        "# Commands\n\nMade by `cargo xtask gen` from the program itself.\n\n```\n{}\n```\n",
        top.trim_end()
    );
    for name in listed(&top) {
        let own = help(&[&name])?;
        write!(text, "\n## segue {name}\n\n```\n{}\n```\n", own.trim_end())?;
        for verb in listed(&own) {
            write!(text, "\n### segue {name} {verb}\n\n```\n{}\n```\n", help(&[&name, &verb])?.trim_end())?;
        }
    }
    Ok(text)
}

/// The commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let lines =
        help.lines().skip_while(|l| !l.starts_with("Commands:")).skip(1).take_while(|l| !l.is_empty());
    // A name is indented by two, what is said about it further.
    let names = lines.filter(|l| l.starts_with("  ") && !l.starts_with("   "));
    names.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").map(str::to_owned).collect()
}

fn configuration() -> Result<String, Box<dyn std::error::Error>> {
    let keys = shell::read(&program().to_string_lossy(), &["config", "keys", "--json"])?;
    let mut text = String::from(
        "# Configuration\n\nMade by `cargo xtask gen` from the program itself.\n\n\
         Values come, each beating the one before, from the preset, the user's `segue/segue.toml` in the configuration\n\
         folder, the project's `segue.toml`, `SEGUE_*` variables, and flags. `segue config show` says which is in force\n\
         and why. `*` stands for a name of your own.\n\n| key | meaning | environment |\n|---|---|---|\n",
    );
    for line in keys.lines() {
        let key: Value = serde_json::from_str(line)?;
        let env: Vec<&str> = key["env"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let word = |name: &str| key[name].as_str().unwrap_or_default().replace('|', "\\|");
        writeln!(text, "| `{}` | {} | {} |", word("key"), word("about"), env.join(" "))?;
    }
    Ok(text)
}
