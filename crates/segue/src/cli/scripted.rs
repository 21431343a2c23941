//! The stand-ins as processes of their own: the agent of the demo and the tests, and the model server for real agents.

use std::io::BufReader;
use std::path::Path;

use segue_rehearsal::agent::serve;
use segue_rehearsal::model_server::ModelServer;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use super::out;

/// Speaks ACP over the standard streams as the script says.
pub(super) fn agent(script: &Path) -> Result<u8, Failure> {
    let input = BufReader::new(std::io::stdin());
    Ok(serve(read(script)?, input, std::io::stdout(), &std::env::current_dir()?)?)
}

/// Serves models on loopback as the script says, until its input ends; the first line says where.
pub(super) fn model(script: &Path) -> Result<u8, Failure> {
    let server = ModelServer::start(read(script)?)?;
    out::line(&server.url());
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    server.stop();
    Ok(0)
}

fn read<T: DeserializeOwned>(script: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(script)?;
    serde_json::from_str(&text).map_err(|error| Failure::usage(format!("{}: {error}", script.display())))
}
