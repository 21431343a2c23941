use super::*;

const NOW: Millis = 1_000_000_000;

fn agent(name: &str) -> AgentSpec {
    AgentSpec { name: name.to_owned(), ..AgentSpec::default() }
}

fn fail(before: Option<&Circuit>, failure: AgentFailure, retry: Option<Retry>, now: Millis) -> Circuit {
    let blow = Blow { failure, retry, said: "no", now, seed: 7 };
    Circuit::after(&agent("a"), before, blow, &WaitRules::default()).unwrap()
}

/// The pauses of so many failures in a row.
fn pauses(failure: AgentFailure, count: usize) -> Vec<u64> {
    let (mut circuit, mut now, mut pauses) = (None::<Circuit>, NOW, Vec::new());
    for _ in 0..count {
        let next = fail(circuit.as_ref(), failure, None, now);
        let until = next.until.unwrap();
        pauses.push(until - now);
        now = until;
        circuit = Some(next);
    }
    pauses
}

#[test]
fn pauses_double_up_to_the_most_and_are_never_shorter_than_said() {
    for (failure, first, most) in [
        (AgentFailure::Overloaded, 5_000, 300_000),
        (AgentFailure::Network, 5_000, 300_000),
        (AgentFailure::RateLimited, 15_000, 900_000),
    ] {
        for (n, pause) in pauses(failure, 70).into_iter().enumerate() {
            let base = most.min(first << n.min(20));
            assert!((base..=base + base / 4).contains(&pause), "{failure:?} {n}: {pause}");
        }
    }
}

#[test]
fn the_same_run_draws_the_same_pauses_and_another_run_others() {
    let until = |seed| {
        let blow = Blow { failure: AgentFailure::Overloaded, retry: None, said: "", now: NOW, seed };
        Circuit::after(&agent("a"), None, blow, &WaitRules::default()).unwrap().until
    };
    assert_eq!(until(1), until(1));
    assert!((0..20).any(|seed| until(seed) != until(1)));
}

#[test]
fn a_time_that_is_told_is_kept_with_a_margin_and_one_that_cannot_be_meant_is_not() {
    let until = |retry| fail(None, AgentFailure::RateLimited, Some(retry), NOW).until.unwrap();
    assert_eq!(until(Retry::After(20_000)), NOW + 21_000);
    assert_eq!(until(Retry::At(NOW + 3_600_000)), NOW + 3_601_000);
    for retry in [Retry::At(NOW), Retry::At(5), Retry::At(u64::MAX), Retry::After(u64::MAX), Retry::After(0)]
    {
        assert!((NOW + 15_000..NOW + 19_000).contains(&until(retry)), "{retry:?}");
    }
}

#[test]
fn a_time_that_did_not_hold_is_not_believed_alone() {
    let mut circuit = fail(None, AgentFailure::RateLimited, Some(Retry::After(1_000)), NOW);
    for n in 2..6 {
        let now = circuit.until.unwrap();
        circuit = fail(Some(&circuit), AgentFailure::RateLimited, Some(Retry::After(1_000)), now);
        assert!(circuit.until.unwrap() >= now + (15_000 << (n - 1)), "{n}");
    }
}

#[test]
fn what_only_a_person_can_mend_stays_open_and_the_rest_closes_by_itself() {
    for failure in [AgentFailure::Unauthorised, AgentFailure::BadModel, AgentFailure::Refused] {
        let circuit = fail(None, failure, Some(Retry::After(5)), NOW);
        assert!(circuit.until.is_none() && circuit.is_open(u64::MAX) && circuit.worth_waiting().is_none());
    }
    assert_eq!(fail(None, AgentFailure::Quota, None, NOW).worth_waiting(), None);
    let circuit = fail(None, AgentFailure::Quota, Some(Retry::After(5_000)), NOW);
    assert!(circuit.is_open(NOW + 5_999) && !circuit.is_open(NOW + 6_000));
}

#[test]
fn a_bad_model_concerns_its_agent_and_a_rate_limit_the_whole_account() {
    let shared = |name: &str| AgentSpec { account: Some("team".to_owned()), ..agent(name) };
    let after = |failure| {
        let blow = Blow { failure, retry: None, said: "", now: NOW, seed: 0 };
        Circuit::after(&shared("a"), None, blow, &WaitRules::default()).unwrap()
    };
    assert!(after(AgentFailure::RateLimited).concerns(&shared("b")));
    assert!(!after(AgentFailure::RateLimited).concerns(&agent("a")));
    assert!(after(AgentFailure::BadModel).concerns(&shared("a")));
    assert!(!after(AgentFailure::BadModel).concerns(&shared("b")));
}

#[test]
fn the_network_is_given_up_after_some_tries_and_an_agent_that_is_busy_is_left_after_a_few() {
    let with = |failure, failures| Circuit { failures, ..fail(None, failure, None, NOW) };
    assert!(with(AgentFailure::Network, 8).worth_waiting().is_some());
    assert!(with(AgentFailure::Network, 9).worth_waiting().is_none());
    let rules = WaitRules::default();
    assert!(!with(AgentFailure::Overloaded, 2).leaves(NOW, &rules));
    assert!(with(AgentFailure::Overloaded, 3).leaves(NOW, &rules));
}

#[test]
fn a_short_rate_limit_is_waited_for_and_a_long_one_left_unless_waiting_is_wanted() {
    let rules = WaitRules::default();
    let limited = |ms| fail(None, AgentFailure::RateLimited, Some(Retry::After(ms)), NOW);
    assert!(!limited(30_000).leaves(NOW, &rules) && limited(120_000).leaves(NOW, &rules));
    let waits = WaitRules { on_rate_limit: crate::OnRateLimit::Wait, ..rules };
    assert!(!limited(120_000).leaves(NOW, &waits));
}

#[test]
fn it_tells_what_is_wrong_and_until_when() {
    let rules = WaitRules::default();
    let noon = 1_769_860_800_000;
    let limited = fail(None, AgentFailure::RateLimited, Some(Retry::At(noon + 3_600_000)), noon);
    assert_eq!(limited.words(noon, &rules), "rate limited until 13:00");
    assert_eq!(fail(None, AgentFailure::Unauthorised, None, noon).words(noon, &rules), "not authorised (no)");
}
