//! The same server without a socket or a thread: bytes in, bytes out. What a fault does to a connection is left out.

use std::io::{self, BufRead, Write};

use super::exchange::Desk;
use super::http;
use super::line::parts;
use super::script::ServerScript;

/// Answers every request of one connection, until the client's bytes end.
///
/// # Errors
/// What came is no HTTP, the answer cannot be written, or the truth log cannot be.
pub fn converse(script: ServerScript, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let mut desk = Desk::new(script, None, 0)?;
    while let Some(request) = http::read(input, output)? {
        let reply = desk.reply(&request, 0)?;
        output.write_all(&parts(&reply).concat())?;
        if !request.keeps_alive() {
            break;
        }
    }
    Ok(())
}
