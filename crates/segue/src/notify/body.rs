//! What a webhook is sent: segue's own JSON, a message for ntfy, or one that Slack and services like it take.

use serde_json::json;

use super::{BodyFormat, Kind, Notification};

/// The longest text of a message that a person reads on a phone.
const MOST_CHARS: usize = 1_000;

/// A body and the headers that belong to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: Vec<(&'static str, String)>,
}

/// The body of one notification.
pub(super) fn of(notification: &Notification, format: BodyFormat) -> Body {
    let title = title(notification);
    let words = words(notification);
    match format {
        BodyFormat::Json => Body {
            bytes: serde_json::to_vec(notification).unwrap_or_default(),
            headers: vec![("Content-Type", "application/json".to_owned())],
        },
        BodyFormat::Slack => Body {
            bytes: json!({ "text": format!("*{}*\n{}", escaped(&title), escaped(&words)) })
                .to_string()
                .into_bytes(),
            headers: vec![("Content-Type", "application/json".to_owned())],
        },
        BodyFormat::Ntfy => {
            let (priority, tag) = match notification.event {
                Kind::NeedsInput => ("4", "question"),
                Kind::Failed => ("4", "x"),
                Kind::Limit => ("4", "warning"),
                Kind::Done => ("3", "white_check_mark"),
                Kind::Waiting => ("2", "hourglass"),
            };
            let headers = vec![
                ("Content-Type", "text/plain; charset=utf-8".to_owned()),
                ("Title", header(&title)),
                ("Priority", priority.to_owned()),
                ("Tags", tag.to_owned()),
            ];
            Body { bytes: words.into_bytes(), headers }
        }
    }
}

fn title(notification: &Notification) -> String {
    let folder = notification.workdir.rsplit('/').next().unwrap_or_default();
    let what = match notification.event {
        Kind::NeedsInput => "needs input",
        Kind::Failed => "failed",
        Kind::Done => "done",
        Kind::Limit => "limit reached",
        Kind::Waiting => "waiting",
    };
    format!("segue: {what} in {folder}")
}

fn words(notification: &Notification) -> String {
    let mut lines = vec![notification.task.clone(), notification.text.clone()];
    lines.extend(notification.next.as_ref().map(|next| format!("next: {next}")));
    if notification.held_back > 0 {
        lines.push(format!("{} more like this were not sent", notification.held_back));
    }
    lines.join("\n").chars().take(MOST_CHARS).collect()
}

// The three characters that Slack's own marks are made of.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

// A header is one line of ASCII; ntfy reads RFC 2047 words, but nobody has to.
fn header(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use segue_report::Time;

    use super::*;

    fn notification() -> Notification {
        Notification {
            schema: 1,
            event: Kind::NeedsInput,
            run: "20261119-061908-981c".into(),
            at: Time(1_769_860_800_123),
            task: "Fix <the> parser & more".into(),
            workdir: "/home/me/größe".into(),
            text: "needs input: the agent was denied 3 times".into(),
            verdict: Some(segue_machine::Verdict::NeedsInput),
            next: Some("segue resume 20261119-061908-981c".into()),
            held_back: 0,
        }
    }

    #[test]
    fn slack_gets_one_text_without_marks_of_its_own() {
        let body = of(&notification(), BodyFormat::Slack);
        let text: serde_json::Value = serde_json::from_slice(&body.bytes).unwrap();
        assert_eq!(
            text["text"],
            "*segue: needs input in größe*\nFix &lt;the&gt; parser &amp; more\nneeds input: the agent was denied 3 times\n\
             next: segue resume 20261119-061908-981c"
        );
    }

    #[test]
    fn ntfy_gets_a_text_and_headers_of_ascii() {
        let body = of(&notification(), BodyFormat::Ntfy);
        assert!(body.bytes.starts_with(b"Fix <the> parser & more\nneeds input: "));
        let header = |name| body.headers.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        assert_eq!([header("Title"), header("Priority")], ["segue: needs input in gr??e", "4"]);
    }

    #[test]
    fn the_json_reads_back_as_the_notification() {
        let body = of(&notification(), BodyFormat::Json);
        assert_eq!(serde_json::from_slice::<Notification>(&body.bytes).unwrap(), notification());
        let fields: serde_json::Value = serde_json::from_slice(&body.bytes).unwrap();
        assert_eq!(
            (&fields["event"], &fields["at"]),
            (&json!("needs_input"), &json!("2026-01-31T12:00:00.123Z"))
        );
    }
}
