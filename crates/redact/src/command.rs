//! Passwords in short flags of commands that are known to take them: `mysql -pSECRET`, `sshpass -p`, `curl -u me:SECRET`.

use crate::{
    spelling::{quote, run},
    values::{marked, placeholder},
};

const LONGEST_LINE: usize = 400;

/// A command, its flag, and how the flag is given its value.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    flags: &'static [&'static str],
    attached: bool,
    user: bool,
}

/// Every command whose flags are sure.
pub(crate) const COMMANDS: &[Command] = &[
    Command { name: "mysql", flags: &[" -p"], attached: true, user: false },
    Command { name: "mariadb", flags: &[" -p"], attached: true, user: false },
    Command { name: "sshpass", flags: &[" -p"], attached: false, user: false },
    Command { name: "docker login", flags: &[" -p"], attached: false, user: false },
    Command { name: "podman login", flags: &[" -p"], attached: false, user: false },
    Command { name: "helm registry login", flags: &[" -p"], attached: false, user: false },
    Command { name: "redis-cli", flags: &[" -a"], attached: false, user: false },
    Command { name: "mongosh", flags: &[" -p"], attached: false, user: false },
    Command { name: "mongodump", flags: &[" -p"], attached: false, user: false },
    Command { name: "ldapsearch", flags: &[" -w"], attached: false, user: false },
    Command { name: "az login", flags: &[" -p"], attached: false, user: false },
    Command { name: "twine upload", flags: &[" -p"], attached: false, user: false },
    Command { name: "sqlcmd", flags: &[" -P"], attached: false, user: false },
    Command { name: "curl", flags: &[" -u", " --user", " -U", " --proxy-user"], attached: false, user: true },
    Command { name: "openssl", flags: &[" -K", " -k"], attached: false, user: false },
    Command { name: "psql", flags: &[" -W"], attached: false, user: false },
    Command { name: "sqlplus", flags: &[" -p"], attached: false, user: false },
    Command { name: "mongorestore", flags: &[" -p"], attached: false, user: false },
    Command { name: "mongoexport", flags: &[" -p"], attached: false, user: false },
    Command { name: "mongoimport", flags: &[" -p"], attached: false, user: false },
    Command { name: "ldapadd", flags: &[" -w"], attached: false, user: false },
    Command { name: "ldapmodify", flags: &[" -w"], attached: false, user: false },
    Command { name: "ldapwhoami", flags: &[" -w"], attached: false, user: false },
    Command { name: "buildah login", flags: &[" -p"], attached: false, user: false },
    Command { name: "skopeo login", flags: &[" -p"], attached: false, user: false },
    Command { name: "oras login", flags: &[" -p"], attached: false, user: false },
    Command { name: "crane auth login", flags: &[" -p"], attached: false, user: false },
    Command { name: "oc login", flags: &[" -p"], attached: false, user: false },
    Command { name: "cf login", flags: &[" -p"], attached: false, user: false },
    Command { name: "ipmitool", flags: &[" -P"], attached: false, user: false },
    Command { name: "mosquitto_pub", flags: &[" -P"], attached: false, user: false },
    Command { name: "mosquitto_sub", flags: &[" -P"], attached: false, user: false },
    Command { name: "zip -P", flags: &[""], attached: false, user: false },
    Command { name: "plink", flags: &[" -pw"], attached: false, user: false },
    Command { name: "pscp", flags: &[" -pw"], attached: false, user: false },
    Command { name: "http -", flags: &["a", "-auth"], attached: false, user: true },
];

/// The password on the rest of the line after the command's name.
pub(crate) fn find(command: &Command, text: &[u8], at: usize) -> Option<(usize, usize)> {
    let size = run(&text[..text.len().min(at + LONGEST_LINE)], at, |b| b != b'\n');
    let line = &text[at..at + size];
    // Most lines end here: next to all flags begin with a dash.
    if command.flags.iter().all(|flag| flag.starts_with(" -")) && !line.contains(&b'-') {
        return None;
    }
    let line = &line[..line.windows(2).position(|w| w == b"\\n").unwrap_or(line.len())];
    command.flags.iter().find_map(|flag| {
        let mut start = after_flag(line, flag)?;
        let spaces = run(line, start, |b| b == b' ' || b == b'=');
        if command.attached && spaces > 0 {
            return None;
        }
        start += spaces;
        start = quote(line, start).map_or(start, |(_, _, after)| after);
        let size = run(line, start, |b| b > b' ' && !matches!(b, b'"' | b'\'' | b'\\' | b'`'));
        let mut value = &line[start..start + size];
        if command.user {
            let colon = value.iter().position(|b| *b == b':')?;
            start += colon + 1;
            value = &value[colon + 1..];
        }
        let fine = value.len() < 4 || value[0] == b'-' || marked(value) || placeholder(value);
        (!fine).then_some((at + start, at + start + value.len()))
    })
}

/// The position after a flag; a short one may be the last of several, as in `-su`.
fn after_flag(line: &[u8], flag: &str) -> Option<usize> {
    if flag.is_empty() {
        return Some(0);
    }
    let first = flag.as_bytes()[0];
    let starts = |at: &usize| line[*at] == first && line[*at..].starts_with(flag.as_bytes());
    let whole = (0..line.len()).find(starts).map(|at| at + flag.len());
    let letter = *flag.as_bytes().last()?;
    let several = || {
        let mut starts = (0..line.len()).filter(|at| line[*at] == b' ' && line.get(at + 1) == Some(&b'-'));
        starts.find_map(|at| {
            let size = run(line, at + 2, |b| b.is_ascii_alphabetic());
            let last = at + 1 + size;
            (size > 1 && size < 6 && line[last] == letter && line.get(last + 1) == Some(&b' '))
                .then_some(last + 1)
        })
    };
    if flag.len() == 3 { whole.or_else(several) } else { whole }
}
