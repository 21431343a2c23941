//! What the worker answers to which conversation.

use serde_json::json;

use super::*;
use crate::job::Job;
use crate::model_server::answer::Input;
use crate::model_server::conversation::{Takes, Tool};
use crate::model_server::script::{Chore, StepHabit};
use crate::script::CheckpointHabit;

fn tool(name: &str, properties: &[&str]) -> Tool {
    let properties = properties.iter().map(|p| ((*p).to_owned(), json!({ "type": "string" }))).collect();
    Tool { name: name.to_owned(), takes: Takes::Object(properties) }
}

fn asked(prompts: &[&str]) -> Conversation {
    let mut conversation = Conversation {
        tools: vec![
            tool("Bash", &["command", "description"]),
            tool("Agent", &["prompt", "subagent_type", "run_in_background"]),
        ],
        ..Conversation::default()
    };
    for prompt in prompts {
        conversation.user(prompt);
    }
    conversation
}

fn commands(answer: &Answer) -> Vec<String> {
    let command = |call: &Call| match &call.input {
        Input::Object(value) => value["command"].as_str().unwrap_or_default().to_owned(),
        Input::Text(text) => text.clone(),
    };
    answer.calls.iter().map(command).collect()
}

/// Puts an answer and what its tools print into the conversation.
fn play(conversation: &mut Conversation, answer: &Answer) {
    conversation.agent(&answer.text);
    for call in &answer.calls {
        conversation.call(&call.name, &call.input.text());
    }
    for step in &answer.steps {
        conversation.result(&format!("step {step} done\n"));
    }
}

fn task(steps: u32) -> String {
    Job { steps }.task_text()
}

#[test]
fn a_whole_job_is_done_step_by_step_and_then_it_says_so() {
    let mut conversation = asked(&[&task(5)]);
    let options = PersonaOptions::default();
    for step in 1..=5 {
        let answer = answer(&conversation, &options);
        assert_eq!(
            (answer.thread, answer.kind, answer.steps.as_slice()),
            (Thread::Main, Kind::Work, &[step][..])
        );
        assert_eq!(commands(&answer), [format!("sh step.sh {step}")]);
        play(&mut conversation, &answer);
    }
    let last = answer(&conversation, &options);
    assert_eq!(
        (last.text.as_str(), last.calls.len()),
        ("All 5 steps are done. LOOP_COMPLETE\n\nSTATUS: done", 0)
    );
}

#[test]
fn several_steps_go_out_in_one_answer_and_no_more_than_are_open() {
    let mut conversation = asked(&[&task(5)]);
    let options = PersonaOptions { parallel: 3, ..PersonaOptions::default() };
    let first = answer(&conversation, &options);
    assert_eq!((first.steps.as_slice(), first.calls.len()), (&[1, 2, 3][..], 3));
    play(&mut conversation, &first);
    assert_eq!(answer(&conversation, &options).steps, [4, 5]);
}

#[test]
fn a_checkpoint_is_written_when_it_is_due_and_only_then() {
    let request = format!("{CHECKPOINT_REQUEST}\nYour window is full.\n## Completed Work\n- step 5");
    let mut conversation = asked(&[&task(3)]);
    let options = PersonaOptions::default();
    let first = answer(&conversation, &options);
    play(&mut conversation, &first);
    let mut reminded = conversation.clone();
    conversation.user(&request);
    let taken = answer(&conversation, &options);
    assert_eq!((taken.kind, taken.thread), (Kind::Checkpoint, Thread::Main));
    assert!(taken.text.contains("<checkpoint>") && taken.text.contains("- step 2: write part 2"));
    assert!(taken.text.contains("## Completed Work\n- step 1: write part 1\n## Remaining"));

    let mut cut_off = conversation.clone();
    cut_off.agent("<checkpoint>\n## Goal");
    cut_off.user("Your response above was cut off mid-stream. Resume directly from where it stops.");
    assert_eq!(answer(&cut_off, &options).text, taken.text);

    let ignoring = PersonaOptions { checkpoint: CheckpointHabit::Ignore, ..PersonaOptions::default() };
    assert_eq!(answer(&conversation, &ignoring).steps, [2]);

    play(&mut conversation, &taken);
    conversation.user("[segue: go on]\nThe checkpoint is stored. Go on with the work where you left it.");
    assert_eq!(answer(&conversation, &options).steps, [2]);

    reminded.user(&format!("<system-reminder>The user sent a new message: {request}</system-reminder>"));
    assert_eq!(answer(&reminded, &options).kind, Kind::Checkpoint);
}

