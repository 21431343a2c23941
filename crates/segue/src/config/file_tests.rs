//! One file: what is wrong with it is named with its place, all at once, and nothing in it can crash segue.

use super::config_tests::{Given, project};
use super::{Flags, Layers, resolve, show};

#[test]
fn an_unknown_key_names_its_place_and_the_nearest_one() {
    let said = project("agent = \"claude\"\n\n[limits]\ngate_rounds = 1\n\n\nmax_restart = 3\n").errors();
    assert_eq!(
        said,
        "segue.toml:7:1: unknown key \"max_restart\" in [limits]; did you mean \"max_restarts\"?"
    );
    let said = project("  polcy = \"auto\"").errors();
    assert_eq!(said, "segue.toml:1:3: unknown key \"polcy\"; did you mean \"policy\"?");
    let said = project("max_restarts = 3").errors();
    assert_eq!(said, "segue.toml:1:1: unknown key \"max_restarts\"; it belongs in [limits]");
    let said = project("[git]\nzzzzzz = 3").errors();
    assert!(said.ends_with("valid here: enabled, commit, commit_on_failure, message, allow_dirty"), "{said}");
    let said = project("[agent.claude]\nmodle = \"x\"").errors();
    assert!(said.contains("in [agent.claude]; did you mean \"model\"?"), "{said}");
}

#[test]
fn all_problems_of_a_file_are_reported_at_once_in_the_order_of_the_lines() {
    let file = "zz = 1\npolicy = \"stagd\"\nrequire_verified = \"yes\"\n[limits]\ndeadline = \"soon\"\ncost_usd = 0\n\
                [[gate]]\nname = \"a\"\n[[stage]]\nat = 90\nto = 1\n[agent.claude]\nwindow = 0\n";
    let said = project(file).errors();
    let lines: Vec<usize> = said.lines().filter_map(|l| l.split(':').nth(1)?.parse().ok()).collect();
    assert_eq!(lines, [1, 2, 3, 5, 6, 7, 9, 10, 11, 13], "{said}");
    assert!(
        said.contains("did you mean \"staged\"?") && said.contains("for example: deadline = \"10m\""),
        "{said}"
    );
}

#[test]
fn m4_a_window_that_cannot_be_is_refused_with_its_line() {
    for window in
        ["0", "-5", "\"big\"", "\"\"", "1.5", "true", "[]", "99999999999999999999", "\"9e99k\"", "\"0k\""]
    {
        let said = project(&format!("[agent.claude]\nwindow = {window}\n")).errors();
        assert!(said.starts_with("segue.toml:2:"), "{said}");
        assert!(said.contains("200k") || said.contains("TOML"), "{said}");
    }
}

#[test]
fn broken_toml_names_line_and_column() {
    let said = project("policy = \"auto\"\nlimits = {\nx y\n").errors();
    assert!(said.starts_with("segue.toml:2:") || said.starts_with("segue.toml:3:"), "{said}");
    let said = project("a = 1\na = 2\n").errors();
    assert!(said.starts_with("segue.toml:2:1: not valid TOML: duplicate key"), "{said}");
    let said = project("agent = \"claude\"\n[agent.claude]\nmodel = \"opus\"").errors();
    assert!(said.contains("write agents = [\"NAME\"]"), "{said}");
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_line() {
    let said = Given::default().project(b"policy = \"auto\"\nx = \"\xff\"".as_slice()).errors();
    assert_eq!(said, "segue.toml:2:6: the file is not UTF-8 text; save it as UTF-8");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let file = "\u{feff}agent = \"claude\"\r\npolicy = \"staged\"\r\n[limits]\r\nmax_restarts = 3\r\n";
    let given = project(file);
    assert_eq!(given.resolve().unwrap().limits.max_restarts, Some(3));
    let said = project(&file.replace("max_restarts", "max_restart")).errors();
    assert!(said.starts_with("segue.toml:4:1: unknown key"), "{said}");
}

#[test]
fn one_bracket_instead_of_two_is_explained() {
    let said =
        project("[gate]\nname = \"x\"\n[stage]\nat = \"90%\"\n[[limits]]\nmax_restarts = 1\n").errors();
    assert!(said.contains("[[gate]] tables") && said.contains("[[stage]] tables"), "{said}");
    assert!(said.contains("write [limits] on a line of its own"), "{said}");
}

#[test]
fn gates_that_decide_nothing_are_refused() {
    for (gate, part) in [
        ("name = \"a\"", "run is missing"),
        ("name = \"a\"\nrun = \"true\"\nmanual = true", "never run"),
        ("manual = true", "name is missing"),
        ("name = \"\"\nrun = \"true\"", "expected text"),
        ("name = \"a\"\nrun = \"true\"\ntimeout = 0", "duration above 0"),
        ("name = \"a\"\nrun = [\"true\"]", "expected text, found a list"),
    ] {
        let said = project(&format!("agent = \"claude\"\n[[gate]]\n{gate}\n")).errors();
        assert!(said.contains(part), "{said}");
    }
    let said = project("agent = \"claude\"\n[gates.a]\ntimeout = 5\n").errors();
    assert!(said.starts_with("segue.toml:3:1: gates.a: run is missing"), "{said}");
    let two = "[[gate]]\nname = \"a\"\nrun = \"true\"\n".repeat(2);
    assert!(project(&two).errors().contains("two gates are called"));
}

#[test]
fn a_secret_in_the_wrong_form_is_not_repeated() {
    let said = project("[agent.claude.env]\nKEY = 424242\n").errors();
    assert!(said.starts_with("segue.toml:2:1: agent.claude.env.KEY") && !said.contains("424242"), "{said}");
}

#[test]
fn agent_and_agents_together_are_refused() {
    assert!(project("agent = \"claude\"\nagents = [\"codex\"]").errors().contains("keep one of them"));
}

#[test]
fn a_missing_file_says_nothing_and_an_unreadable_one_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.toml");
    let env = || [("SEGUE_AGENT".to_owned(), "claude".to_owned())];
    let layers = Layers::load(Some(&missing), None, env(), &Flags::default()).unwrap();
    assert_eq!(resolve(&layers).unwrap().preset, "auto");
    let said = Layers::load(Some(&missing), Some(dir.path()), env(), &Flags::default()).unwrap_err();
    assert!(said.to_string().starts_with("cannot read "), "{said}");
    let said = Given::default().project(vec![b'#'; super::file::MOST_BYTES + 1]).errors();
    assert!(said.contains("larger than"), "{said}");
    let file = dir.path().join("segue.toml");
    std::fs::write(&file, "policy = \"loop\"\n").unwrap();
    let layers = Layers::load(None, Some(&file), env(), &Flags::default()).unwrap();
    assert_eq!(resolve(&layers).unwrap().preset, "loop");
}

