use super::*;
use crate::LongPrompt;

/// Dollars per million tokens: cache read, cache write, output.
fn price(read: f64, write: f64, output: f64, long: Option<(u64, f64)>) -> Price {
    let millionths = |dollars: f64| (dollars * 1e6) as u64;
    let rates = |factor: f64| Rates {
        input: millionths(write * factor),
        cache_read: millionths(read * factor),
        cache_write: millionths(write * factor),
        cache_write_1h: millionths(write * factor),
        output: millionths(output * factor),
    };
    let long = long.map(|(over, factor)| LongPrompt { over, rates: rates(factor) });
    Price { rates: rates(1.0), long, date: String::new(), source: String::new() }
}

fn opus() -> Price {
    price(0.5, 6.25, 25.0, None)
}

fn costs(price: &Price, window: u64) -> Costs<'_> {
    let ceiling = window - 23_000;
    Costs {
        price: Some(price),
        quality: Some(10_000_000),
        window,
        ends: ceiling / 100 * 88,
        ceiling,
        fill: 60_000,
        first: 40_000,
        growth: 1_500,
        reread: 15_000,
        to_go: None,
    }
}

/// Dollars for each call of work when every session is used up to `line`: call by call, as a provider would count.
fn counted(price: &Price, line: u64, first: u64, growth: u64, reread: u64) -> f64 {
    let at = |tokens: u64| {
        let long = price.long.as_ref().filter(|long| tokens > long.over);
        long.map_or(&price.rates, |long| &long.rates)
    };
    let (mut dollars, mut calls) = (0.0, 0_u32);
    let bill = |tokens: u64, rate: u64| tokens as f64 * rate as f64 / 1e12;
    // The new prompt, and the files that are read again, eight thousand tokens a call.
    let mut fill = first;
    dollars += bill(first, at(first).cache_write) + bill(1_500, price.rates.output);
    let mut left = reread;
    while left > 0 {
        let part = left.min(8_000);
        dollars += bill(fill, at(fill).cache_read) + bill(part, at(fill + part).cache_write);
        (fill, left) = (fill + part, left - part);
    }
    while calls == 0 || fill < line {
        dollars += bill(fill, at(fill).cache_read) + bill(growth, at(fill).cache_write);
        fill += growth;
        calls += 1;
    }
    dollars += bill(fill, at(fill).cache_read);
    dollars / f64::from(calls)
}

#[test]
fn the_lines_cost_within_eight_percent_of_the_best_line_there_is() {
    let prices = [
        ("opus", opus()),
        ("sonnet", price(0.1, 2.5, 10.0, None)),
        ("haiku", price(0.01, 0.125, 0.5, Some((100_000, 5.0)))),
        ("gpt", price(0.2, 2.5, 10.0, Some((272_000, 2.0)))),
        ("gemini", price(0.125, 1.25, 10.0, Some((200_000, 2.0)))),
        ("fable", price(1.0, 12.5, 50.0, None)),
    ];
    for (name, price) in &prices {
        for growth in [600, 1_500, 4_000] {
            for reread in [0, 15_000, 40_000] {
                // With a handful of calls below a step one more or less is more than these percent.
                if price.long.as_ref().is_some_and(|long| long.over < 40_000 + reread + 10 * growth) {
                    continue;
                }
                let known = Costs { growth, reread, ..costs(price, 1_000_000) };
                let bound = Economy::default().bound(&known).unwrap();
                let of = |line| counted(price, line, 40_000, growth, reread);
                let best = (60_000..860_000).step_by(2_000).map(of).fold(f64::MAX, f64::min);
                for line in [bound.soft, bound.soft.midpoint(bound.hard), bound.hard] {
                    let worse = of(line) / best;
                    assert!(
                        worse < 1.08,
                        "{name}, growth {growth}, again {reread}: {line} costs {worse:.3} ({bound:?})"
                    );
                }
            }
        }
    }
}

#[test]
fn a_window_of_a_million_is_worth_half_of_what_its_end_costs() {
    let price = opus();
    let bound = Economy::default().bound(&costs(&price, 1_000_000)).unwrap();
    let of = |line| counted(&price, line, 40_000, 1_500, 15_000);
    let share = of(bound.soft.midpoint(bound.hard)) / of(782_000);
    assert!(share <= 0.5, "{share:.2} {bound:?}");
    assert_eq!(bound.cause, Cause::Price);
}

