//! The one key that a run listens to: Enter, while it waits, on a terminal that belongs to it.
//!
//! A process in the background must not read from its terminal: the system would stop it. And what was typed before the
//! wait began was not meant for it.

use std::io::{IsTerminal, Read, stdin};
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

/// How often the terminal is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The terminal that commands come from.
#[derive(Debug, Default)]
pub(super) struct Keyboard {
    listens: bool,
}

impl Keyboard {
    /// Begins or ends listening.
    pub(super) fn listen(&mut self, wanted: bool) {
        if wanted && !self.listens && is_ours() {
            let _ = tcflush(stdin(), QueueSelector::IFlush);
        }
        self.listens = wanted;
    }

    /// Waits for Enter; for ever where there is nothing to listen to. Safe to drop and call again.
    pub(super) async fn enter(&self) {
        if !self.listens || !stdin().is_terminal() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(LOOK).await;
            let mut typed = [0_u8; 256];
            let waits = is_ours() && ioctl_fionread(stdin()).is_ok_and(|bytes| bytes > 0);
            if waits && stdin().lock().read(&mut typed).is_ok_and(|n| typed[..n].contains(&b'\n')) {
                return;
            }
        }
    }
}

fn is_ours() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|front| front == getpgrp())
}
