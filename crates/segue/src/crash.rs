//! Where tests have this program kill itself, to see what survives that. A release build has no such places, unless it is
//! built with the feature `crash-hooks`.

/// What a test has set a place to; nothing where there are none.
pub(crate) fn hook(name: &str) -> Option<String> {
    if cfg!(any(debug_assertions, feature = "crash-hooks")) { std::env::var(name).ok() } else { None }
}

/// Dies as `kill -9` would have it.
pub(crate) fn die() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}
