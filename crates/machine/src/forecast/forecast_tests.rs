use super::*;

fn session(grows: &[u64]) -> Forecast {
    let mut forecast = Forecast::new(None);
    let mut tokens = 40_000;
    forecast.read(1, None, tokens, 0, 0);
    for (n, grown) in grows.iter().enumerate() {
        let before = tokens;
        tokens += grown;
        forecast.read(n as u32 + 2, Some(before), tokens, 0, (n as u64 + 1) * 30_000);
    }
    forecast
}

#[test]
fn before_anything_was_seen_it_is_what_was_measured_elsewhere() {
    let forecast = Forecast::new(None);
    assert!(!forecast.is_there());
    let largest = forecast.largest(10);
    assert!((28_000..36_000).contains(&largest), "{largest}");
    let five = forecast.growth();
    assert!((3_500..7_000).contains(&five.middle) && five.high > 12_000, "{five:?}");
}

#[test]
fn a_steady_session_is_learned_within_a_few_calls() {
    let forecast = session(&[1_000; 20]);
    let five = forecast.growth();
    assert!(forecast.is_there() && five.middle.abs_diff(5_000) < 600, "{five:?}");
    assert!(five.low > 3_000 && five.high < 9_000, "{five:?}");
}

#[test]
fn a_result_that_is_waiting_is_part_of_the_growth() {
    let mut forecast = session(&[1_000; 20]);
    let before = forecast.growth();
    forecast.add_pending(30_000);
    let after = forecast.growth();
    assert!(after.low > before.high && after.middle.abs_diff(before.middle + 30_000) < 3_000, "{after:?}");
}

#[test]
fn a_quiet_session_still_keeps_room_for_a_large_result() {
    let forecast = session(&[100; 60]);
    assert!(forecast.largest(10) > 5_000, "{}", forecast.largest(10));
    assert!(forecast.growth().high < 3_000, "{:?}", forecast.growth());
}

#[test]
fn calls_and_pace_left_follow_the_session() {
    let forecast = session(&[1_000; 30]);
    let left = forecast.calls_left(20_000);
    assert!(left.low <= 20 && 20 <= left.high && left.middle.abs_diff(20) <= 4, "{left:?}");
    assert!(left.low >= 8 && left.high <= 50, "{left:?}");
    assert_eq!(forecast.pace_ms(), Some(30_000));
    assert_eq!(forecast.calls_left(0), CallsLeft { low: 0, middle: 0, high: 0 });
}

#[test]
fn a_pause_over_night_hardly_moves_the_pace() {
    let mut forecast = session(&[1_000; 30]);
    forecast.read(32, Some(70_000), 71_000, 0, 40_000_000);
    assert!(forecast.pace_ms().unwrap() < 45_000, "{:?}", forecast.pace_ms());
}

#[test]
fn a_repositorys_history_is_used_from_200_calls_on() {
    let mut growth = Growth::default();
    (0..199).for_each(|_| growth.count(9_000));
    assert_eq!(Forecast::new(Some(&growth)).basis(), Basis::Session);
    growth.count(9_000);
    let forecast = Forecast::new(Some(&growth));
    assert_eq!((forecast.basis(), forecast.is_there()), (Basis::Repository(200), true));
    assert!(forecast.growth().middle.abs_diff(45_000) < 4_000, "{:?}", forecast.growth());
}

#[test]
fn a_history_never_grows_without_end() {
    let mut growth = Growth::default();
    let mut session = Growth::default();
    (0..3_000).for_each(|_| session.count(600));
    (0..100).for_each(|_| growth.merge(&session));
    assert!(growth.calls() <= 23_000 && growth.calls() == growth.sketch().total(), "{}", growth.calls());
}

#[test]
fn absurd_figures_do_no_harm() {
    let mut forecast = session(&[u64::MAX / 4, 0, u64::MAX / 2]);
    forecast.add_pending(u64::MAX);
    forecast.add_pending(u64::MAX);
    let five = forecast.growth();
    assert!(five.low <= five.middle && five.middle <= five.high);
    forecast.calls_left(u64::MAX);
}
