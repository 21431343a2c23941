//! What is pinned: the versions of the real agents, and the integrity of their packages by platform.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Trouble;

const PINS: &str = include_str!("../../agents.json");

/// One agent at one version.
#[derive(Debug)]
pub(super) struct Pin {
    /// What it is called here, and the name of its program in its folder.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// Where its program lies in its folder.
    pub(super) program: String,
    /// Its package on each platform.
    pub(super) packages: BTreeMap<String, Package>,
}

/// A package of the npm registry.
#[derive(Debug)]
pub(super) struct Package {
    /// `name@version`, as npm takes it.
    pub(super) spec: String,
    /// The hash of its archive, as npm writes it.
    pub(super) integrity: String,
    /// The part of it that is kept.
    pub(super) folder: String,
}

impl Pin {
    /// The name of its folder.
    pub(super) fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

/// Everything that is pinned.
pub(super) fn pins() -> Result<Vec<Pin>, Trouble> {
    parse(PINS).map_err(|why| format!("xtask/agents.json: {why}").into())
}

/// The name of a platform in `agents.json`, if it can be in there at all.
pub(super) fn platform(os: &str, arch: &str, musl: bool) -> Option<String> {
    let cpu = match arch {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    match (os, musl) {
        ("linux", false) => Some(format!("linux-{cpu}-gnu")),
        ("linux", true) => Some(format!("linux-{cpu}-musl")),
        ("macos", _) => Some(format!("darwin-{cpu}")),
        _ => None,
    }
}

fn parse(text: &str) -> Result<Vec<Pin>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    value.as_array().ok_or("it is not a list")?.iter().map(pin).collect()
}

fn pin(value: &Value) -> Result<Pin, String> {
    let packages = value["packages"].as_object().ok_or_else(|| format!("packages are missing in {value}"))?;
    let packages = packages.iter().map(|(platform, value)| Ok((platform.clone(), package(value)?)));
    Ok(Pin {
        name: word(value, "name")?,
        version: word(value, "version")?,
        program: word(value, "program")?,
        packages: packages.collect::<Result<_, String>>()?,
    })
}

fn package(value: &Value) -> Result<Package, String> {
    Ok(Package {
        spec: word(value, "spec")?,
        integrity: word(value, "integrity")?,
        folder: word(value, "folder")?,
    })
}

fn word(value: &Value, key: &str) -> Result<String, String> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| format!("{key} is missing in {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_agents_are_pinned_by_version_and_hash_on_every_platform() {
        let pins = pins().unwrap();
        let names: Vec<String> = pins.iter().map(Pin::folder).collect();
        assert_eq!(names, ["claude-2.1.325", "codex-0.166.0"]);
        for pin in &pins {
            for (os, arch, musl) in [
                ("linux", "x86_64", false),
                ("linux", "x86_64", true),
                ("linux", "aarch64", false),
                ("linux", "aarch64", true),
                ("macos", "x86_64", false),
                ("macos", "aarch64", false),
            ] {
                let package = &pin.packages[&platform(os, arch, musl).unwrap()];
                assert!(package.spec.contains(&format!("@{}", pin.version)), "{package:?}");
                assert!(package.integrity.starts_with("sha512-"), "{package:?}");
                assert_eq!(package.integrity.len(), "sha512-".len() + 88, "{package:?}");
            }
        }
    }

    #[test]
    fn the_file_names_no_host() {
        assert!(!PINS.contains("://"));
    }

    #[test]
    fn a_platform_without_packages_has_no_name() {
        assert_eq!(platform("linux", "riscv64", false), None);
        assert_eq!(platform("windows", "x86_64", false), None);
    }

    #[test]
    fn a_file_with_a_hole_says_which() {
        assert!(parse("{}").unwrap_err().contains("not a list"));
        assert!(parse(r#"[{"name":"a"}]"#).unwrap_err().contains("packages are missing"));
        let hole = r#"[{"name":"a","version":"1","program":"a","packages":{"p":{"spec":"s","folder":"."}}}]"#;
        assert!(parse(hole).unwrap_err().contains("integrity is missing"));
    }
}
