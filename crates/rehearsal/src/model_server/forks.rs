//! Which requests are questions beside a conversation, and not part of it.

use std::collections::BTreeMap;

use super::conversation::{Conversation, Turn};
use super::{manner, persona};

/// The sessions that were seen, and whether they are forks.
#[derive(Debug, Default)]
pub(super) struct Forks {
    sessions: BTreeMap<String, bool>,
}

impl Forks {
    /// Whether this request is beside the conversation. A fork stays one for as long as it lives.
    pub(super) fn is_fork(&mut self, talk: &Conversation) -> bool {
        if manner::is_side_question(&talk.turns) {
            return true;
        }
        let Some(session) = &talk.session else { return false };
        if let Some(known) = self.sessions.get(session) {
            return *known;
        }
        let worked = talk.turns.iter().any(|turn| matches!(turn, Turn::Agent(_) | Turn::Call(..)));
        let forked = worked && persona::checkpoint_is_due(&talk.turns);
        // A title or a probe may name a session before its conversation begins.
        if !talk.tools.is_empty() {
            self.sessions.insert(session.clone(), forked);
        }
        forked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::CHECKPOINT_REQUEST;
    use crate::model_server::conversation::{Takes, Tool};

    fn talk(session: &str, build: impl FnOnce(&mut Conversation)) -> Conversation {
        let tools = vec![Tool { name: "bash".to_owned(), takes: Takes::Text }];
        let mut talk = Conversation { session: Some(session.to_owned()), tools, ..Conversation::default() };
        talk.user("the task");
        build(&mut talk);
        talk
    }

    #[test]
    fn a_new_session_with_an_old_conversation_that_asks_for_a_checkpoint_is_a_fork_for_good() {
        let mut forks = Forks::default();
        let asks = |talk: &mut Conversation| {
            talk.agent("I work.");
            talk.user(&format!("{CHECKPOINT_REQUEST}\nwrite"));
        };
        assert!(!forks.is_fork(&talk("a", |_| {})));
        assert!(!forks.is_fork(&talk("a", asks)), "in band");
        assert!(forks.is_fork(&talk("b", asks)));
        assert!(forks.is_fork(&talk("b", |talk| talk.agent("I go on."))), "it disobeys");
        assert!(!forks.is_fork(&talk("c", |talk| talk.agent("resumed"))));
    }

    #[test]
    fn a_side_question_of_claude_code_has_the_session_of_the_worker() {
        let mut forks = Forks::default();
        assert!(!forks.is_fork(&talk("a", |_| {})));
        let side = talk("a", |talk| {
            talk.agent("I work.");
            talk.user(
                "<system-reminder>This is a side question from the user. You must answer.</system-reminder>",
            );
            talk.user(&format!("{CHECKPOINT_REQUEST}\nwrite"));
        });
        assert!(forks.is_fork(&side));
        assert!(!forks.is_fork(&talk("a", |talk| talk.agent("I work on."))));
    }
}
