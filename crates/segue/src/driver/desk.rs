//! What is kept beside the journal (the user's state folder, copies of messages), on a thread of its own: a lock that
//! somebody else holds there, or a slow disk, holds up nobody.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tokio::sync::oneshot;

/// How many orders may wait; all of it is help for others, so what does not fit is left out.
const MOST: usize = 1_024;

type Order = Box<dyn FnOnce() + Send>;

/// The thread's inbox.
#[derive(Debug, Clone)]
pub(super) struct Desk(SyncSender<Order>);

impl Desk {
    /// Starts the thread.
    pub(super) fn open() -> std::io::Result<Self> {
        let (desk, orders) = sync_channel::<Order>(MOST);
        std::thread::Builder::new().name("segue-state".to_owned()).spawn(move || {
            while let Ok(order) = orders.recv() {
                order();
            }
        })?;
        Ok(Self(desk))
    }

    /// Does this after everything that was ordered before; says whether there was room.
    pub(super) fn order(&self, order: impl FnOnce() + Send + 'static) -> bool {
        !matches!(
            self.0.try_send(Box::new(order)),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_))
        )
    }

    /// Waits until everything is done that was ordered, but no longer than this.
    pub(super) async fn close(&self, patience: Duration) {
        let (done, all) = oneshot::channel::<()>();
        if self.order(move || drop(done)) {
            let _ = tokio::time::timeout(patience, all).await;
        }
    }

    /// The same for a thread that may wait.
    pub(super) fn catch_up(&self, patience: Duration) {
        let (done, all) = sync_channel::<()>(1);
        if self.order(move || drop(done)) {
            let _ = all.recv_timeout(patience);
        }
    }
}
