//! Reads a shell line as far as that can be done without running it: its simple commands and their words. What cannot be
//! known without a shell is said to be unknown, never guessed.

/// One simple command: its words, and whether the search path was set before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
    pub(crate) sets_path: bool,
}

/// Words that come before a command without being one.
const BEFORE: &[&str] = &["!", "{", "if", "then", "else", "elif", "while", "until", "do", "time", "exec"];

/// What the shell does itself, and what no search path is asked for.
const BUILT_IN: &[&str] = &[
    ":", ".", "[", "[[", "alias", "break", "case", "cd", "command", "continue", "echo", "eval", "exit",
    "export", "false", "for", "function", "hash", "local", "printf", "pwd", "read", "readonly", "return",
    "set", "shift", "source", "test", "trap", "true", "type", "ulimit", "umask", "unset", "wait", "}", "fi",
    "done", "esac", "((",
];

/// The program that a line starts first, when it is plainly written and not the shell's own.
pub(crate) fn first_program(line: &str) -> Option<String> {
    let first = commands(line)?.into_iter().find(|simple| !simple.words.is_empty())?;
    let program = first.words.first()?;
    let plain = !program.contains(['$', '`', '*', '?', '~', '=']);
    (plain && !first.sets_path && !BUILT_IN.contains(&program.as_str())).then(|| program.clone())
}

/// The simple commands of a line, in order; `None` where only a shell could tell them.
pub(crate) fn commands(line: &str) -> Option<Vec<Simple>> {
    // A function or a text that follows: what stands there is not run as it stands.
    if line.contains("()") || line.contains("<<") {
        return None;
    }
    let mut reader =
        Reader { chars: line.chars().collect(), at: 0, found: Vec::new(), now: Simple::default() };
    reader.read()?;
    Some(reader.found)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    found: Vec<Simple>,
    now: Simple,
}

impl Reader {
    fn read(&mut self) -> Option<()> {
        while let Some(c) = self.peek() {
            match c {
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    self.at += 1;
                    self.end();
                }
                '>' | '<' => self.redirect()?,
                '#' => self.skip_comment(),
                c if c.is_whitespace() => self.at += 1,
                _ => {
                    let word = self.word()?;
                    // `2>&1`: the number belongs to the redirection.
                    let redirects =
                        word.chars().all(|c| c.is_ascii_digit()) && matches!(self.peek(), Some('>' | '<'));
                    if !redirects {
                        self.add(word);
                    }
                }
            }
        }
        self.end();
        Some(())
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn add(&mut self, word: String) {
        if self.now.words.is_empty() {
            if BEFORE.contains(&word.as_str()) {
                return;
            }
            if let Some((name, _)) = word.split_once('=')
                && !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                self.now.sets_path |= name == "PATH";
                return;
            }
        }
        self.now.words.push(word);
    }

    fn end(&mut self) {
        let simple = std::mem::take(&mut self.now);
        if !simple.words.is_empty() {
            self.found.push(simple);
        }
    }

    fn redirect(&mut self) -> Option<()> {
        while matches!(self.peek(), Some('>' | '<' | '&' | ' ')) {
            self.at += 1;
        }
        self.word().map(drop)
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\'' => self.quoted('\'', &mut word)?,
                '"' => self.quoted('"', &mut word)?,
                '\\' => {
                    word.extend(self.chars.get(self.at + 1));
                    self.at += 2;
                }
                '`' => {
                    word.push('`');
                    self.quoted('`', &mut word)?;
                }
                '$' if self.chars.get(self.at + 1) == Some(&'(') => self.substitution(&mut word)?,
                ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                c if c.is_whitespace() => break,
                c => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        Some(word)
    }

    fn quoted(&mut self, mark: char, word: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                c if c == mark => return Some(()),
                '\\' if mark == '"' => {
                    word.push(self.peek()?);
                    self.at += 1;
                }
                c => word.push(c),
            }
        }
    }

    fn substitution(&mut self, word: &mut String) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            let c = self.peek()?;
            self.at += 1;
            word.push(c);
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        commands(line).unwrap().into_iter().map(|simple| simple.words.join(" ")).collect()
    }

    #[test]
    fn a_line_is_cut_into_its_commands() {
        assert_eq!(
            words("cd web && npm test -- --ci 2>&1 | tee out.log"),
            ["cd web", "npm test -- --ci", "tee out.log"]
        );
        assert_eq!(words("A=1 B='x y' sh -c \"a b\" > /dev/null; ./go # no"), ["sh -c a b", "./go"]);
        assert_eq!(words("if ! grep -q x f; then exit 1; fi"), ["grep -q x f", "exit 1", "fi"]);
        assert_eq!(commands("f() { true; }; f"), None);
        assert_eq!(commands("cat <<E\nx\nE"), None);
        assert_eq!(commands("echo 'open"), None);
    }

    #[test]
    fn the_first_program_is_named_only_where_it_is_plain() {
        for (line, program) in [
            ("cargo test", Some("cargo")),
            ("n=$(cat x || echo 0); n=$((n + 1)); pytest -q", Some("pytest")),
            ("RUST_LOG=x ./check.sh", Some("./check.sh")),
            ("! grep TODO src", Some("grep")),
            ("(cd web; npm test)", None),
            ("test -f x && pytest", None),
            ("$RUNNER test", None),
            ("PATH=bin:$PATH thing", None),
            ("", None),
        ] {
            assert_eq!(first_program(line).as_deref(), program, "{line}");
        }
    }
}
