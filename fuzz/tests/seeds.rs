//! Every target with the inputs that the runs begin with, those that once broke something, and a few changed ones.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod tests {
    use segue_fuzz::{TARGETS, corpus, plain};

    #[test]
    fn every_target_has_seeds_and_holds_for_them_and_for_changed_ones() {
        for target in TARGETS {
            assert!(!corpus::seeds(target).unwrap().is_empty(), "{} has nothing to begin with", target.name);
            plain::run(target, 200, 1).unwrap_or_else(|broken| panic!("{}: {broken}", target.name));
        }
    }

    #[test]
    fn whatever_once_broke_a_target_is_kept_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(TARGETS.iter().any(|target| target.name == name), "no target is called {name}");
        }
        for target in TARGETS {
            corpus::regressions(target).unwrap().iter().for_each(|(_, data)| target.run(data));
        }
    }

    #[test]
    fn a_check_that_breaks_is_noticed_with_its_input_and_the_same_one_each_time() {
        let seeds = [br#"{"tokens":12,"text":"aaaa"}"#.to_vec()];
        let check = |data: &[u8]| assert!(!data.windows(4).any(|word| word == b"-1,\""));
        let found = || match plain::search(&seeds, 100_000, 1, &check) {
            Err(plain::Broken::Input(data)) => data,
            other => panic!("nothing was found: {other:?}"),
        };
        let first = found();
        assert!(first.windows(4).any(|word| word == b"-1,\""));
        assert_eq!(found(), first);
    }
}