#[test]
fn a_continuation_goes_on_and_a_failed_gate_is_mended() {
    let first = asked(&[&task(4)]);
    let mut belief = believe(&first.turns);
    belief.done.extend([1, 2]);
    let prompt = format!(
        "The work was begun in an earlier session.\n\n{}\n\n## Task\n{}",
        belief.checkpoint(true),
        task(4)
    );
    let mut conversation = asked(&[&prompt]);
    let options = PersonaOptions::default();
    assert_eq!(answer(&conversation, &options).steps, [3]);
    for step in [3, 4] {
        conversation.result(&format!("step {step} done"));
    }
    assert!(answer(&conversation, &options).calls.is_empty());
    conversation.user("The work is not done yet: these checks failed.\nmissing: parts/02.txt\n");
    assert_eq!(answer(&conversation, &options).steps, [2]);
}

#[test]
fn a_sub_agent_gets_the_command_and_its_answer_closes_the_step() {
    let habit = StepHabit { subagent: true, ..StepHabit::default() };
    let options = PersonaOptions { steps: [(1, habit)].into(), ..PersonaOptions::default() };
    let mut main = asked(&[&task(2)]);
    let given = answer(&main, &options);
    let [call] = given.calls.as_slice() else { panic!("one call") };
    let Input::Object(input) = &call.input else { panic!("an object") };
    assert_eq!((call.name.as_str(), &input["run_in_background"]), ("Agent", &json!(false)));

    let mut side = asked(&["<system-reminder>context</system-reminder>", input["prompt"].as_str().unwrap()]);
    let runs = answer(&side, &options);
    assert_eq!((runs.thread, commands(&runs)), (Thread::Side, vec!["sh step.sh 1".to_owned()]));
    side.call("Bash", "{}");
    side.result("step 1 done\n");
    let told = answer(&side, &options);
    assert_eq!((told.thread, told.text.as_str()), (Thread::Side, "step 1 done\n"));

    main.call("Agent", &call.input.text());
    main.result(&told.text);
    assert_eq!(answer(&main, &options).steps, [2]);
}

#[test]
fn a_summary_keeps_the_list_and_what_is_done() {
    let mut conversation = asked(&[&task(3)]);
    let options = PersonaOptions::default();
    let first = answer(&conversation, &options);
    play(&mut conversation, &first);
    conversation.user("Your task is to create a detailed summary of the conversation so far.");
    let summary = answer(&conversation, &options);
    assert_eq!((summary.thread, summary.kind), (Thread::Side, Kind::Compact));
    let after = asked(&[&format!("This session is being continued. {}", summary.text)]);
    assert_eq!(believe(&after.turns).listed.len(), 3);
    assert_eq!(answer(&after, &options).steps, [2]);
}

#[test]
fn it_gives_up_after_three_failures_and_tries_again_when_asked() {
    let mut conversation = asked(&[&task(2)]);
    let options = PersonaOptions::default();
    for _ in 0..3 {
        let next = answer(&conversation, &options);
        conversation.call("Bash", &next.calls[0].input.text());
        conversation.result("sh: 0: cannot open step.sh");
    }
    assert!(answer(&conversation, &options).text.contains("failed 3 times"));
    conversation.user("Try again.");
    assert_eq!(answer(&conversation, &options).steps, [1]);
}

