//! The scripted agent as a process of its own, for the demo and the tests.

use std::io::BufReader;
use std::path::Path;

use segue_rehearsal::agent::serve;
use segue_rehearsal::script::Script;

use super::failure::Failure;

/// Speaks ACP over the standard streams as the script says.
pub(super) fn scripted(script: &Path) -> Result<u8, Failure> {
    let text = std::fs::read_to_string(script)?;
    let script: Script = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}: {error}", script.display())))?;
    let input = BufReader::new(std::io::stdin());
    Ok(serve(script, input, std::io::stdout(), &std::env::current_dir()?)?)
}
