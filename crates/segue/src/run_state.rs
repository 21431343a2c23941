//! The machine of a run as it is stored between its events, so that nobody has to read a long run from its beginning.
//!
//! A state is used only where the version fits, and where the chain from it on proves that it is the one that segue stored;
//! otherwise the events are folded. So a state that was tampered with changes nothing but the time that this takes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use segue_journal::{Integrity, Link, Reader, StoredState, WantedState};
use segue_machine::{Millis, Run};
use segue_report::OuterStream;
use serde::{Deserialize, Serialize};

/// Changes with the sources of what is stored: what it looks like, and what it means.
pub(crate) const VERSION: &str = env!("SEGUE_STATE_VERSION");

/// The most that a state may unfold to.
const MOST: u64 = 512 << 20;

/// A run between two events: its machine, and the stream of its outer lines.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunState {
    pub(crate) machine: Run,
    pub(crate) stream: OuterStream,
}

/// A state as it is stored, and how large it is when it is not.
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) unpacked: usize,
}

impl RunState {
    /// The state of a run before its first event.
    pub(crate) fn new(run: &str) -> Self {
        Self { machine: Run::default(), stream: OuterStream::new(run) }
    }

    /// As it is stored.
    pub(crate) fn pack(&self) -> io::Result<Packed> {
        let text = serde_json::to_vec(self)?;
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&text)?;
        Ok(Packed { bytes: packer.finish()?, unpacked: text.len() })
    }

    /// As it was stored.
    pub(crate) fn unpack(bytes: &[u8]) -> io::Result<Self> {
        let mut text = Vec::new();
        ZlibDecoder::new(bytes).take(MOST).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// The newest state before a time that is proven by the link which was put down elsewhere; without such a link it is at
/// least of one piece with the events that follow it.
pub(crate) fn proven(
    reader: &Reader,
    run: &str,
    link: Option<&Link>,
    before: Millis,
) -> segue_journal::Result<Option<StoredState>> {
    let wanted = WantedState { version: VERSION, upto: link.map_or(u64::MAX, |link| link.seq), before };
    let Some(state) = reader.state(run, &wanted)? else { return Ok(None) };
    let found = reader.verify_from(run, &state, link)?;
    if let Integrity::Broken { seq, what } = &found {
        log::warn!("run {run}: the state after event {} is not used: event {seq}: {what}", state.seq);
    }
    Ok(matches!(found, Integrity::Whole(_)).then_some(state))
}
