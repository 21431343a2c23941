//! INI files: their sections as lines that can be compared.

use std::collections::BTreeMap;

/// The sections whose names are wanted, without comments and blank lines.
pub(super) fn sections(text: &str, wanted: &dyn Fn(&str) -> bool) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    let mut section = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name.trim().to_owned()).filter(|name| wanted(name));
        } else if let Some(section) = &section {
            let kept = sections.entry(section.clone()).or_default();
            kept.push_str(line);
            kept.push('\n');
        }
    }
    sections
}
