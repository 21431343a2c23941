//! The text of `segue.toml` that `segue init` writes: short, and each part with the sentence that explains it.

use super::Setup;

/// The file.
pub(super) fn text(setup: &Setup) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let agents: Vec<String> = setup.agents.iter().map(|name| quoted(name)).collect();
    let mut text = format!(
        "# Settings of segue for this repository. `segue config keys` explains every key.\n\n\
         # Agents in order of preference. When one fails or is rate limited, the next one continues.\n\
         agents = [{}]\n\n\
         # When the context is nearly full: auto continues in a fresh session at a good moment.\n\
         policy = \"auto\"\n",
        agents.join(", ")
    );
    text.push_str(
        "\n# What an agent may do without asking: deny, edit (change files here, run the gates), or bypass (everything).\n",
    );
    for name in &setup.agents {
        let permissions = setup.permissions.word();
        text.push_str(&format!("[agent.{name}]\npermissions = \"{permissions}\"\n\n"));
    }
    text.push_str("# A gate is a command whose exit code decides whether the work is done.\n");
    if setup.gates.is_empty() {
        text.push_str("# [[gate]]\n# name = \"tests\"\n# run = \"make test\"\n");
    }
    for gate in &setup.gates {
        text.push_str(&format!("[[gate]]\nname = {}\nrun = {}\n", quoted(&gate.name), quoted(&gate.run)));
    }
    text
}
