//! Every target under libFuzzer; `SEGUE_FUZZ_TARGET` names the one to run. Built by `cargo xtask fuzz`.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use segue_fuzz::{Target, find};

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("SEGUE_FUZZ_TARGET").unwrap_or_default();
        find(&name).unwrap_or_else(|| panic!("SEGUE_FUZZ_TARGET={name:?} is no target"))
    });
    target.run(data);
});
