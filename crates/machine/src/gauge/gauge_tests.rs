use super::*;

fn gauge(window: u64) -> Gauge {
    Gauge::new(Some(window), None, None, Ratio::default())
}

fn percent(gauge: &Gauge) -> String {
    gauge.percent().map_or_else(|| "unknown".to_owned(), |p| p.to_string())
}

#[test]
fn m1_a_later_call_replaces_and_never_adds() {
    let mut gauge = gauge(200_000);
    gauge.read(&Reading::exact(2, 12_000, 185_000, 0));
    assert_eq!(percent(&gauge), "98.50%".replace("50", "5"));
    gauge.read(&Reading::exact(5, 100_000, 0, 0));
    assert_eq!(gauge.fill(), Some(100_005));
}

#[test]
fn m2_the_same_call_read_again_counts_once() {
    let mut gauge = gauge(200_000);
    let mut reading = Reading::exact(3, 0, 21_035, 1);
    reading.call = Some("msg_1".to_owned());
    assert_eq!(gauge.read(&reading), Taken::Call(1));
    for _ in 0..7 {
        assert_eq!(gauge.read(&reading), Taken::Again);
    }
    assert_eq!((gauge.calls(), gauge.fill()), (1, Some(21_039)));
}

#[test]
fn m4_a_configured_window_changes_the_percentage() {
    for (window, shown) in [(200_000, "50%"), (400_000, "25%"), (80_000, "125%")] {
        let mut gauge = gauge(window);
        gauge.read(&Reading::exact(100_000, 0, 0, 0));
        gauge.read(&Reading::exact(100_000, 0, 0, 0));
        assert_eq!(percent(&gauge), shown);
    }
}

#[test]
fn m4_no_window_is_unknown_and_alarms_nobody() {
    for window in [None, Some(0)] {
        let mut gauge = Gauge::new(window, None, None, Ratio::default());
        gauge.read(&Reading::exact(u64::MAX, 0, 0, 0));
        gauge.add(10_000);
        assert_eq!(gauge.percent(), None);
    }
}

#[test]
fn m6_side_calls_and_zeros_do_not_move_it() {
    let mut gauge = gauge(200_000);
    gauge.read(&Reading::exact(22_224, 0, 0, 10));
    let side = Reading { scope: Scope::Side, ..Reading::exact(11_857, 0, 0, 0) };
    assert_eq!(gauge.read(&side), Taken::Ignored);
    assert_eq!(gauge.read(&Reading::exact(0, 0, 0, 0)), Taken::Ignored);
    assert_eq!(gauge.tokens(), Some(22_234));
}

#[test]
fn m6_it_falls_after_a_compaction() {
    let mut gauge = gauge(200_000);
    gauge.read(&Reading::exact(150_000, 0, 0, 0));
    gauge.add(4_000);
    assert_eq!(gauge.read(&Reading::exact(40_000, 0, 0, 0)), Taken::Fell(2));
    assert_eq!(gauge.fill(), Some(40_000));
    gauge.reset();
    assert_eq!(gauge.fill(), None);
}

#[test]
fn m6_more_than_the_window_holds_is_not_believed_before_a_second_reading() {
    let mut gauge = gauge(200_000);
    gauge.read(&Reading::exact(20_000, 0, 0, 0));
    gauge.add(2_000);
    assert_eq!(gauge.read(&Reading::exact(1_432_262, 0, 0, 0)), Taken::Doubted);
    assert_eq!(gauge.read(&Reading::exact(200_001, 0, 0, 0)), Taken::Doubted);
    assert_eq!(gauge.tokens(), Some(20_000));
    assert_eq!(gauge.read(&Reading::exact(201_000, 0, 0, 0)), Taken::Call(2));
    assert_eq!(gauge.tokens(), Some(201_000));
}

