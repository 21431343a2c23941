use super::*;

fn ids(text: &str) -> Vec<String> {
    needed(text).into_iter().map(|n| n.id).collect()
}

#[test]
fn p4_ids_of_every_shape_are_found_in_headings() {
    let read = |title| heading(title).unwrap();
    let pair = |id: &str, title: &str| (id.to_owned(), title.to_owned());
    assert_eq!(read("Context Monitoring Phase 4: Smart Restart"), pair("4", "Smart Restart"));
    assert_eq!(read("Phase 16 Plan: Exhaustion"), pair("16", "Exhaustion"));
    assert_eq!(read("Plan: Phase 3 -- Tests"), pair("3", "Tests"));
    assert_eq!(read("Phase 6D – Sessions"), pair("6D", "Sessions"));
    assert_eq!(read("Phase 26.2: **Bold** [x](y)"), pair("26.2", "Bold x"));
    assert_eq!(read("phase 20a"), pair("20a", ""));
    assert_eq!(read("Phase 3.1. Lists"), pair("3.1", "Lists"));
    assert_eq!(read("Emphases Phase B"), pair("B", "Emphases"));
    assert_eq!(heading("Phases"), None);
    assert_eq!(heading("Phase Details"), None);
    assert_eq!(heading("Phase"), None);
}

#[test]
fn p4_linked_and_absent_dependencies_are_read() {
    assert_eq!(ids("[Phase 1](a-phase-1.md), [Phase 2](a-phase-2.md)"), ["1", "2"]);
    assert_eq!(ids("[phase-6D.md](phase-6D.md)"), ["6D"]);
    assert_eq!(ids("[Phase 2: Auth (core)](t-phase-2.md)"), ["2"]);
    for none in ["N/A", "None (can run independently)", "Nothing (first phase)", "—", "", "n/a (first)", "-"]
    {
        assert_eq!(ids(none), [""; 0], "{none}");
    }
}

#[test]
fn lists_and_ranges_of_phases_are_read() {
    assert_eq!(ids("Phases 1-3"), ["1", "2", "3"]);
    assert_eq!(ids("Phase 1 through 3 and Phase 6D"), ["1", "2", "3", "6D"]);
    assert_eq!(ids("ALL (1, 2, 3) - integrates"), ["1", "2", "3"]);
    assert_eq!(ids("Phase 1, Phase 2.1"), ["1", "2.1"]);
    assert_eq!(ids("01-02"), ["01-02"]);
    assert_eq!(ids("v1.0 Core"), [""; 0]);
    assert_eq!(ids(&format!("Phase{}", "İ".repeat(9))), [""; 0], "whose lower case is longer");
    assert_eq!(ids("Phase 17 (v1.1 complete), Phase 18"), ["18"]);
}

#[test]
fn ids_are_the_same_whatever_their_zeros_and_case() {
    assert!(same("01-02", "1-2") && same("6D", "6d") && same("Phase 3", "03") && same("10", "10"));
    assert!(same("01-02-PLAN.md", "01-02") && same("0", "00"));
    assert!(!same("1", "10") && !same("1.1", "11") && !same("1-1", "1.1"));
}

#[test]
fn numbers_in_front_of_items_are_read() {
    let read = |text| numbered(text).map(|(id, title)| format!("{id}|{title}"));
    assert_eq!(read("1.10: Add x").as_deref(), Some("1.10|Add x"));
    assert_eq!(read("T001 [P] Make it").as_deref(), Some("T001|[P] Make it"));
    assert_eq!(read("**T01: Make it** `est:30m`").as_deref(), Some("T01|Make it `est:30m`"));
    assert_eq!(read("Task 1: Make it").as_deref(), Some("1|Make it"));
    assert_eq!(read("1.1 Make it").as_deref(), Some("1.1|Make it"));
    assert_eq!(read("2. Make it").as_deref(), Some("2|Make it"));
    assert_eq!(read("**Step 1: Write it**").as_deref(), Some("1|Write it"));
    assert_eq!(read("14+ tests pass"), None);
    assert_eq!(read("3 files changed"), None);
    assert_eq!(read("All done"), None);
}
