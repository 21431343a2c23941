//! Which phases may be at work side by side: none is given a path that another one has claimed. Nothing is read here.
//!
//! A phase that does not say which files it changes may change any, so nothing runs beside it unless it says otherwise.
//! Parts of one phase were made to be done side by side: what they do not say stands only between them and other phases.

use segue_plans::Phase;

/// What a phase claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::plan) struct Claim {
    /// Paths, folders or patterns, from the top of the work tree.
    pub(in crate::plan) paths: Vec<String>,
    /// Everything.
    pub(in crate::plan) alone: bool,
    /// The phase that it is a part of.
    pub(in crate::plan) whole: Option<String>,
}

impl Claim {
    /// The claim of a phase.
    pub(in crate::plan) fn of(phase: &Phase, whole: Option<&str>) -> Self {
        let mut paths: Vec<String> =
            phase.files.iter().chain(&phase.notes_out).map(|path| plain(path)).collect();
        let by_task = phase.tasks.iter().flat_map(|task| &task.files);
        paths.extend(by_task.map(|path| plain(path)));
        paths.retain(|path| !path.is_empty());
        paths.sort();
        paths.dedup();
        let told = !phase.files.is_empty()
            || !phase.tasks.is_empty() && phase.tasks.iter().all(|task| !task.files.is_empty());
        let alone = !phase.parallel.unwrap_or(told);
        Self { paths, alone, whole: whole.map(str::to_owned) }
    }

    /// Whether two phases must not be at work at the same time.
    pub(in crate::plan) fn excludes(&self, other: &Self) -> bool {
        let family = self.whole.is_some() && self.whole == other.whole;
        if !family && (self.alone || other.alone) {
            return true;
        }
        self.paths.iter().any(|path| other.paths.iter().any(|other| overlap(path, other)))
    }
}

// The same path in the same words; a folder with or without its slash.
fn plain(path: &str) -> String {
    let parts = path.trim().split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<_>>().join("/")
}

// Of a pattern only the part before its first wildcard is sure; two that could meet are taken to meet.
fn overlap(a: &str, b: &str) -> bool {
    let (fixed_a, open_a) = fixed(a);
    let (fixed_b, open_b) = fixed(b);
    let below = |path: &str, folder: &str| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.is_empty())
    };
    match (open_a, open_b) {
        (false, false) => below(fixed_a, fixed_b) || below(fixed_b, fixed_a),
        (true, false) => fixed_b.starts_with(fixed_a) || below(fixed_a, fixed_b),
        (false, true) => fixed_a.starts_with(fixed_b) || below(fixed_b, fixed_a),
        (true, true) => fixed_a.starts_with(fixed_b) || fixed_b.starts_with(fixed_a),
    }
}

fn fixed(path: &str) -> (&str, bool) {
    match path.find(['*', '?', '[', '{']) {
        Some(at) => (&path[..at], true),
        None => (path, false),
    }
}

#[cfg(test)]
mod tests {
    use segue_plans::Task;

    use super::*;

    fn claim(files: &[&str]) -> Claim {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Claim::of(&Phase { files, ..Phase::new("1") }, None)
    }

    #[test]
    fn h2_a_path_is_claimed_with_everything_below_it_and_patterns_as_far_as_they_reach() {
        for (a, b) in [
            ("src/a.rs", "./src/a.rs"),
            ("src/", "src/a.rs"),
            ("src/*.rs", "src/a.rs"),
            ("src/**", "src/deep/b.rs"),
            ("src/a*", "src/ab/*.rs"),
            ("**/*.md", "docs"),
        ] {
            assert!(claim(&[a]).excludes(&claim(&[b])), "{a} {b}");
            assert!(claim(&[b]).excludes(&claim(&[a])), "{b} {a}");
        }
        for (a, b) in [("src/a.rs", "src/b.rs"), ("src", "srcs/a"), ("src/*.rs", "docs/a.md"), ("a/*", "b/*")]
        {
            assert!(!claim(&[a]).excludes(&claim(&[b])), "{a} {b}");
        }
    }

    #[test]
    fn a_phase_that_names_no_file_runs_alone_unless_it_says_otherwise() {
        assert!(claim(&[]).excludes(&claim(&["a"])));
        let free = Claim::of(&Phase { parallel: Some(true), ..Phase::new("2") }, None);
        assert!(!free.excludes(&claim(&["a"])));
        let shy = Phase { parallel: Some(false), files: vec!["b".to_owned()], ..Phase::new("3") };
        assert!(Claim::of(&shy, None).excludes(&claim(&["a"])));
        let task = |files: &[&str]| Task {
            files: files.iter().map(|f| (*f).to_owned()).collect(),
            ..Task::default()
        };
        let by_task = Phase { tasks: vec![task(&["b"]), task(&["c"])], ..Phase::new("4") };
        assert!(!Claim::of(&by_task, None).excludes(&claim(&["a"])));
        let half = Phase { tasks: vec![task(&["b"]), task(&[])], ..Phase::new("4") };
        assert!(Claim::of(&half, None).alone, "one task may change anything");
    }

    #[test]
    fn p1_parts_of_one_phase_run_side_by_side_and_beside_nothing_else_that_they_could_meet() {
        let part = |id: &str| Claim::of(&Phase::new(id), Some("20"));
        assert!(!part("20a").excludes(&part("20b")));
        assert!(part("20a").excludes(&claim(&["a"])));
        let with =
            |file: &str| Claim::of(&Phase { files: vec![file.to_owned()], ..Phase::new("x") }, Some("20"));
        assert!(with("a").excludes(&with("a")));
    }
}
