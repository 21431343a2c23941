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
    for path in files(&world.repo().join(".segue")) {
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

#[test]
fn c8_no_secret_reaches_the_journal_checkpoints_logs_or_the_screen() {
    let secrets = [
        key("ghp_", 1, 36),
        key("sk-ant-api03-", 2, 60),
        key("xoxb-1234567890-", 3, 24),
        key("glpat-", 4, 20),
        key("npm_", 5, 36),
        key("hf_", 6, 34),
    ];
    let [task, output, remark, words, gate, file] = &secrets;
    let script = Script {
        step_output: Some(format!("export DEPLOY_TOKEN={output}")),
        remarks: vec![format!("## Key Decisions\n- the server takes {remark} until Friday")],
        last_words: vec![format!("All steps are done. I logged in with {words}. LOOP_COMPLETE")],
        piece_chars: Some(11),
        ..small()
    };
    let world = World::new(6, script);
    world.write("TASK.md", &format!("{}\nUse {task} to log in.\n", world.job.task_text()));
    world.write(
        "check2.sh",
        &format!("echo 'Authorization: Bearer {gate}'; echo {gate} >&2; test -e done-{file}\n"),
    );
    world.in_step(&format!("touch done-{file}"));
    world.configure("[[gate]]\nname = \"second\"\nrun = \"sh check2.sh\"\n");
    world.commit("more to check");
    let json = world.segue(&["run", "TASK.md", "--json"]);
    json.exits(0);
    let shown = format!("{}{}", json.out, json.err);
    let more: String = ["show", "log", "status"]
        .map(|command| world.segue(&[command]))
        .iter()
        .map(|done| format!("{}{}", done.out, done.err))
        .collect();
    for secret in &secrets {
        let found = leaks(&world, &format!("{shown}{more}"), secret);
        assert!(found.is_empty(), "{secret} is in {found:?}");
    }
    assert!(!json.warnings("redacted").is_empty(), "{}", json.all());
    assert!(json.finished()["redacted"].as_u64().unwrap() >= 4, "{}", json.all());
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
    let private = world.repo().join(".segue/runs").join(first.run()).join("private.json");
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
