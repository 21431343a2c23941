//! The questions of `segue init`: each once, with a recommendation that Enter takes.

use std::io::{BufRead, Write};

use super::super::args::{Init, InitPermissions};
use super::super::failure::Failure;
use super::{Setup, gates, logins};

/// Whoever answers.
pub(super) struct Talk<R, W> {
    pub(super) input: R,
    pub(super) output: W,
}

impl<R: BufRead, W: Write> Talk<R, W> {
    /// Asks for what the flags leave open.
    pub(super) fn setup(
        &mut self,
        args: &Init,
        installed: &[String],
        mut setup: Setup,
    ) -> Result<Setup, Failure> {
        if args.agent.is_empty() && installed.len() > 1 {
            let known: Vec<String> =
                installed.iter().map(|name| format!("{name}{}", logins::words(name))).collect();
            self.say(&format!("Installed agents: {}", known.join(", ")))?;
            let typed = self.answer("Agents in order of preference", &setup.agents.join(","))?;
            let names: Vec<String> =
                typed.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
            if let Some(unknown) = names.iter().find(|name| !installed.contains(name)) {
                return Err(Failure::usage(format!("{unknown} is not one of {}", installed.join(", "))));
            }
            setup.agents = names;
        }
        if args.gate.is_empty() && !args.no_gate {
            let found: Vec<&str> = setup.gates.iter().map(|gate| gate.run.as_str()).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join("; ") };
            self.say("A gate is a command whose exit code decides whether the work is done.")?;
            let typed = self.answer("Gates (separate several with ;)", &found)?;
            if typed != found {
                let commands: Vec<String> = typed
                    .split(';')
                    .map(|c| c.trim().to_owned())
                    .filter(|c| !c.is_empty() && c != "none")
                    .collect();
                setup.gates = gates::named(&commands);
            }
        }
        if args.permissions.is_none() {
            self.say(
                "What agents may do without asking: edit = change files in this directory and run the gates;",
            )?;
            self.say("deny = what their own settings allow; bypass = everything.")?;
            setup.permissions = match self.answer("Permissions", InitPermissions::Edit.word())?.as_str() {
                "edit" => InitPermissions::Edit,
                "deny" => InitPermissions::Deny,
                "bypass" => InitPermissions::Bypass,
                other => return Err(Failure::usage(format!("{other} is not one of edit, deny, bypass"))),
            };
        }
        Ok(setup)
    }

    /// Asks for yes or no; Enter means no.
    pub(super) fn yes(&mut self, question: &str) -> Result<bool, Failure> {
        let answer = self.answer(question, "no")?.to_lowercase();
        Ok(answer == "y" || answer == "yes")
    }

    fn answer(&mut self, question: &str, recommended: &str) -> Result<String, Failure> {
        write!(self.output, "{question} [{recommended}]: ")?;
        self.output.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Err(Failure::usage("no answer, so nothing was written; `segue init --yes` does not ask"));
        }
        let typed = line.trim();
        Ok(if typed.is_empty() { recommended.to_owned() } else { typed.to_owned() })
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(self.output, "{text}")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(typed: &str) -> (Result<Setup, Failure>, String) {
        let installed = ["claude".to_owned(), "codex".to_owned()];
        let setup = Setup {
            agents: vec!["claude".to_owned()],
            gates: gates::named(&["cargo test".to_owned()]),
            permissions: InitPermissions::Edit,
        };
        let mut talk = Talk { input: typed.as_bytes(), output: Vec::new() };
        let done = talk.setup(&Init::default(), &installed, setup);
        (done, String::from_utf8(talk.output).unwrap())
    }

    #[test]
    fn enter_takes_what_is_recommended() {
        let (setup, shown) = talk("\n\n\n");
        let setup = setup.unwrap();
        assert_eq!((setup.agents, setup.permissions), (vec!["claude".to_owned()], InitPermissions::Edit));
        assert_eq!(setup.gates[0].run, "cargo test");
        assert_eq!(shown.matches("Permissions [edit]").count(), 1, "{shown}");
    }

    #[test]
    fn what_is_typed_counts_and_what_is_wrong_is_refused() {
        let setup = talk("codex, claude\nmake test; make lint\ndeny\n").0.unwrap();
        assert_eq!(setup.agents, ["codex", "claude"]);
        assert_eq!(
            setup.gates.iter().map(|g| g.run.as_str()).collect::<Vec<_>>(),
            ["make test", "make lint"]
        );
        assert_eq!(setup.permissions, InitPermissions::Deny);
        assert!(talk("\nnone\n\n").0.unwrap().gates.is_empty());
        assert!(talk("vim\n").0.is_err() && talk("\n\nall\n").0.is_err() && talk("\n").0.is_err());
    }
}
