//! Secrets do not reach what is stored or shown, wherever they come from; the agent still gets the task as it was typed.

use std::path::{Path, PathBuf};

use segue_rehearsal::script::Script;

use crate::support::{World, small, unpacked};

// Put together when the tests run, so that no scanner of repositories takes them for real.
fn key(prefix: &str, seed: u64, length: usize) -> String {
    let alphabet = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = prefix.to_owned();
    for _ in 0..length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push(char::from(alphabet[(state >> 33) as usize % alphabet.len()]));
    }
    text
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn leaks(world: &World, shown: &str, secret: &str) -> Vec<String> {
    let mut places = Vec::new();
    for path in files(&world.state_dir()) {
        let bytes = std::fs::read(&path).unwrap();
        let text = if path.extension().is_some_and(|e| e == "gz") {
            unpacked(&path)
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        if text.contains(secret) && !path.ends_with("private.json") {
            places.push(path.display().to_string());
        }
    }
    if shown.contains(secret) {
        places.push("what was shown".to_owned());
    }
    places
}

/// Formats of keys by the beginning of their names, with the length of the rest.
const KINDS: [(&str, usize); 25] = [
    ("ghp_", 36),
    ("gho_", 36),
    ("github_pat_11ABCDEFG0", 59),
    ("glpat-", 20),
    ("sk-ant-api03-", 80),
    ("sk-proj-", 60),
    ("xoxb-123456789012-", 24),
    ("xoxp-123456789012-", 32),
    ("sk_live_", 24),
    ("rk_live_", 24),
    ("npm_", 36),
    ("pypi-AgEIcHlwaS5vcmc", 70),
    ("hf_", 34),
    ("dop_v1_", 64),
    ("SG.abcdefghijklmnopqrstuv.", 43),
    ("hvs.", 90),
    ("dckr_pat_", 27),
    ("lin_api_", 40),
    ("shpat_", 32),
    ("glsa_", 32),
    ("PMAK-", 59),
    ("sntrys_", 64),
    ("tskey-auth-", 40),
    ("rubygems_", 48),
    ("figd_", 40),
];

fn keys(place: u64) -> Vec<String> {
    let hex = |text: String, from: usize| {
        let digit = |c: char| char::from(b"0123456789abcdef"[c as usize % 16]);
        format!("{}{}", &text[..from], text[from..].chars().map(digit).collect::<String>())
    };
    let make = |(n, (prefix, length)): (usize, &(&str, usize))| {
        let made = key(prefix, place * 1_000 + n as u64, *length);
        // These consist of hexadecimal digits.
        if ["dop_v1_", "shpat_", "rubygems_"].contains(prefix) { hex(made, prefix.len()) } else { made }
    };
    KINDS.iter().enumerate().map(make).collect()
}

fn lines(keys: &[String]) -> String {
    keys.iter().map(|key| format!("the login takes {key} here\n")).collect()
}

#[test]
fn c8_no_secret_reaches_the_journal_checkpoints_logs_or_the_screen() {
    let [task, output, remark, words, gate, files, note, error] = [1, 2, 3, 4, 5, 6, 7, 8].map(keys);
    let script = Script {
        step_output: Some(lines(&output)),
        remarks: vec![format!("## Key Decisions\n{}", lines(&remark).replace("the login", "- the login"))],
        last_words: vec![format!("All steps are done.\n{}LOOP_COMPLETE", lines(&words))],
        piece_chars: Some(11),
        ..small()
    };
    let world = World::new(6, script);
    world.write("TASK.md", &format!("{}\n{}", world.job.task_text(), lines(&task)));
    let says: String =
        gate.iter().map(|key| format!("echo 'Authorization: Bearer {key}'; echo {key} >&2\n")).collect();
    world.write("check2.sh", &format!("{says}exit 0\n"));
    let touched: String = files.iter().map(|key| format!("touch made-{key}\n")).collect();
    let noted =
        format!("{:?} progress 'logged in with {}'\n", env!("CARGO_BIN_EXE_segue"), note.join(" and "));
    world.write("more.sh", &format!("{touched}{noted}echo '{}' >&2\n", error.join("\n")));
    world.in_step("sh ./more.sh");
    world.configure("[[gate]]\nname = \"second\"\nrun = \"sh check2.sh\"\n");
    world.commit("more to check");
    let json = world.segue(&["run", "TASK.md", "--json"]);
    json.exits(0);
    let mut shown = format!("{}{}", json.out, json.err);
    for command in [&["show"][..], &["show", "--output"], &["log"], &["status"], &["checkpoint", "show"]] {
        let done = world.segue(command);
        shown.push_str(&format!("{}{}", done.out, done.err));
    }
    let planted = [task, output, remark, words, gate, files, note, error].concat();
    let leaked: Vec<String> = planted
        .iter()
        .map(|key| (key, leaks(&world, &shown, key)))
        .filter(|(_, at)| !at.is_empty())
        .map(|l| format!("{l:?}"))
        .collect();
    println!("{} planted in 8 places, {} got through", planted.len(), leaked.len());
    assert!(leaked.is_empty(), "{leaked:#?}");
    assert!(!json.warnings("redacted").is_empty(), "{}", json.all());
    assert!(json.finished()["redacted"].as_u64().unwrap() >= 100, "{}", json.all());
}

#[test]
fn c8_the_agent_gets_the_task_as_it_was_typed_also_after_a_resume_and_nothing_of_it_is_left_at_the_end() {
    let secret = key("ghp_", 9, 36);
    let world = World::new(2, Script::default());
    let agent = "[agent.plain]\nkind = \"command\"\nprompt = \"stdin\"\n\
        command = [\"sh\", \"-c\", \"cat >> ../seen; test -e ../mended && sh step.sh 1 && sh step.sh 2\"]\n";
    world.configure(&format!("agents = [\"plain\"]\n{agent}[limits]\ngate_rounds = 1\n"));
    let first = world.segue(&["run", &format!("log in with {secret} and do both steps"), "--json"]);
    first.exits(4);
    let seen = || std::fs::read_to_string(world.root().join("seen")).unwrap();
    assert!(seen().contains(&secret), "{}", seen());
    let private = world.state_dir().join("runs").join(first.run()).join("private.json");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(world.root().join("mended"), "").unwrap();
    std::fs::write(world.root().join("seen"), "").unwrap();
    let second = world.segue(&["resume", "--json"]);
    second.exits(0);
    assert!(seen().contains(&secret), "{}", seen());
    assert!(!private.exists());
    let shown = format!("{}{}{}{}", first.out, first.err, second.out, second.err);
    assert_eq!(leaks(&world, &shown, &secret), [""; 0]);
}

#[test]
fn what_is_allowed_is_kept_and_switching_off_keeps_everything() {
    let secret = key("ghp_", 11, 36);
    for (config, kept) in [
        ("[redact]\nenabled = false\n".to_owned(), true),
        (format!("[redact]\nallow = [\"{}*\"]\n", &secret[..12]), true),
        (String::new(), false),
    ] {
        let world = World::new(1, Script::default());
        world.configure(&config);
        world.write("TASK.md", &format!("- [ ] step 1: write part 1 with {secret}\n"));
        let done = world.segue(&["run", "TASK.md", "--json"]);
        assert_eq!(done.out.contains(&secret), kept, "{config}: {}", done.all());
    }
    let world = World::new(1, Script::default());
    world.configure("[redact.patterns]\nbadge = \"badge-[\"\n");
    let done = world.segue(&["run", "TASK.md"]);
    done.exits(2);
    assert!(done.err.contains("badge"), "{}", done.err);
}

/// What Claude Code's hook is called for before a compaction, where segue keeps the transcript.
#[test]
fn a_transcript_that_is_kept_before_a_compaction_is_clean() {
    use std::io::Write;
    let world = World::new(1, Script::default());
    world.segue(&["run", "TASK.md", "--json"]).exits(0);
    let run_dir = world.state_dir().join("runs").join(world.run_id().unwrap());
    let secret = key("ghp_", 5, 36);
    let transcript = world.root().join("transcript.jsonl");
    let line = |text: &str| serde_json::json!({ "type": "user", "text": text }).to_string();
    std::fs::write(&transcript, format!("{}\n{}\n", line(&format!("use {secret}")), line(" thanks")))
        .unwrap();
    let kept = run_dir.join("s1-before-compaction-2.jsonl");
    // Whoever puts a link there has nothing written through it.
    let victim = world.root().join("victim");
    std::os::unix::fs::symlink(&victim, run_dir.join("s1-before-compaction-1.jsonl")).unwrap();
    let mut command = world.command(&["hook", "archive"]);
    command.env("SEGUE_RUN_DIR", &run_dir).env("SEGUE_SESSION", "r.1").stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let told = serde_json::json!({ "transcript_path": transcript });
    child.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(kept).unwrap();
    assert!(text.contains("thanks") && text.lines().count() == 2 && !text.contains(&secret), "{text}");
    assert!(!victim.exists());
}
