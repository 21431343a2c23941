//! E2: segue is killed at every event of a run, and at moments of no event; the run is taken up again and nothing is
//! lost or done twice. The agent that is left behind goes on working, as a real one may.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use segue_machine::policy::preset;
use segue_machine::{AgentEvent, Effect, Event};
use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;
use segue_rehearsal::sizing;

use crate::support::{World, left_behind, until};

/// Trials mostly wait for their agents, so more of them than cores can go on side by side.
const SIDE_BY_SIDE: usize = 4;
/// How many times the process is killed from outside.
const FROM_OUTSIDE: u64 = 10;

/// Starts the agent with a lock that everything it starts holds as well, so that a second agent would be noticed. The
/// session whose number is in the file `stubborn` goes on when its client is gone.
pub(crate) const AGENT: &str = r#"cd "$1" || exit 1
exec 9>>agent.lock
flock -n 9 || echo "session while another one works" >>conflicts
sessions=$(cat steps.log 2>/dev/null | grep -c '^session ')
script=plain.json
if [ "$((sessions + 1))" -eq "$(cat stubborn)" ]; then script=stubborn.json; fi
exec "$2" scripted-agent --script "$1/$script"
"#;

/// The job of `segue demo`, with an agent whose session number `stubborn` outlives its client.
fn world(stubborn: u32) -> World {
    world_of("auto", stubborn, AGENT)
}

/// The same under another policy, with an agent that is started in another way.
pub(crate) fn world_of(policy: &str, stubborn: u32, start: &str) -> World {
    let sized = sizing::for_policy(&preset::find(policy).unwrap().policy, 4);
    let world = World::new(sized.job.steps, Script::default());
    let plain = Script { step_ms: 5, step_log: Some(world.log()), ..sized.script };
    let write = |name: &str, text: &str| std::fs::write(world.root().join(name), text).unwrap();
    write("plain.json", &serde_json::to_string(&plain).unwrap());
    write("stubborn.json", &serde_json::to_string(&Script { ignore_eof: true, ..plain }).unwrap());
    write("stubborn", &stubborn.to_string());
    write("agent.sh", start);
    let agent = format!(
        "command = [\"sh\", {:?}, {:?}, {:?}]\n",
        world.root().join("agent.sh"),
        world.root(),
        env!("CARGO_BIN_EXE_segue"),
    );
    let toml = world.read("segue.toml");
    let toml = format!("policy = {policy:?}\n{toml}");
    let lines = toml.lines().map(|l| if l.starts_with("command") { agent.clone() } else { format!("{l}\n") });
    world.write("segue.toml", &lines.collect::<String>());
    world.commit("the agent of this test");
    world
}

/// What was true when the process was killed.
pub(crate) struct Before {
    run: String,
    recorded: BTreeSet<u32>,
    refs: String,
    pub(crate) user: Vec<String>,
    pub(crate) over: bool,
}

impl Before {
    pub(crate) fn of(world: &World) -> Option<Self> {
        let run = world.run_id()?;
        let events = world.events(&run);
        let over = events.last()?.effects.contains("\"finish\"");
        let event = |text: &str| serde_json::from_str::<Event>(text).unwrap();
        let recorded = events.iter().filter_map(|stored| step_done(&event(&stored.event))).collect();
        let refs = world.git(&["for-each-ref", "refs/segue"]);
        Some(Self { run, recorded, refs, user: users(world), over })
    }
}

/// The step that an event says is done.
fn step_done(event: &Event) -> Option<u32> {
    let Event::Agent { event: AgentEvent::ToolEnded { title, ok: true, .. }, .. } = event else {
        return None;
    };
    title.strip_prefix("sh step.sh ")?.parse().ok()
}

/// What belongs to the user: the branch, where it points, and the index.
fn users(world: &World) -> Vec<String> {
    let ask: [&[&str]; 3] = [&["symbolic-ref", "HEAD"], &["rev-parse", "HEAD"], &["ls-files", "--stage"]];
    ask.iter().map(|args| world.git(args)).collect()
}

