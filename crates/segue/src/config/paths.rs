//! What a path in the configuration may say. What really lies there is looked at by whoever writes to it.

use std::path::{Component, Path};

/// What is wrong with the words of a path, if anything.
pub(crate) fn path_fault(path: &str) -> Option<&'static str> {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let normal = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    match parts.as_slice() {
        [Component::RootDir | Component::Prefix(_), ..] => Some("is not within the work tree"),
        parts if parts.contains(&Component::ParentDir) => Some("leads out of the work tree with .."),
        parts if parts.contains(&Component::Normal(".git".as_ref())) => Some("lies in git's own folder"),
        parts if parts.is_empty() || !parts.iter().all(normal) || path.contains('\0') => {
            Some("is not a path")
        }
        parts if parts.iter().all(|part| *part == Component::CurDir) => Some("is the work tree itself"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_lead_out_are_refused_and_others_are_not() {
        for path in ["../x", "a/../../x", "/etc/x", "", ".", "./.", "a/..", ".git/x", "a/.git/hooks", "a\0b"]
        {
            assert!(path_fault(path).is_some(), "{path:?}");
        }
        for path in ["x", "a/b.md", "./a", ".segue/x", "a..b/c", "…/ü", "git/x"] {
            assert_eq!(path_fault(path), None, "{path:?}");
        }
    }
}