#[test]
fn m6_what_the_window_can_hold_is_acted_on_at_once_whatever_its_source() {
    for reading in [Reading::exact(195_000, 0, 0, 0), Reading::reported(200_000, Some(200_000))] {
        let mut gauge = gauge(200_000);
        gauge.read(&Reading::exact(80_000, 0, 0, 0));
        gauge.add(10);
        assert_eq!(gauge.read(&reading), Taken::Call(2), "{reading:?}");
        assert_eq!(gauge.tokens(), Some(reading.fill()));
    }
    let mut budget = Gauge::new(Some(200_000), Some(177_000), Some(90_000), Ratio::default());
    budget.read(&Reading::exact(80_000, 0, 0, 0));
    budget.add(10);
    assert_eq!(budget.read(&Reading::exact(195_000, 0, 0, 0)), Taken::Call(2), "a budget is no window");
}

#[test]
fn m8_one_result_can_jump_most_of_a_window_before_the_next_call() {
    let mut gauge = gauge(200_000);
    gauge.read(&Reading::exact(40_000, 0, 0, 0));
    gauge.add(384_000);
    assert_eq!(gauge.fill(), Some(160_000));
}

#[test]
fn a_gauge_without_readings_estimates_and_says_so() {
    let mut gauge = gauge(100_000);
    assert_eq!(gauge.source(), Source::None);
    gauge.add(32_000);
    assert_eq!((gauge.source(), gauge.fill()), (Source::Estimated, Some(10_000)));
    gauge.read(&Reading::reported(9_000, None));
    assert_eq!((gauge.source(), gauge.fill()), (Source::Reported, Some(9_000)));
}

#[test]
fn a_budget_or_the_agents_own_wall_lowers_the_ceiling() {
    let wall = Gauge::new(Some(200_000), Some(177_000), None, Ratio::default());
    assert_eq!(wall.ceiling(), Some(177_000));
    let budget = Gauge::new(Some(200_000), Some(177_000), Some(120_000), Ratio::default());
    assert_eq!(budget.ceiling(), Some(120_000));
    assert_eq!(Gauge::new(None, None, None, Ratio::default()).ceiling(), None);
}

#[test]
fn tokens_are_read_as_people_write_them() {
    for (text, tokens) in
        [("200000", 200_000), ("200k", 200_000), ("1M", 1_000_000), ("1.5m", 1_500_000), ("32_768", 32_768)]
    {
        assert_eq!(parse_tokens(text), Some(tokens), "{text}");
    }
    for text in ["", "k", "-5", "-5k", "abc", "NaNk", "infk"] {
        assert_eq!(parse_tokens(text), None, "{text}");
    }
}

#[test]
fn what_was_told_before_a_reading_and_came_after_its_call_is_still_to_come() {
    let mut gauge = gauge(100_000);
    gauge.read(&Reading::exact(10_000, 0, 0, 0));
    let before = gauge.ratio();
    gauge.add(4_000);
    gauge.add(20_000);
    gauge.read(&Reading { chars_after: 20_000, ..Reading::exact(11_000, 0, 0, 0) });
    assert_eq!(gauge.tokens(), Some(11_000));
    assert_eq!(gauge.projected(), Some(11_000 + gauge.ratio().tokens(20_000)));
    let mut learned = before;
    learned.learn(4_000, 4_000, 1_000);
    assert_eq!(gauge.ratio(), learned, "only what the call holds teaches");
}

#[test]
fn an_agent_that_tells_nothing_is_given_what_nobody_sees_and_a_lower_ceiling() {
    let mut gauge = gauge(100_000);
    gauge.add(32_000);
    assert_eq!((gauge.fill(), gauge.ceiling()), (Some(10_000), Some(100_000)));
    gauge.go_blind();
    assert_eq!(
        (gauge.fill(), gauge.ceiling(), percent(&gauge)),
        (Some(30_000), Some(80_000), "37.5%".into())
    );
    assert_eq!((gauge.source(), gauge.window()), (Source::Estimated, Some(100_000)));
    gauge.read(&Reading::reported(9_000, None));
    gauge.go_blind();
    assert_eq!((gauge.fill(), gauge.ceiling()), (Some(9_000), Some(100_000)));
    let mut small = Gauge::new(Some(40_000), None, None, Ratio::default());
    small.add(3_200);
    small.go_blind();
    assert_eq!((small.fill(), small.ceiling()), (Some(11_000), Some(32_000)));
}