/// Takes the run up again and names everything that is not as it should be.
pub(crate) fn take_up(world: &World, before: &Before) -> (Vec<String>, u64) {
    let done = world.launch(&["resume", "--json"], "resume").wait();
    let mut wrong = Vec::new();
    let mut orphans = 0;
    if before.over {
        let status = world.segue(&["status", "--json"]);
        if done.code != Some(2) || !status.out.contains("\"verified\"") {
            wrong.push(format!("it was over: {}\n{}", done.all(), status.all()));
        }
    } else {
        let finished = done.of("run.finished");
        if done.code != Some(0) || finished.len() != 1 || finished[0]["verdict"] != "verified" {
            wrong.push(done.all());
        }
        orphans = done.of("session.ended").iter().filter_map(|l| l["orphans"].as_u64()).sum();
    }
    wrong.extend(judge(world, before));
    (wrong, orphans)
}

fn judge(world: &World, before: &Before) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = std::fs::read_to_string(world.log()).unwrap_or_default();
    let log = world.steps();
    let twice: Vec<u32> = log.started_twice().intersection(&before.recorded).copied().collect();
    if !twice.is_empty() {
        wrong.push(format!("recorded as done and run twice: {twice:?}\n{text}"));
    }
    // A step may be ended between its work and its own last word; then its part is there.
    let lost: Vec<u32> = log.lost(world.job.steps).difference(&log.half_done()).copied().collect();
    if !lost.is_empty() {
        wrong.push(format!("lost: {lost:?}\n{text}"));
    }
    wrong.extend(
        (1..=world.job.steps)
            .filter(|n| world.read(&Job::part(*n)) != format!("part {n}\n"))
            .map(|n| format!("part {n} is not there")),
    );
    wrong.extend(two_at_once(&text).map(|why| format!("two agents at once: {why}\n{text}")));
    if world.root().join("conflicts").exists() {
        wrong.push(format!("an agent was started beside another one\n{text}"));
    }
    let left = left_behind(&before.run);
    if !left.is_empty() {
        wrong.push(format!("processes are left: {left:?}"));
    }
    let refs = world.git(&["for-each-ref", "refs/segue"]);
    wrong
        .extend(before.refs.lines().filter(|l| !refs.contains(l)).map(|l| format!("{l} is gone or changed")));
    let commits = world.read("segue.toml").contains("phased");
    if !commits && users(world) != before.user {
        wrong.push(format!("the user's branch or index was touched: {:?}", users(world)));
    }
    let replay = world.segue(&["replay"]);
    if replay.code != Some(0) {
        wrong.push(replay.all());
    }
    wrong
}

/// Whether the log shows two agents side by side: one works on one thing at a time, and its window only fills.
fn two_at_once(log: &str) -> Option<String> {
    let (mut open, mut given_up, mut calls) = (None, BTreeSet::new(), 0);
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["end", _, pid, _] if open == Some(*pid) => open = None,
            ["end", _, pid, _] if given_up.contains(pid) => return Some(format!("{line}: others had begun")),
            ["start", _, pid, _] => given_up.extend(open.replace(pid)),
            ["session", _] => {
                given_up.extend(open.take());
                calls = 0;
            }
            ["call", tokens] => {
                given_up.extend(open.take());
                let tokens: u64 = tokens.parse().unwrap();
                if tokens <= calls {
                    return Some(format!("{line}: after a call of {calls}"));
                }
                calls = tokens;
            }
            _ => {}
        }
    }
    None
}

/// An uninterrupted run: for every event, the number of the session that works then.
fn baseline() -> Vec<u32> {
    let world = world(0);
    let done = world.launch(&["run", "TASK.md", "--json"], "run").wait();
    assert_eq!(done.code, Some(0), "{}", done.all());
    let run = world.run_id().unwrap();
    let mut session = 0;
    let of = |stored: segue_journal::StoredEvent| {
        let effects: Vec<Effect> = serde_json::from_str(&stored.effects).unwrap();
        let before = session;
        for effect in effects {
            if let Effect::StartSession { session: n, .. } = effect {
                session = n;
            }
        }
        before
    };
    world.events(&run).into_iter().map(of).collect()
}

