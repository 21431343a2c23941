//! What a redactor is made from. No value of a secret is ever part of an error or of `Debug`.

use std::fmt;

/// What is to be redacted beyond the built-in rules, and what is not.
#[derive(Clone)]
pub struct Options {
    /// Names and values of environment variables that look secret, as chosen by [`crate::secret_env`].
    pub values: Vec<(String, String)>,
    /// What is not redacted: a secret's exact text, a glob with `*` and `?` over the whole of it, or `kind:NAME`.
    pub allow: Vec<String>,
    /// E-mail addresses as well.
    pub emails: bool,
    /// Card numbers (Luhn) and IBANs (mod 97) as well.
    pub payment: bool,
    /// Patterns of one's own.
    pub extra: Vec<Extra>,
    /// Whether anything is redacted at all.
    pub enabled: bool,
}

/// A pattern of one's own: its matches become `[redacted:NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Small letters, digits and `-`: what the match is replaced with.
    pub name: String,
    /// A regular expression in the syntax of the `regex` crate; group 1, if there is one, is what is replaced.
    pub pattern: String,
}

/// Why a redactor could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// A pattern is not a regular expression.
    #[error("redaction pattern \"{name}\" is not a regular expression: {reason}")]
    Pattern {
        /// The pattern's name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern matches the empty text, so it would match everywhere.
    #[error("redaction pattern \"{name}\" matches the empty text; make it match at least one character")]
    Empty {
        /// The pattern's name.
        name: String,
    },
    /// A pattern's name cannot stand in `[redacted:NAME]`.
    #[error("redaction pattern name \"{name}\" is not made of small letters, digits and `-` (at most 32)")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The allow-list names a kind that there is not.
    #[error("the allow-list of the redaction names \"kind:{kind}\", which is not a kind; kinds are: {known}")]
    Kind {
        /// The kind as given.
        kind: String,
        /// All kinds there are.
        known: String,
    },
    /// The search could not be built, for example because there are too many values.
    #[error("the redaction could not be prepared: {reason}")]
    Build {
        /// What the search engine said.
        reason: String,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            allow: Vec::new(),
            emails: false,
            payment: false,
            extra: Vec::new(),
            enabled: true,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Options")
            .field("values", &names)
            .field("allow", &self.allow.len())
            .field("emails", &self.emails)
            .field("payment", &self.payment)
            .field("extra", &self.extra)
            .field("enabled", &self.enabled)
            .finish()
    }
}
