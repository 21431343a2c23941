//! Passwords in addresses: `scheme://user:password@host`, `https://TOKEN@host`, `jdbc:oracle:thin:user/password@host`.

use crate::{
    spelling::{random, run},
    values::{marked, placeholder},
};

const LONGEST: usize = 1024;

/// The password after the `://` at `at`.
pub(crate) fn find(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at + 3;
    let near = &text[..text.len().min(start + LONGEST)];
    let host = run(near, start, |b| ends_not(b) && !matches!(b, b'/' | b'?' | b'#'));
    let rest = &text[start..start + host];
    let inside = rest.iter().rposition(|b| *b == b'@');
    // Only where a password may have begun is more than the host looked at.
    let odd = inside.is_none() && odd_port(rest);
    let rest = if odd { &text[start..start + run(near, start, ends_not)] } else { rest };
    let end = match inside {
        Some(end) => end,
        None if odd => {
            let end = rest.iter().position(|b| *b == b'@')?;
            rest.get(end + 1).filter(|b| b.is_ascii_alphanumeric() || **b == b'[')?;
            end
        }
        None => return None,
    };
    let user = &rest[..end];
    match user.iter().position(|b| *b == b':') {
        Some(colon) => {
            let password = &user[colon + 1..];
            let name = &user[..colon];
            if name.len() >= 16 && random(name) && matches!(password, b"" | b"x-oauth-basic" | b"x") {
                return Some((start, start + colon));
            }
            let fine = password.is_empty() || marked(password) || placeholder(password);
            let from =
                if name.len() >= 24 && random(name) && !marked(name) { start } else { start + colon + 1 };
            (!fine).then_some((from, start + end))
        }
        None => (user.len() >= 16 && random(user) && !marked(user)).then_some((start, start + end)),
    }
}

/// The password after `jdbc:oracle:…:` at `at`.
pub(crate) fn oracle(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let size = run(&text[..text.len().min(at + LONGEST)], at, ends_not);
    let rest = &text[at..at + size];
    let slash = rest.iter().position(|b| *b == b'/')?;
    let end = rest.iter().position(|b| *b == b'@').filter(|end| *end > slash + 1)?;
    let password = &rest[slash + 1..end];
    (!marked(password) && !placeholder(password)).then_some((at + slash + 1, at + end))
}

/// The password on a line of `.pgpass`, `host:port:database:user:password`, with its port at `at`.
pub(crate) fn pgpass(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let host =
        text[at.saturating_sub(64)..at].iter().rev().take_while(|b| ends_not(**b) && **b != b':').count();
    let rest = &text[at + 1..text.len().min(at + LONGEST)];
    let rest = &rest[..run(rest, 0, ends_not)];
    let mut fields = rest.splitn(4, |b| *b == b':').skip(1);
    let (database, user, password) = (fields.next()?, fields.next()?, fields.next()?);
    let fine = database.is_empty() || user.is_empty() || password.len() < 4 || password.contains(&b'/');
    let end = at + 1 + rest.len();
    (host > 0 && !fine && !marked(password) && !placeholder(password)).then_some((end - password.len(), end))
}

fn ends_not(b: u8) -> bool {
    b > b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
}

/// Whether what stands for `host:port` is no port, so that a password with `/` in it may have begun.
fn odd_port(host: &[u8]) -> bool {
    let Some(colon) = host.iter().position(|b| *b == b':') else { return false };
    let port = &host[colon + 1..];
    !port.is_empty() && !port.iter().all(u8::is_ascii_digit) && host[0] != b'['
}