#[test]
fn a_window_of_two_hundred_thousand_is_used_unless_much_is_saved() {
    let price = opus();
    let small = costs(&price, 200_000);
    assert_eq!(Economy { quality: Place::Off, ..Economy::default() }.bound(&small), None);
    // Cache reads that cost as much as fresh input: much is saved, and still not below 60 % of the ceiling.
    let dear = self::price(5.0, 6.25, 25.0, None);
    let known = Costs { price: Some(&dear), first: 12_000, reread: 0, ..small };
    let bound = Economy::default().bound(&known).unwrap();
    assert!(bound.soft >= 106_200 && bound.hard < known.ends, "{bound:?}");
}

#[test]
fn a_step_of_the_price_is_a_wall_and_one_call_stays_below_it() {
    let price = price(0.125, 1.25, 10.0, Some((200_000, 2.0)));
    let slow = Costs { growth: 3_000, reread: 60_000, ..costs(&price, 1_048_576) };
    let bound = Economy::default().bound(&slow).unwrap();
    assert_eq!((bound.cause, bound.hard), (Cause::Step, 197_000));
    assert!(bound.soft < bound.hard);
}

#[test]
fn a_handoff_that_will_not_pay_before_the_end_is_not_made() {
    let price = price(0.125, 1.25, 10.0, Some((200_000, 2.0)));
    let known = Costs { fill: 195_000, ..costs(&price, 1_048_576) };
    let off = Economy { quality: Place::Off, ..Economy::default() };
    assert!(off.bound(&known).is_some());
    assert_eq!(off.bound(&Costs { to_go: Some(2), ..known }), None);
    assert!(off.bound(&Costs { to_go: Some(400), ..known }).is_some());
}

#[test]
fn quality_and_what_somebody_set_are_lines_too_and_each_can_be_switched_off() {
    let price = opus();
    let known = Costs { price: None, quality: None, ..costs(&price, 1_000_000) };
    let economy = Economy::default();
    assert_eq!(economy.bound(&known).map(|b| (b.hard, b.cause)), Some((256_000, Cause::Quality)));
    assert_eq!(Economy { quality: Place::Off, ..economy }.bound(&known), None);
    assert_eq!(
        Economy { quality: Place::At(400_000), ..economy }.bound(&known).map(|b| b.hard),
        Some(400_000)
    );
    assert_eq!(
        Economy { most: Some(160_000), ..economy }.bound(&known).map(|b| (b.hard, b.cause)),
        Some((160_000, Cause::Set))
    );
    let priced = costs(&price, 1_000_000);
    assert_eq!(
        Economy { price: Place::At(300_000), ..economy }.bound(&priced).map(|b| (b.soft, b.hard)),
        Some((255_000, 300_000))
    );
    assert_eq!(Economy { price: Place::Off, ..economy }.bound(&priced), None);
}

#[test]
fn a_session_comes_to_some_work_however_low_a_line_is() {
    let price = opus();
    let known = Costs { first: 150_000, quality: Some(100_000), ..costs(&price, 1_000_000) };
    let bound = Economy::default().bound(&known).unwrap();
    assert!(bound.hard >= 170_000, "{bound:?}");
}

#[test]
fn an_expensive_successor_moves_the_line_up() {
    let price = opus();
    let of = |reread| Economy::default().bound(&Costs { reread, ..costs(&price, 1_000_000) }).unwrap();
    assert!(of(60_000).soft > of(2_000).soft + 40_000, "{:?} {:?}", of(60_000), of(2_000));
}

#[test]
fn what_a_handoff_is_worth_is_told_in_money_and_calls() {
    let price = opus();
    let worth = Costs { fill: 600_000, ..costs(&price, 1_000_000) }.worth().unwrap();
    // 600k read at $0.50 and 1,500 written at $6.25 a million.
    assert_eq!(worth.call_musd, 300_000 + 9_375);
    assert_eq!(worth.fresh_musd, 27_500 + 9_375);
    // 56,500 written, 1,500 of output, two calls of 40,000 read, and the question's own call: $0.74.
    assert_eq!(worth.pays_back, 3);
    assert_eq!(costs(&price, 1_000_000).worth().map(|w| w.pays_back > 100), Some(true));
    assert_eq!(Costs { fill: 50_000, ..costs(&price, 1_000_000) }.worth(), None);
}
