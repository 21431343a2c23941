//! Who is told, what about and how, as it is configured. Nothing is sent here.

use serde::{Deserialize, Serialize};

/// What somebody is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The run ended because it needs an answer, a permission or a decision.
    NeedsInput,
    /// The run failed.
    Failed,
    /// The run ended verified, or unverified where there is no gate.
    Done,
    /// A limit was reached.
    Limit,
    /// The run waits for a provider, for a minute or longer.
    Waiting,
}

impl Kind {
    /// Every kind there is.
    pub(crate) const ALL: [Self; 5] =
        [Self::NeedsInput, Self::Failed, Self::Done, Self::Limit, Self::Waiting];

    /// As it is written in the configuration.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::NeedsInput => "needs_input",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Limit => "limit",
            Self::Waiting => "waiting",
        }
    }

    /// Whether it can come again and again.
    pub(super) fn repeats(self) -> bool {
        matches!(self, Self::Limit | Self::Waiting)
    }
}

/// Who is told, and about what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotifySettings {
    /// What about.
    pub(crate) on: Vec<Kind>,
    /// A program that gets the notification on its standard input.
    pub(crate) command: Option<Vec<String>>,
    /// An address that it is posted to.
    pub(crate) webhook: Option<String>,
    /// What is posted there.
    pub(crate) format: BodyFormat,
    /// What signs the body.
    pub(crate) secret: Option<String>,
    /// Whether the terminal's bell is rung.
    pub(crate) bell: bool,
    /// The shortest time between two of a kind that repeats.
    pub(crate) every_ms: u64,
}

impl NotifySettings {
    /// Whether anybody is told at all.
    pub(crate) fn any(&self) -> bool {
        self.command.is_some() || self.webhook.is_some() || self.bell
    }
}

/// The shape of the body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BodyFormat {
    /// The notification's own fields.
    #[default]
    Json,
    /// Text, with the title and the priority in headers.
    Ntfy,
    /// `{"text": …}`: Slack, Mattermost, Rocket.Chat, Discord below `/slack`.
    Slack,
}

/// An address that can be posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// The path with its query.
    pub(super) path: String,
    pub(super) whole: String,
}

impl Url {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("an address has neither spaces nor letters beyond ASCII".to_owned());
        }
        let (secure, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err("expected an address that begins with https:// or http://".to_owned()),
        };
        let rest = rest.split('#').next().unwrap_or(rest);
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.contains('@') {
            return Err("a name or password cannot stand in the address".to_owned());
        }
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().map_err(|_| format!("{port} is no port"))?),
            None => (authority, if secure { 443 } else { 80 }),
        };
        let host = host.trim_matches(['[', ']']);
        if host.is_empty() {
            return Err("the address names no host".to_owned());
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { secure, host: host.to_owned(), port, path, whole: text.to_owned() })
    }
}
