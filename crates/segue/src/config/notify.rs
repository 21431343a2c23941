//! Who is told when a run needs somebody: `[notify]`.

use crate::config::key::nearest;
use crate::config::layers::Layers;
use crate::config::problem::{ConfigErrors, Problem, Trouble};
use crate::config::resolve::{list, millis, text, yes};
use crate::config::value::Value;
use crate::notify::{BodyFormat, Kind, NotifySettings, Url};

/// The notifications that are configured, where nothing else is asked for.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn configured(layers: &Layers) -> Result<NotifySettings, ConfigErrors> {
    let mut problems = Vec::new();
    let found = resolve(layers, &mut problems);
    ConfigErrors::check(problems)?;
    Ok(found)
}

/// The notifications that are configured.
pub(crate) fn resolve(layers: &Layers, problems: &mut Vec<Problem>) -> NotifySettings {
    let secret = |path: &str| match layers.get(path).map(|entry| &entry.value) {
        Some(Value::Secret(text)) => Some(text.trim().to_owned()),
        _ => None,
    };
    let mut bad = |key: &str, why: String| {
        if let Some(entry) = layers.get(key) {
            problems.push(Problem::at(&entry.from, Trouble::BadValue { key: key.to_owned(), why }));
        }
    };
    let mut on = Vec::new();
    for name in list(layers.get("notify.on")).unwrap_or_default() {
        match Kind::ALL.into_iter().find(|kind| kind.word() == name) {
            Some(kind) => on.push(kind),
            None => {
                let words = Kind::ALL.map(Kind::word);
                let near = nearest(&name, words);
                let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                bad("notify.on", format!("expected some of {}, found {name:?}{hint}", words.join(", ")));
            }
        }
    }
    let webhook = secret("notify.webhook");
    if let Some(why) = webhook.as_deref().and_then(|url| Url::parse(url).err()) {
        bad("notify.webhook", format!("{why}; for example: \"https://ntfy.sh/a-name-of-your-own\""));
    }
    NotifySettings {
        on: if layers.get("notify.on").is_some() { on } else { Kind::ALL.to_vec() },
        command: list(layers.get("notify.command")),
        webhook,
        format: match text(layers.get("notify.format")).as_deref() {
            Some("ntfy") => BodyFormat::Ntfy,
            Some("slack") => BodyFormat::Slack,
            _ => BodyFormat::Json,
        },
        secret: secret("notify.secret"),
        bell: yes(layers.get("notify.bell")),
        every_ms: millis(layers.get("notify.every")).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::layers::{Layers, Source};
    use crate::config::{Flags, resolve};
    use crate::notify::{BodyFormat, Kind};

    fn layers(text: &str) -> Layers {
        let text = format!("agents = [\"claude\"]\n{text}");
        let source = Source { name: "segue.toml".to_owned(), bytes: text.into_bytes() };
        Layers::from_sources(Ok(None), Ok(Some(source)), [], &Flags::default()).unwrap()
    }

    #[test]
    fn nobody_is_told_unless_it_is_configured_and_then_of_everything() {
        let none = resolve(&layers("")).unwrap().notify;
        assert!(!none.any());
        let some = resolve(&layers("[notify]\nwebhook = \"http://127.0.0.1:9/x\"\nformat = \"ntfy\"\n"));
        let some = some.unwrap().notify;
        assert!(some.any() && some.format == BodyFormat::Ntfy);
        assert_eq!(some.on, Kind::ALL);
        assert_eq!(some.every_ms, 300_000);
    }

    #[test]
    fn a_kind_or_an_address_that_cannot_be_meant_is_refused_where_it_stands() {
        let error = resolve(&layers("[notify]\non = [\"need_input\"]\n")).unwrap_err().to_string();
        assert!(error.contains("segue.toml:3") && error.contains("did you mean \"needs_input\""), "{error}");
        for url in ["ftp://x/y", "ntfy.sh/topic", "http://", "http://a b/", "https://x:99999/"] {
            let error = resolve(&layers(&format!("[notify]\nwebhook = {url:?}\n"))).unwrap_err();
            assert!(error.to_string().contains("notify.webhook"), "{url}: {error}");
        }
    }
}
