//! What is pinned: the versions of the real agents, and the integrity of their packages by platform.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Trouble;

const PINS: &str = include_str!("../../agents.json");

/// What most programs tell their version on.
pub(super) const VERSION: &str = "--version";

/// One agent at one version.
#[derive(Debug)]
pub(super) struct Pin {
    /// What it is called here, and the name of its program in its folder.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// Where its program lies in its folder.
    pub(super) program: String,
    /// The oldest Node that runs it, where it is a script.
    pub(super) node: Option<u64>,
    /// What it is asked to see that it runs; `--version` also tells whether it is the pinned one.
    pub(super) check: String,
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
    /// The part of it that is kept; of a package that comes along, the place where it goes.
    pub(super) folder: String,
    /// Packages that it loads.
    pub(super) also: Vec<Self>,
}

impl Package {
    /// The hashes of all that is unpacked: the mark of a folder that is complete.
    pub(super) fn mark(&self) -> String {
        let all = [self].into_iter().chain(&self.also).map(|package| package.integrity.as_str());
        all.collect::<Vec<_>>().join(" ")
    }
}

impl Pin {
    /// Its name and version; the name of its folder.
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
        node: value["node"].as_u64(),
        check: value["check"].as_str().unwrap_or(VERSION).to_owned(),
        packages: packages.collect::<Result<_, String>>()?,
    })
}

fn package(value: &Value) -> Result<Package, String> {
    let also = value["also"].as_array().into_iter().flatten().map(package);
    Ok(Package {
        spec: word(value, "spec")?,
        integrity: word(value, "integrity")?,
        folder: word(value, "folder")?,
        also: also.collect::<Result<_, String>>()?,
    })
}

fn word(value: &Value, key: &str) -> Result<String, String> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| format!("{key} is missing in {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLATFORMS: [(&str, &str, bool); 6] = [
        ("linux", "x86_64", false),
        ("linux", "x86_64", true),
        ("linux", "aarch64", false),
        ("linux", "aarch64", true),
        ("macos", "x86_64", false),
        ("macos", "aarch64", false),
    ];

    #[test]
    fn every_package_is_pinned_by_version_and_hash() {
        let pins = pins().unwrap();
        let names: Vec<String> = pins.iter().map(Pin::folder).collect();
        let known = [
            "claude-2.1.325",
            "codex-0.166.0",
            "gemini-0.61.0",
            "opencode-1.18.33",
            "qwen-0.15.10",
            "codex-acp-0.16.0",
        ];
        assert_eq!(names, known);
        for pin in &pins {
            for package in pin.packages.values() {
                assert!(package.spec.contains(&format!("@{}", pin.version)), "{package:?}");
                for each in [package].into_iter().chain(&package.also) {
                    assert!(each.integrity.starts_with("sha512-"), "{each:?}");
                    assert_eq!(each.integrity.len(), "sha512-".len() + 88, "{each:?}");
                }
            }
        }
    }

    #[test]
    fn the_agents_with_a_meter_of_their_own_are_there_on_every_platform_except_opencode() {
        for pin in pins().unwrap().iter().filter(|pin| ["claude", "codex", "gemini"].contains(&&*pin.name)) {
            for (os, arch, musl) in PLATFORMS {
                assert!(pin.packages.contains_key(&platform(os, arch, musl).unwrap()), "{} {os}", pin.name);
            }
        }
    }

    #[test]
    fn a_folder_is_complete_only_with_what_comes_along() {
        let pins = pins().unwrap();
        let gemini = &pins[2].packages["linux-x64-gnu"];
        assert_eq!(gemini.mark().split(' ').count(), 3);
        assert_eq!(pins[0].packages["linux-x64-gnu"].mark().split(' ').count(), 1);
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
