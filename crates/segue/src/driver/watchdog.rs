//! The runtime of the driver's loop, and in debug builds somebody who watches that the loop never waits for the outside.
//!
//! See `docs/design/0010-nothing-outside-holds-up-the-loop.md` for what is measured, and why not simply the time.

use std::time::Duration;

use tokio::runtime::Builder;

/// How long what works beside the loop may take when the loop is over.
const REST: Duration = Duration::from_secs(1);

/// Drives this on this thread until it is over.
pub(crate) fn on_loop<F: Future>(what: impl FnOnce() -> F) -> std::io::Result<F::Output> {
    let mut builder = Builder::new_current_thread();
    builder.enable_all();
    #[cfg(all(debug_assertions, target_os = "linux"))]
    let watch = watching::Watch::begin(&mut builder);
    let runtime = builder.build()?;
    let outcome = runtime.block_on(async { what().await });
    #[cfg(all(debug_assertions, target_os = "linux"))]
    drop(watch);
    runtime.shutdown_timeout(REST);
    Ok(outcome)
}

/// Does something that has to wait and has to be done on this thread: starting a process.
pub(super) fn unwatched<T>(what: impl FnOnce() -> T) -> T {
    #[cfg(all(debug_assertions, target_os = "linux"))]
    let _pause = watching::Pause::begin();
    what()
}

#[cfg(all(debug_assertions, target_os = "linux"))]
mod watching {
    use std::io::Write;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use tokio::runtime::Builder;

    /// How long the loop may sleep in one call.
    const MOST: Duration = Duration::from_millis(100);

    /// The same where it waits for another thread or for a page of a file: on a busy machine that takes as long as it
    /// takes for somebody else to be given a processor or a disk.
    const MOST_OF_OURS: Duration = Duration::from_secs(2);

    /// How often it is looked at.
    const LOOK: Duration = Duration::from_millis(20);

    /// Whether the loop is at work; it may sleep where it waits for news, and nowhere else.
    static AT_WORK: AtomicBool = AtomicBool::new(false);

    /// Watches this thread until it is dropped.
    pub(super) struct Watch(Arc<AtomicBool>);

    impl Watch {
        pub(super) fn begin(builder: &mut Builder) -> Self {
            set(true);
            builder.on_thread_park(|| set(false)).on_thread_unpark(|| set(true));
            let over = Arc::new(AtomicBool::new(false));
            let until = over.clone();
            if let Ok(thread) = std::fs::read_link("/proc/thread-self") {
                let thread = Path::new("/proc").join(thread);
                let name = "segue-watchdog".to_owned();
                let _ = std::thread::Builder::new().name(name).spawn(move || look_on(&thread, &until));
            }
            Self(over)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            set(false);
            self.0.store(true, Ordering::Release);
        }
    }

    /// Looks away until it is dropped.
    pub(super) struct Pause(bool);

    impl Pause {
        pub(super) fn begin() -> Self {
            Self(AT_WORK.swap(false, Ordering::AcqRel))
        }
    }

    impl Drop for Pause {
        fn drop(&mut self) {
            set(self.0);
        }
    }

    fn set(at_work: bool) {
        AT_WORK.store(at_work, Ordering::Release);
    }

    fn look_on(thread: &Path, over: &AtomicBool) {
        let mut asleep: Option<(u64, Instant)> = None;
        while !over.load(Ordering::Acquire) {
            std::thread::sleep(LOOK);
            // The order matters: a thread that began to wait for news between the two is not at work any more.
            let sleep = Sleep::of(thread);
            let sleep = sleep.filter(|_| AT_WORK.load(Ordering::Acquire));
            let Some(sleep) = sleep else {
                asleep = None;
                continue;
            };
            // It has gone to sleep as often as at the last look: it has not woken since.
            let same = asleep.filter(|(times, _)| *times == sleep.times);
            let (_, since) = *asleep.insert(same.unwrap_or((sleep.times, Instant::now())));
            let most = if sleep.ours { MOST_OF_OURS } else { MOST };
            if since.elapsed() > most {
                give_up(thread, since.elapsed());
            }
        }
    }

    fn give_up(thread: &Path, slept: Duration) {
        let read = |name: &str| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
        let (stack, call) = (read("wchan"), read("syscall"));
        // Standard error may be what the loop waits for.
        let _ = std::thread::spawn(move || {
            let ms = slept.as_millis();
            let mut err = std::io::stderr().lock();
            let _ =
                writeln!(err, "segue: watchdog: the loop has slept for {ms} ms in {stack} ({})", call.trim());
        });
        std::thread::sleep(MOST);
        std::process::abort();
    }

    /// A thread that sleeps.
    struct Sleep {
        /// How often it went to sleep so far.
        times: u64,
        /// For something of segue's own, or for the disk.
        ours: bool,
    }

    impl Sleep {
        fn of(thread: &Path) -> Option<Self> {
            let status = std::fs::read_to_string(thread.join("status")).ok()?;
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.split_whitespace().next().map(str::to_owned)
            };
            let state = field("State:").filter(|state| state == "S" || state == "D")?;
            let times = field("voluntary_ctxt_switches:")?.parse().ok()?;
            let place = std::fs::read_to_string(thread.join("wchan")).unwrap_or_default();
            Some(Self { times, ours: state == "D" || place.starts_with("futex") })
        }
    }
}

#[cfg(test)]
#[cfg(all(debug_assertions, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    const SLEEPER: &str = "SEGUE_TEST_SLEEPER";

    /// This test in a process of its own, with a loop that does `what`.
    fn outcome(what: &str) -> Option<i32> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "driver::watchdog::tests::a_loop_that_sleeps_on_something_outside_is_ended";
        command.args(["--exact", name]).env(SLEEPER, what);
        command.output().unwrap().status.signal()
    }

    #[test]
    fn a_loop_that_sleeps_on_something_outside_is_ended() {
        let sleep = || std::thread::sleep(Duration::from_millis(1_500));
        match std::env::var(SLEEPER).as_deref() {
            Ok("outside") => on_loop(|| async { sleep() }).unwrap(),
            Ok("in the runtime") => on_loop(|| tokio::time::sleep(Duration::from_millis(1_500))).unwrap(),
            Ok("unwatched") => on_loop(|| async { unwatched(sleep) }).unwrap(),
            Ok(_) => {
                on_loop(|| async {}).unwrap();
                sleep();
            }
            Err(_) => {
                assert_eq!(outcome("outside"), Some(6));
                for fine in ["in the runtime", "unwatched", "after the loop"] {
                    assert_eq!(outcome(fine), None, "{fine}");
                }
            }
        }
    }
}
