//! Every fault of the scripted agent, as a client sees it.

use agent_client_protocol_schema::v1::{SessionUpdate, StopReason, ToolCallStatus};

use segue_rehearsal::script::{Fault, FaultKind, Script};

use crate::client::{Client, Heard, Place, reason, tool_ends, words};

fn faulty(place: &Place, kind: FaultKind) -> Script {
    Script { faults: vec![Fault { at_step: 2, session: None, kind }], ..place.script() }
}

fn to_the_end(client: &mut Client) -> Vec<Heard> {
    let mut all = Vec::new();
    loop {
        let heard = client.hear();
        if matches!(heard, Heard::End) {
            return all;
        }
        all.push(heard);
    }
}

#[test]
fn a_crash_ends_the_process_before_the_step() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::Crash));
    client.prompt(&place.job.task_text());
    assert!(!to_the_end(&mut client).iter().any(|h| matches!(h, Heard::Answer(..))));
    assert_eq!((place.log().distinct_done(), client.end()), ([1].into(), 101));
}

#[test]
fn e1_half_a_line_is_the_last_thing_heard() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::HalfLineExit));
    client.prompt(&place.job.task_text());
    let all = to_the_end(&mut client);
    assert!(matches!(all.last(), Some(Heard::Unreadable(line)) if !line.ends_with(b"\n")));
    assert_eq!(client.end(), 1);
}

#[test]
fn a_fault_of_the_first_session_spares_the_second() {
    let place = Place::new(3);
    let fault = Fault { at_step: 2, session: Some(1), kind: FaultKind::Crash };
    let script = Script { faults: vec![fault], ..place.script() };
    let mut client = Client::start(&place, script.clone());
    client.prompt(&place.job.task_text());
    to_the_end(&mut client);
    assert_eq!(client.end(), 101);
    let mut client = Client::start(&place, script);
    let (_, why) = client.turn(&format!("Files added: parts/01.txt\n\n{}", place.job.task_text()));
    assert_eq!(why, StopReason::EndTurn);
    assert!(place.gate_is_green() && place.log().started_twice().is_empty());
}

#[test]
fn a_hanging_tool_ends_with_a_cancel() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::Hang));
    let id = client.prompt(&place.job.task_text());
    client.until_tool();
    client.until_tool();
    client.cancel();
    let (updates, result) = client.answer(id);
    assert_eq!((reason(result), tool_ends(&updates)), (StopReason::Cancelled, vec![ToolCallStatus::Failed]));
}

#[test]
fn a_hanging_tool_ends_with_the_agent() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::Hang));
    client.prompt(&place.job.task_text());
    client.until_tool();
    client.until_tool();
    assert_eq!(client.end(), 0);
}

#[test]
fn e1_silence_answers_nothing_and_ends_with_the_input() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::Silent));
    client.prompt(&place.job.task_text());
    while place.log().calls().len() < 2 {
        std::thread::yield_now();
    }
    client.close_input();
    assert!(!to_the_end(&mut client).iter().any(|h| matches!(h, Heard::Answer(..))));
    assert_eq!(client.end(), 0);
}

#[test]
fn e1_broken_lines_come_between_good_ones() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::BrokenJson));
    let id = client.prompt(&place.job.task_text());
    let mut unreadable = 0;
    loop {
        match client.hear() {
            Heard::Unreadable(_) => unreadable += 1,
            Heard::Answer(answered, result) if answered == id => {
                break assert_eq!(reason(result), StopReason::EndTurn);
            }
            Heard::Update(_) | Heard::Permission(..) | Heard::Answer(..) | Heard::End => {}
        }
    }
    assert_eq!(unreadable, 4);
    assert!(place.gate_is_green());
}

#[test]
fn e1_a_huge_line_and_a_flood_pass_and_the_work_goes_on() {
    for (kind, least) in [(FaultKind::HugeLine, 3_000_000), (FaultKind::Flood, 50_000_000)] {
        let place = Place::new(2);
        let mut client = Client::start(&place, faulty(&place, kind));
        let (updates, why) = client.turn(&place.job.task_text());
        assert_eq!(why, StopReason::EndTurn);
        assert!(words(&updates).len() > least && place.gate_is_green());
    }
}

#[test]
fn a_lie_is_claimed_and_not_done() {
    let place = Place::new(3);
    let mut client = Client::start(&place, faulty(&place, FaultKind::Lie));
    let (updates, why) = client.turn(&place.job.task_text());
    assert_eq!((why, place.log().lost(3)), (StopReason::EndTurn, [2].into()));
    assert!(words(&updates).contains("Created src/ghost.rs") && words(&updates).contains("LOOP_COMPLETE"));
    assert!(!place.gate_is_green() && !place.work().join("src/ghost.rs").exists());
    let (updates, _) = client.turn("[segue: checkpoint request]\n<checkpoint>");
    assert!(
        words(&updates).contains("- step 2: write part 2\n- step 3: write part 3\n- Created src/ghost.rs")
    );
}

#[test]
fn an_agent_that_ignores_the_end_of_its_input_finishes_its_turn() {
    let place = Place::new(3);
    let mut client = Client::start(&place, Script { ignore_eof: true, step_ms: 20, ..place.script() });
    let id = client.prompt(&place.job.task_text());
    client.until_tool();
    client.close_input();
    assert_eq!(reason(client.answer(id).1), StopReason::EndTurn);
    assert!(place.gate_is_green());
}

#[test]
fn a_detached_tool_outlives_its_agent() {
    let place = Place::new(1);
    let mut client = Client::start(&place, Script { detach_tools: true, step_ms: 200, ..place.script() });
    client.prompt(&place.job.task_text());
    client.until_tool();
    assert_eq!(client.end(), 0);
    while place.log().distinct_done().is_empty() {
        std::thread::yield_now();
    }
    assert!(place.gate_is_green());
}

#[test]
fn updates_of_a_turn_belong_to_known_kinds_only() {
    let place = Place::new(2);
    let mut client = Client::start(&place, place.script());
    let (updates, _) = client.turn(&place.job.task_text());
    for update in &updates {
        assert!(matches!(
            update,
            SessionUpdate::AgentMessageChunk(_)
                | SessionUpdate::ToolCall(_)
                | SessionUpdate::ToolCallUpdate(_)
                | SessionUpdate::Plan(_)
                | SessionUpdate::UsageUpdate(_)
        ));
    }
}
