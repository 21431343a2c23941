//! Inputs to begin with where there are no recordings: a few lines of each protocol and format.

/// ACP: opening, updates of every kind, a permission, the end of a turn, errors.
pub(crate) const ACP: &[&str] = &[
    concat!(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"_meta":{"segue.dev/steer":"supersede"}}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"c1","models":{"currentModelId":"m"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hä €"}}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"ls","kind":"execute","status":"pending"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"c1","toolCall":{"toolCallId":"t1","title":"ls","kind":"execute"},"options":[{"optionId":"a","name":"Allow","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}]}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":{"sessionUpdate":"usage_update","used":91000,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":1435000,"inputTokens":1432262,"outputTokens":2738}}}"#,
        "\n",
    ),
    concat!(
        r#"{"id":1,"result":{"protocolVersion":1}}"#,
        "\n",
        r#"{"id":2,"error":{"code":-32000,"message":"auth_required"}}"#,
        "\n",
        r#"[{"id":3,"error":{"code":-32603,"message":"prompt is too long: 213224 tokens > 200000 maximum"}},{"method":"x"}]"#,
        "\n",
        r#"{"id":"s","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}"#,
        "\n",
    ),
];

/// `codex exec --json` and its rollout file.
pub(crate) const CODEX_EXEC: &[&str] = &[concat!(
    r#"{"type":"thread.started","thread_id":"01a1"}"#,
    "\n",
    r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","status":"in_progress"}}"#,
    "\n",
    r#"~{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":900,"cached_input_tokens":100,"output_tokens":20}}}"#,
    "\n",
    r#"~{"type":"event_msg","payload":{"info":{"model_context_window":258400}}}"#,
    "\n",
    r#"{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}"#,
    "\n",
    r#"~{"type":"compacted"}"#,
    "\n",
    r#"{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"done"}}"#,
    "\n",
    r#"{"type":"turn.failed","error":{"message":"{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}"}}"#,
    "\n",
    r#"{"type":"turn.completed","usage":{"input_tokens":1}}"#,
    "\n",
)];

/// Gemini CLI: ACP and its chat file.
pub(crate) const GEMINI: &[&str] = &[concat!(
    r#"{"id":1,"result":{"protocolVersion":1}}"#,
    "\n",
    r#"{"id":2,"result":{"sessionId":"abcdef12-3456"}}"#,
    "\n",
    r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"ls","status":"completed"}}}"#,
    "\n",
    r#"~{"type":"gemini","id":"m1","tokens":{"input":13896,"output":70,"cached":11648,"thoughts":150,"total":14116}}"#,
    "\n",
    r#"~{"type":"gemini","id":"m","toolCalls":[{"id":"a","result":[{"functionResponse":{"response":{"output":"x"}}}]}]}"#,
    "\n",
    r#"{"id":3,"result":{"stopReason":"end_turn"}}"#,
    "\n",
)];

/// Lines in pieces; the first byte is the size of a piece.
pub(crate) const TEXTS: &[&str] = &["\u{3}one\r\ntwo\n\n{\"three\": \"ä€\"}\nhalf\r", "\n\r\n\r\r\n\n"];

/// Errors, with a code on the first line.
pub(crate) const ERRORS: &[&str] = &[
    "context_length_exceeded\nYour input exceeds the context window",
    "\nprompt is too long: 213224 tokens > 200000 maximum",
    "\n529 overloaded_error",
    "rate_limit\n429",
    "401",
    "insufficient_quota\n",
];

/// Answers to a request for a checkpoint.
pub(crate) const ANSWERS: &[&str] = &[
    "Here:\n```xml\n<checkpoint>\n## Goal\nä\n**Completed Work**\n- a\n1. b\nRemaining Tasks:\n2) c\n</checkpoint>\n```\n<checkpoint></checkpoint>",
    "<checkpoint>\n```markdown\n# Status:\n* {{ x }}\n```\n</checkpoint> and <checkpoint>unclosed ```",
    "no tags\n\n```sh\nls\n```",
];

/// Tasks.
pub(crate) const PLANS: &[&str] =
    &["\u{feff}# Do\r\n- [ ] a\r\n  * [x] b\n```\n- [ ] c\n```\n", "do it", " \n"];

/// Configuration files.
pub(crate) const CONFIGS: &[&str] = &[
    "agents = [\"claude\", \"codex\"]\npolicy = \"staged\"\ncontext_threshold = 90\n[[stage]]\nat = \"90%\"\ndo = [\"checkpoint:full\", \"restart\"]\n[limits]\nmax_restarts = 3\ndeadline = \"1h30m\"\ncost_usd = 5.5\n[[gate]]\nname = \"tests\"\nrun = \"cargo test\"\ntimeout = \"10m\"\n",
    "agent = \"x\"\n[git]\ncommit = \"snapshot\"\n[checkpoint]\nask_timeout = \"30s\"\n[agent.x]\nkind = \"acp\"\ncommand = \"a 'b c'\"\nmodel = \"opus\"\nwindow = \"200k\"\npermissions = [\"read\"]\n[roles.backend]\nagents = [\"x\"]\n[gates.lint]\nmanual = true\n",
    "[[stage]]\nat = \"20k left\"\ndo = \"warn\"\n[[stage]]\nat = \"100 tools\"\n[[stage]]\nat = \"forecast\"\nwindw = 5\n[agent.",
];

/// Records and effects of a journal.
pub(crate) const RECORDS: &[&str] = &[
    r#"{"seq":4,"at":5,"event":{"type":"note_left","text":"a"}}"#,
    r#"{"seq":4,"at":18446744073709551615,"event":{"type":"session_exited","session":1,"exit":0,"orphans":0}}"#,
    r#"{"seq":4,"at":9,"event":{"type":"brake_asked","session":1,"request":"1","tool":"t","chars":18446744073709551615}}"#,
    r#"[]"#,
];

/// Requests to the model server.
pub(crate) const REQUESTS: &[&str] = &[
    "POST /v1/messages?beta=true HTTP/1.1\r\nanthropic-version: 1\r\nContent-Length: 150\r\n\r\n{\"model\":\"m\",\"stream\":true,\"system\":[{\"type\":\"text\",\"text\":\"s\"}],\"tools\":[{\"name\":\"Bash\"}],\"messages\":[{\"role\":\"user\",\"content\":\"sh step.sh 1\"}], \"x\":12}",
    "POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n50\r\n{\"model\":\"m\",\"stream\":true,\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[]}]}\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 76\r\n\r\n{\"model\":\"m\",\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"ok\"}]}GET /v1/models HTTP/1.1\r\n\r\n",
    "POST /v1beta/models/g:streamGenerateContent?alt=sse HTTP/1.1\r\nContent-Length: 60\r\n\r\n{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"sh step.sh\"}]}]}",
    "POST /v1beta/models/g:countTokens HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
];
