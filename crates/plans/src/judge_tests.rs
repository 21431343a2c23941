use super::*;

fn check(run: &str, judge: &str) -> Check {
    Check { run: run.to_owned(), judge: judge.parse().unwrap() }
}

fn passes(run: &str, wanted: &str, exit: i32, output: &str) -> bool {
    judge(&check(run, wanted), Outcome { exit: Some(exit), output }).passed
}

#[test]
fn p5_a_count_of_nothing_is_a_pass_although_grep_ends_with_1() {
    assert!(passes("grep -c x f", "count 0", 1, "0\n"));
    assert!(!passes("grep -c x f", "count 0", 0, "3\n"));
    assert!(passes("grep -rn x src", "count 0", 1, ""));
    assert!(passes("rg -c x src", "count 0", 1, ""));
}

#[test]
fn p5_a_command_that_could_not_look_is_no_count_of_nothing() {
    assert!(!passes("grep -c x gone", "count 0", 2, ""));
    assert!(!passes("grep -c x gone", "at most 3", 2, "0\n"));
    assert!(!passes("grpe -c x f", "count 0", 127, ""));
    assert!(!judge(&check("grep -c x f", "count 0"), Outcome { exit: None, output: "0" }).passed);
}

#[test]
fn p5_at_least_is_judged_by_number_by_lines_and_over_files() {
    assert!(passes("grep -c x f", "at least 2", 0, "2\n"));
    assert!(!passes("grep -c x f", "at least 2", 0, "1\n"));
    assert!(passes("grep x f", "at least 1", 0, "a x b\n"));
    assert!(!passes("grep x f", "at least 1", 1, ""));
    assert!(passes("grep -c x a b", "count 3", 0, "a:1\nb:2\n"));
    assert!(passes("grep 7 f", "count 1", 0, "77\n"), "a line that is a number is one line");
    assert!(passes("wc -l f", "at least 3", 0, "  4 f\n"));
    assert!(passes("find . | wc -l", "at most 3", 0, "3\n"));
}

#[test]
fn p5_an_exit_code_that_is_told_beats_that_of_the_telling() {
    let run = "bash t.sh 2>&1; echo EXIT:$?";
    assert!(passes(run, "EXIT:0", 0, "fine\nEXIT:0\n"));
    assert!(!passes(run, "EXIT:0", 0, "EXIT:0 was said\nEXIT:1\n"));
    assert!(passes("bash t.sh", "EXIT:0", 0, "quiet"));
    assert!(!passes("bash t.sh", "EXIT:0", 1, "quiet"));
}

#[test]
fn p5_codes_and_output_are_judged() {
    assert!(passes("cargo test", "exit 0", 0, "") && !passes("cargo test", "exit 0", 101, ""));
    assert!(passes("cargo test", "exit not 0", 1, "") && !passes("cargo test", "exit not 0", 0, ""));
    assert!(passes("cat v", "matches ^v[0-9]+$", 0, "v12") && !passes("cat v", "matches ^v[0-9]+$", 0, "x"));
    assert!(passes("cat v", "contains a b", 0, "xa bx") && !passes("cat v", "matches (", 0, "("));
}

#[test]
fn every_expectation_is_read_as_it_was_written() {
    for text in [
        "exit 0",
        "exit not 2",
        "EXIT:3",
        "count 0",
        "at least 12",
        "at most 1",
        "matches a b",
        "contains  x",
    ] {
        assert_eq!(text.parse::<Judge>().unwrap().to_string(), text);
    }
    for bad in ["", "exit", "count -1", "returns 3", "at least many"] {
        assert!(bad.parse::<Judge>().is_err(), "{bad}");
    }
}