/// A small generator, so that the same bytes are tried on every machine.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn no_bytes_whatever_in_a_file_can_crash_segue() {
    let whole = "agents = [\"claude\", \"x\"]\npolicy = \"staged\"\ncontext_threshold = 90\ntool_call_threshold = 5\n\
        [[stage]]\nat = \"20k left\"\ndo = [\"checkpoint:full\", \"restart\"]\n[forecast]\nsoft = 70\nhard = \"88%\"\n\
        [limits]\nmax_restarts = 3\ndeadline = \"1h30m\"\ncost_usd = \"$5.50\"\ntokens = \"1M\"\n[[gate]]\nname = \"é\"\n\
        run = '''cargo test'''\ntimeout = 1979-05-27\n[gates.\"a.b\"]\nmanual = true\n[git]\ncommit = \"never\"\n\
        [agent.x]\nkind = \"acp\"\ncommand = \"a 'b c'\"\nenv = { A = \"b\" }\nwindow = 0x10\n[roles.r]\nagents = \"x\"\n"
        .as_bytes();
    let words: [&[u8]; 16] = [
        b"[",
        b"]",
        b"[[",
        b"]]",
        b"=",
        b"\"",
        b"\n",
        b".",
        b"*",
        b"\xff",
        b"\xef\xbb\xbf",
        b"nan",
        b"-1",
        b"1e999",
        b"agent",
        b"\0",
    ];
    let mut state = 0x5eed_5eed_5eed_5eed;
    for _ in 0..4_000 {
        let mut bytes = whole.to_vec();
        for _ in 0..=next(&mut state) % 4 {
            let at = usize::try_from(next(&mut state)).unwrap_or(0) % bytes.len();
            let to = (at + usize::try_from(next(&mut state) % 12).unwrap_or(0)).min(bytes.len());
            let word = words[usize::try_from(next(&mut state) % 16).unwrap_or(0)];
            bytes.splice(at..to, word.iter().copied());
        }
        let given = Given::default().project(&bytes);
        if let Ok(layers) = given.layers() {
            show(&layers);
            drop(resolve(&layers).map_err(|errors| errors.to_string()));
        }
    }
}

#[test]
fn every_prefix_of_every_scalar_is_read_or_refused_without_a_crash() {
    let keys = [
        "policy",
        "context_threshold",
        "limits.deadline",
        "limits.tokens",
        "limits.cost_usd",
        "agent.x.command",
    ];
    let texts = [
        "",
        "%",
        "k",
        "$",
        "ü",
        "1h30m5s",
        "9e307k",
        "'a \\\" b'",
        "\u{0}",
        "-0",
        "inf",
        "٣",
        "1_000",
        "0.0%",
    ];
    for key in keys {
        for text in texts {
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let quoted = format!("{:?}", &text[..end]).replace("\\0", "\\u0000");
                drop(project(&format!("{key} = {quoted}")).resolve());
            }
        }
    }
}
