//! Which crate may know which: the shape of the workspace, held against Cargo's own account of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Outcome, shell};

/// Every allowed edge between crates of ours. The program may know all of them.
const ALLOWED: [(&str, &[&str]); 7] = [
    ("segue-machine", &[]),
    ("segue-journal", &[]),
    ("segue-agents", &["segue-machine"]),
    ("segue-plans", &["segue-machine"]),
    ("segue-redact", &[]),
    ("segue-report", &["segue-machine"]),
    ("segue-rehearsal", &["segue-agents", "segue-machine"]),
];

/// Fails with every edge that should not be there.
pub(crate) fn check() -> Outcome {
    let text = shell::read("cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let found = found(&metadata);
    let mut wrong = Vec::new();
    for (name, allowed) in ALLOWED {
        let Some(edges) = found.get(name) else { return Err(format!("there is no crate {name}").into()) };
        let extra = edges.iter().filter(|edge| !allowed.contains(&edge.as_str()));
        wrong.extend(extra.map(|edge| format!("{name} must not depend on {edge}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn found(metadata: &serde_json::Value) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| {
            let edges = package["dependencies"].as_array()?.iter().filter_map(|d| d["name"].as_str());
            let ours = edges.filter(|name| name.starts_with("segue")).map(str::to_owned).collect();
            Some((package["name"].as_str()?.to_owned(), ours))
        })
        .collect()
}
