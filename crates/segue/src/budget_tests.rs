//! Tests of the day's book, without the user's own.

use segue_machine::{AgentSpent, Totals};

use super::*;

fn view(agent: &str, tokens: u64, sessions: u32) -> View {
    let totals = Totals { tokens_in: Some(tokens), cost_musd: Some(tokens * 2), ..Totals::default() };
    View {
        by_agent: BTreeMap::from([(agent.to_owned(), AgentSpent { totals, sessions })]),
        ..View::default()
    }
}

fn spent(agent: &str, tokens: u64, sessions: u32) -> Spending {
    Spending::of(&view(agent, tokens, sessions))
}

fn book(dir: &std::path::Path, run: &str, now: Millis) -> DayBook {
    DayBook {
        state: State::at(dir),
        run: run.to_owned(),
        workdir: "/w".to_owned(),
        accounts: BTreeMap::from([("claude".to_owned(), "claude/work".to_owned())]),
        day: local_day(now).0,
        before: BTreeMap::new(),
        earlier_ms: 0,
        since: now,
        openings: 0,
    }
}

const NOON: Millis = 1_794_787_200_000;

#[test]
fn a_line_that_is_written_again_does_not_count_twice_and_others_are_seen() {
    let dir = tempfile::tempdir().unwrap();
    let (mut a, mut b) = (book(dir.path(), "a", NOON), book(dir.path(), "b", NOON));
    for _ in 0..3 {
        a.write(&spent("claude", 500, 2), NOON + 1_000).unwrap();
    }
    let told = b.write(&spent("codex", 70, 1), NOON + 2_000).unwrap();
    assert_eq!((told.others.tokens, told.others.cost_musd, told.others.sessions), (500, 1_000, 2));
    assert_eq!(told.others.wall_ms, 1_000);
    let told = a.write(&spent("claude", 600, 2), NOON + 3_000).unwrap();
    assert_eq!((told.others.tokens, told.others.wall_ms), (70, 2_000));
    let day: Day = State::at(dir.path()).read(&file(&a.day));
    assert_eq!((day.total().tokens, day.accounts()["claude/work"].tokens), (670, 600));
    assert_eq!(day.accounts()["codex"].sessions, 1);
}

#[test]
fn a_new_day_counts_only_what_comes_after_it_began() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = book(dir.path(), "a", NOON);
    let (first, next) = (a.day.clone(), NOON + 86_400_000);
    a.write(&spent("claude", 500, 1), NOON).unwrap();
    let told = a.write(&spent("claude", 800, 2), next).unwrap();
    assert_eq!((told.before.tokens, told.before.sessions), (800, 2));
    a.write(&spent("claude", 900, 2), next + 5_000).unwrap();
    let state = State::at(dir.path());
    let day = |name: &str| state.read::<Day>(&file(name)).total();
    assert_eq!((day(&first).tokens, day(&a.day).tokens, day(&a.day).sessions), (800, 100, 0));
    assert_ne!(first, a.day);
    let (_, midnight) = local_day(next);
    assert_eq!(day(&a.day).wall_ms, next + 5_000 - midnight);
}

#[test]
fn openings_are_kept_once_and_the_middle_one_is_usual() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = book(dir.path(), "a", NOON);
    let mut view = view("claude", 500, 1);
    for tokens in [9, 5, 7] {
        view.openings.push(("claude".to_owned(), Opening { tokens, cost_musd: None }));
        a.write(&Spending::of(&view), NOON).unwrap();
    }
    let kept: BTreeMap<String, Vec<Opening>> = State::at(dir.path()).read(OPENINGS);
    assert_eq!(kept["claude"].len(), 3);
    assert_eq!(middle(&kept["claude"]).map(|o| o.tokens), Some(7));
    assert_eq!(middle(&[]), None);
}

#[test]
fn old_days_are_cleared_away_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::at(dir.path());
    for name in
        ["budget-2020-01-01.json", "budget-2020-01-01.json.lock", "openings.json", &file(&local_day(NOON).0)]
    {
        std::fs::write(state.path(name), "{}").unwrap();
    }
    prune(&state, NOON);
    let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [file(&local_day(NOON).0).as_str(), "openings.json"]);
}