#[test]
fn errands_of_the_cli_get_a_short_answer() {
    let plain = |prompt: &str| Conversation { tools: Vec::new(), ..asked(&[prompt]) };
    let options = PersonaOptions::default();
    let kind = |conversation: &Conversation| answer(conversation, &options).kind;
    assert_eq!(kind(&plain("Generate a concise title for this conversation")), Kind::Title);
    assert_eq!(kind(&plain("hello")), Kind::Probe);
    assert_eq!(kind(&Conversation { max_tokens: Some(1), ..asked(&["quota"]) }), Kind::Probe);
    let schema = json!({ "properties": { "title": {} } });
    let titled = Conversation { schema: Some(schema), ..plain("x") };
    assert_eq!(answer(&titled, &options).text, r#"{"title":"Write the parts"}"#);
    assert!(answer(&asked(&["hello"]), &options).text.contains("no list"));
}

#[test]
fn long_answers_have_the_size_that_was_asked_for() {
    let every = StepHabit { say_chars: 5_000, ..StepHabit::default() };
    let options = PersonaOptions { every, ..PersonaOptions::default() };
    let long = answer(&asked(&[&task(2)]), &options);
    assert_eq!(long.text.len(), 5_000);
    assert!(long.tokens() > 1_250);
}

#[test]
fn questions_beside_the_conversation_are_answered_in_the_shape_they_ask_for() {
    let speaker = json!({ "type": "object", "properties": {
        "reasoning": { "type": "string" },
        "next_speaker": { "type": "string", "enum": ["user", "model"] },
    } });
    let options = PersonaOptions::default();
    let asked_with = |tools, schema| Conversation { tools, schema, ..asked(&[&task(3)]) };
    let checked = answer(&asked_with(Vec::new(), Some(speaker.clone())), &options);
    assert_eq!((checked.thread, checked.kind), (Thread::Side, Kind::Check));
    let value: serde_json::Value = serde_json::from_str(&checked.text).unwrap();
    assert_eq!(value["next_speaker"], "user");

    let takes = Takes::Object(speaker["properties"].clone());
    let called =
        answer(&asked_with(vec![Tool { name: "respond_in_schema".to_owned(), takes }], None), &options);
    assert_eq!((called.thread, called.kind, called.steps.len()), (Thread::Side, Kind::Check, 0));
    assert!(called.calls[0].input.text().contains(r#""next_speaker":"user""#));

    let mut titled = asked_with(Vec::new(), None);
    titled.user("Generate a title for this conversation:\n");
    assert_eq!(answer(&titled, &options).kind, Kind::Title);
}

#[test]
fn a_conversation_that_is_written_down_for_a_summary_is_read() {
    let request = format!(
        "Here is the conversation so far:\n\n<conversation>\n[User]: \"{}\"\n\n[Assistant tool call]: bash({{\"command\":\
         \"sh step.sh 3\"}})\n[Tool result]: step 1 done\n</conversation>\n\nHere is the summary before it:\n\
         <prior-summary>\n- [x] step 2: write part 2\n</prior-summary>\n## Completed\n- step 3",
        task(3)
    );
    let conversation = Conversation { tools: Vec::new(), ..asked(&[&request]) };
    let summary = answer(&conversation, &PersonaOptions::default());
    assert_eq!((summary.thread, summary.kind), (Thread::Side, Kind::Compact));
    let mut after = asked(&["What did we do so far?"]);
    after.agent(&summary.text);
    after.user("Continue if you have next steps.");
    assert_eq!(answer(&after, &PersonaOptions::default()).steps, [3]);
}

#[test]
fn commands_have_nothing_that_a_careful_shell_tool_refuses() {
    let every = StepHabit { output_chars: 500, sleep_ms: 20, think_tokens: 70, ..StepHabit::default() };
    let options =
        PersonaOptions { every, step_log: Some("/tmp/a b/log".into()), ..PersonaOptions::default() };
    for name in ["run_shell_command", "bash"] {
        let tools = vec![tool(name, &["command", "description"])];
        let next = answer(&Conversation { tools, ..asked(&[&task(2)]) }, &options);
        let words: u64 = (next.text.len() + name.len() + next.calls[0].input.text().len()) as u64;
        assert_eq!(next.tokens(), words.div_ceil(4) + 70);
        assert_eq!(next.calls[0].name, name);
        assert!(!commands(&next)[0].contains(['$', '`']), "{}", commands(&next)[0]);
    }
}

fn worker(manner: Manner) -> PersonaOptions {
    let facts = crate::model_server::facts::spread(6, 3);
    PersonaOptions { manner, facts, ..PersonaOptions::default() }
}

/// Two steps done, the third one running, and a request for a checkpoint, beside the conversation or in it.
fn asked_beside(forked: bool, options: &PersonaOptions) -> Conversation {
    let mut conversation = asked(&[&task(6)]);
    for step in 1..=3 {
        let next = answer(&conversation, options);
        assert_eq!(next.steps, [step]);
        conversation.agent(&next.text);
        conversation.call("Bash", &next.calls[0].input.text());
        if step < 3 {
            conversation.result(&format!("step {step} done"));
        }
    }
    conversation.user(&format!("{CHECKPOINT_REQUEST}\nwrite it down"));
    Conversation { forked, ..conversation }
}

#[test]
fn a_fact_is_said_once_in_prose_and_recited_in_the_checkpoint() {
    let every = StepHabit { say_chars: 2_000, ..StepHabit::default() };
    let options = PersonaOptions { every, ..worker(Manner::Plain) };
    let conversation = asked_beside(true, &options);
    let said: Vec<&Turn> = conversation.turns.iter().filter(|turn| matches!(turn, Turn::Agent(_))).collect();
    let first = format!("{:?}", said[0]);
    let facts: Vec<&str> = options.facts.values().flatten().map(String::as_str).collect();
    let early = crate::model_server::facts::held_by(facts.iter().copied(), &first);
    assert!(first.len() >= 2_000 && early.len() >= 2, "{early:?}");
    assert!(!first.contains(&format!("- {}", early[0])), "it stands in the prose");
    let checkpoint = answer(&conversation, &options);
    assert_eq!((checkpoint.thread, checkpoint.kind), (Thread::Fork, Kind::Checkpoint));
    let recited = crate::model_server::facts::held_by(facts.iter().copied(), &checkpoint.text);
    assert_eq!(recited, facts);

    // What a successor was not told it cannot recite.
    let mut successor = asked(&[&format!("{}\n{}", task(6), early[0])]);
    successor.agent("I go on.");
    successor.user(CHECKPOINT_REQUEST);
    let recited =
        crate::model_server::facts::held_by(facts.iter().copied(), &answer(&successor, &options).text);
    assert_eq!(recited, [early[0]]);
}

#[test]
fn manners_answer_a_request_for_a_checkpoint_each_in_its_own_way() {
    let reply = |manner, forked| {
        let options = worker(manner);
        answer(&asked_beside(forked, &options), &options)
    };
    let called = reply(Manner::ToolAnswering, true);
    assert_eq!((called.thread, called.steps.as_slice()), (Thread::Fork, &[3][..]));
    assert!(reply(Manner::ToolAnswering, false).text.contains("<checkpoint>"));
    let silent = reply(Manner::Silent, true);
    assert!(silent.calls.is_empty() && !silent.text.contains("<checkpoint>"));
    assert_eq!(reply(Manner::Silent, false).steps, [3], "it goes on with its work");
    let lie = reply(Manner::Lying, true).text;
    let (done, rest) = lie.split_once("## Remaining").unwrap();
    assert!(done.contains("step 3") && done.contains("Created parts/03.txt") && !rest.contains("step 3"));
    let interrupted = reply(Manner::BelievesInterruption, true).text;
    assert!(interrupted.contains("`sh step.sh 3` was interrupted"));
    let reworded = reply(Manner::Paraphrasing, true).text;
    assert!(reworded.contains("step 2") && !reworded.contains("- step 2: write part 2"), "{reworded}");
}

#[test]
fn an_eager_worker_writes_its_checkpoint_at_any_mention_and_otherwise_works() {
    let options = worker(Manner::Eager);
    let mut conversation = asked(&[&format!("{}\nMind your context window.", task(4))]);
    assert_eq!(answer(&conversation, &options).steps, [1], "the task is no alarm");
    conversation.agent("I run it.");
    conversation.call("Bash", "sh step.sh 1");
    conversation.result("step 1 done");
    assert_eq!(answer(&conversation, &options).steps, [2]);
    conversation.user("Context window: 72 % used.");
    let volunteered = answer(&conversation, &options);
    assert!(volunteered.calls.is_empty() && volunteered.text.contains("<checkpoint>"));
    assert_eq!(answer(&conversation, &worker(Manner::Plain)).steps, [2]);
}

#[test]
fn ids_of_items_are_kept_dropped_swapped_and_reused_by_a_paraphrasing_worker() {
    let options = worker(Manner::Paraphrasing);
    let items: String = (1..=8).map(|n| format!("- [R{n}] item {n}\n")).collect();
    let mut conversation = asked(&[&format!("{}\n{items}", task(8))]);
    conversation.agent("I go on.");
    conversation.user(CHECKPOINT_REQUEST);
    let text = answer(&conversation, &options).text;
    let line = |n: u32| text.lines().find(|line| line.contains(&format!("step {n}"))).unwrap().to_owned();
    assert!(line(1).starts_with("- [R1]") && line(2).starts_with("- [R3]") && line(3).starts_with("- [R1]"));
    assert!(!line(4).contains("[R"), "{text}");
}

#[test]
fn chores_come_first_each_once_with_the_tools_on_offer() {
    let texts = |names: [&str; 3]| names.map(str::to_owned);
    let [path, old, new] = texts(["a.txt", "x", "y"]);
    let chores = vec![
        Chore::Edit(path.clone(), old, new),
        Chore::Write("b.txt".to_owned(), "z".to_owned()),
        Chore::Run("make".to_owned()),
    ];
    let options = PersonaOptions { chores, ..PersonaOptions::default() };
    let mut conversation = asked(&["do the chores"]);
    conversation.tools.push(tool("Edit", &["file_path", "old_string", "new_string"]));
    let mut called = Vec::new();
    for _ in 0..3 {
        let next = answer(&conversation, &options);
        called.push((next.calls[0].name.clone(), commands(&next)[0].clone()));
        play(&mut conversation, &next);
    }
    assert_eq!(called[0].0, "Edit");
    assert!(
        called[1].1.starts_with("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.txt\n+z\n"),
        "{called:?}"
    );
    assert_eq!(called[2], ("Bash".to_owned(), "make".to_owned()));
    let end = answer(&conversation, &options);
    assert!(end.calls.is_empty() && end.text.ends_with("STATUS: done"), "{}", end.text);
}
