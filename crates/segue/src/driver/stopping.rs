//! Signals, and the end of a run that nothing outside can put off.

use std::time::{Duration, Instant};

use segue_machine::{Event, StopHow};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::child::News;
use super::{Driver, DriverError, Input};
use crate::process;

/// How long a run may take to end in good order after it was asked twice.
const LONGEST: Duration = Duration::from_secs(3);

/// How long killed processes may take to be gone.
const GONE: Duration = Duration::from_millis(500);

/// How long the last snapshot may take.
const SNAPSHOT: Duration = Duration::from_secs(3);

/// How long a reader that takes nothing is waited for when the run was asked to stop.
const READER: Duration = Duration::from_secs(2);

/// How long the last words of a run may take that was asked to stop twice.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How long the user's state folder is waited for at the end of a run.
const STATE: Duration = Duration::from_secs(6);

/// The signals that ask a run to stop.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, DriverError> {
        let listen = |kind| signal(kind).map_err(|source| DriverError::System { what: "signals", source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// The next of them. Safe to drop and call again.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// How often a run was asked to stop.
#[derive(Debug, Default)]
pub(super) struct Asked {
    times: u32,
    /// When it ends, whatever is still on its way.
    by: Option<Instant>,
}

impl Asked {
    fn again(&mut self) {
        self.times += 1;
        if self.times == 2 {
            self.by = Some(Instant::now() + LONGEST);
        }
    }

    /// Whether nobody wants to wait for a checkpoint.
    pub(super) fn is_at_once(&self) -> bool {
        self.times > 1
    }

    /// Waits for the moment at which nothing is waited for any more; for ever before a run was asked twice.
    pub(super) async fn last_moment(&self) {
        match self.by {
            Some(by) => tokio::time::sleep_until(by.into()).await,
            None => std::future::pending().await,
        }
    }
}

impl Driver {
    pub(super) fn stop_asked(&mut self) {
        self.asked.again();
        if self.asked.is_at_once() {
            self.face.note("stopping at once, without a checkpoint; the files are saved as a snapshot");
        } else if self.machine.view().session.is_some() {
            let spec = self.machine.view().spec.as_deref();
            let most = spec.map_or(0, |spec| spec.limits.ask_timeout_ms / 1_000);
            let text = format!(
                "stopping: the agent is writing a checkpoint (at most {most} s); press Ctrl-C again to stop at once. \
                 The files are saved in any case; `segue resume` continues"
            );
            self.face.note(&text);
            self.face.stops_within(Duration::from_secs(most));
            self.tick();
        }
        self.queue.push_back(Event::StopAsked { how: StopHow::Gently });
    }

    /// Ends everything that the run started, for a run that can no longer note what it does.
    pub(super) async fn abandon(&mut self, patience: Duration) {
        let Some(live) = self.live.take() else { return };
        live.kill();
        let gone = async {
            while let Some(input) = self.inbox.recv().await {
                if let Input::Agent(_, News::Gone { .. }) = input {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(patience, gone).await;
    }

    /// The end of a run that was asked twice and could not end in good order.
    pub(super) async fn end_at_once(&mut self, error: &DriverError) {
        self.note(&error.to_string());
        self.abandon(GONE).await;
        let _ = tokio::time::timeout(SNAPSHOT, self.save_last()).await;
        if let Some(gates) = self.gates.take() {
            gates.abort();
        }
        let mark = format!("{}={}", process::RUN_MARK, self.place.run);
        let sweep = tokio::task::spawn_blocking(move || process::sweep_marked(&mark, Duration::ZERO));
        let _ = tokio::time::timeout(GONE, sweep).await;
        self.socket.close();
    }

    /// Waits for what is still to be written, and to be read by whoever reads along: only a signal ends that wait early.
    pub(super) async fn say_the_rest(&mut self, signals: &mut Signals) {
        self.inbox.close();
        self.write_day_for_good();
        let patience = (self.asked.times > 0).then_some(READER);
        let (book, desk, face, asked) = (&mut self.book, &self.desk, &self.face, &self.asked);
        let rest = async {
            desk.close(STATE).await;
            let ((), ()) = tokio::join!(face.close(patience), book.close());
        };
        tokio::select! {
            () = rest => {}
            () = signals.next() => {}
            () = async {
                asked.last_moment().await;
                tokio::time::sleep(LAST_WORDS).await;
            } => {}
        }
    }
}