/// Kills a run right after one event is durable, and takes it up again.
fn kill_after(seq: u64, session: u32, sum: &Mutex<Sum>) {
    let world = world(session);
    let crash = seq.to_string();
    let done =
        world.launch_with(&["run", "TASK.md", "--json"], "run", &[("SEGUE_CRASH_AFTER", &crash)]).wait();
    let sum_of = |wrong: Vec<String>, orphans: u64, killed: u64| {
        let mut sum = sum.lock().unwrap();
        sum.points += killed;
        sum.orphans += orphans;
        sum.wrong.extend(wrong.into_iter().map(|why| format!("killed after event {seq}: {why}")));
    };
    if done.code == Some(0) {
        // Two runs are not alike to the event: this one was over before.
        return sum_of(Vec::new(), 0, 0);
    }
    let Some(before) = Before::of(&world) else { return sum_of(vec![done.all()], 0, 0) };
    // Now and then the orphan has time for more work that nobody has recorded.
    std::thread::sleep(Duration::from_millis(60 * (seq % 3)));
    let (wrong, orphans) = take_up(&world, &before);
    sum_of(wrong, orphans, 1);
}

#[derive(Default)]
struct Sum {
    points: u64,
    orphans: u64,
    wrong: Vec<String>,
}

#[test]
fn e2_killed_after_any_event_a_run_goes_on_without_loss_or_repetition() {
    let sessions = baseline();
    let (next, sum) = (AtomicU64::new(0), Mutex::new(Sum::default()));
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Ok(i) = usize::try_from(next.fetch_add(1, Ordering::Relaxed))
                    && let Some(session) = sessions.get(i)
                {
                    // From the third session on everything happens once more: a part of it is enough.
                    if *session <= 2 || i % 4 == 0 {
                        kill_after(i as u64 + 1, *session, &sum);
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap();
    println!("kill points: {} of {} events, {} orphans ended", sum.points, sessions.len(), sum.orphans);
    assert!(sum.wrong.is_empty(), "{} things are wrong\n{}", sum.wrong.len(), sum.wrong.join("\n\n"));
    assert!(sum.points > 60, "{} kill points", sum.points);
    assert!(sum.orphans > sum.points / 2, "{} orphans", sum.orphans);
}

#[test]
fn e2_killed_from_outside_at_any_moment_a_run_goes_on_without_loss_or_repetition() {
    let mut points = 0;
    for n in 0..FROM_OUTSIDE {
        // Spread over the run, and never at the same place in a step.
        let pause = Duration::from_millis(40 + n * 211 + (n * n * 37) % 97);
        let world = world(1 + u32::try_from(n / 3).unwrap());
        let run = world.launch(&["run", "TASK.md", "--json"], "run");
        until("the run to begin", || world.run_id().is_some_and(|run| !world.events(&run).is_empty()));
        std::thread::sleep(pause);
        run.signal("KILL");
        let done = run.wait();
        let before = Before::of(&world).unwrap();
        if done.code.is_some() {
            assert!(before.over, "{}", done.all());
            continue;
        }
        points += 1;
        let (wrong, _) = take_up(&world, &before);
        assert!(wrong.is_empty(), "killed after {pause:?}: {}", wrong.join("\n\n"));
    }
    println!("kill points from outside: {points}");
    assert!(points >= 5, "{points} kill points");
}

#[test]
fn two_agents_side_by_side_would_be_noticed() {
    let one = "session a\ncall 10\nstart 1 7 0\nend 1 7 1\ncall 11\nstart 2 8 2\nsession b\ncall 5\nstart 2 9 3\nend 2 9 4\n";
    assert_eq!(two_at_once(one), None);
    assert!(two_at_once(&format!("{one}end 2 8 5\n")).is_some());
    assert!(two_at_once(&format!("{one}call 12\ncall 6\n")).is_some());
}
