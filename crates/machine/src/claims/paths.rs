//! Which words of a sentence are paths.

const ENDINGS: &str = "rs py ts tsx js jsx mjs cjs go java kt kts c h cc cpp hpp cxx cs rb php swift scala clj ex \
    exs erl hs ml mli lua pl pm r jl dart zig nim sh bash zsh fish ps1 bat sql html htm css \
    scss sass less vue svelte md mdx rst txt adoc json jsonl json5 yaml yml toml ini cfg conf \
    env lock xml svg csv tsv proto graphql gql tf nix gradle cmake mk snap patch diff log png \
    ipynb tmpl";
const NAMES: &str = "makefile dockerfile justfile readme license changelog contributing .gitignore .dockerignore \
    .editorconfig gemfile rakefile procfile";
const PRODUCTS: &str = "node.js vue.js next.js three.js express.js react.js d3.js nuxt.js chart.js ember.js \
    backbone.js moment.js day.js discord.js alpine.js angular.js p5.js electron.js solid.js \
    socket.io knex.js babylon.js";
const FOLDERS: &str = "src crates tests test docs lib app bin pkg cmd internal examples scripts benches packages \
    include";

/// The paths that a word names: none, one, or several for `a/{b,c}.rs`.
pub(super) fn paths(raw: &str) -> Vec<String> {
    let raw = raw.split("](").next().unwrap_or(raw).trim_start_matches('[');
    let outer = raw.trim_end_matches(['.', ':', '!', '?', ',', ';', ')', ']']);
    let code = outer.matches('`').count() == 2;
    let word = outer.trim_matches(['`', '"', '\'', '*', ',', ';', '(', ')']);
    let word = word.trim_end_matches(['.', ':', '!', '?', ',', '`', '*']);
    // A part of something longer that is quoted.
    if ['`', '"'].iter().any(|mark| outer.matches(*mark).count() % 2 == 1) {
        return Vec::new();
    }
    expanded(without_line(word)).into_iter().filter(|p| is_path(p, code)).collect()
}

// `a.rs:12:3` and `a.rs#L12` are places in `a.rs`.
fn without_line(word: &str) -> &str {
    let word = word.split('#').next().unwrap_or(word);
    let parts = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':' || c == '-');
    if parts.len() < word.len() && word[parts.len()..].starts_with(':') { parts } else { word }
}

fn expanded(word: &str) -> Vec<String> {
    if let Some((head, rest)) = word.split_once('{')
        && let Some((middle, tail)) = rest.split_once('}')
        && middle.contains(',')
    {
        return middle.split(',').take(20).map(|m| format!("{head}{}{tail}", m.trim())).collect();
    }
    vec![word.to_owned()]
}

fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn is_path(word: &str, code: bool) -> bool {
    let low = word.to_lowercase();
    if word.len() < 2
        || word.len() > 300
        || word.contains("://")
        || word.contains("::")
        || word.contains(char::is_whitespace)
    {
        return false;
    }
    if listed(PRODUCTS, &low)
        || low.starts_with("www.")
        || low.starts_with('@')
        || word.contains(['=', '$', '(', '<', '*', '`'])
    {
        return false;
    }
    let slashed = low.replace('\\', "/");
    let name = slashed.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let known = listed(NAMES, name)
        || name
            .rsplit_once('.')
            .is_some_and(|(stem, end)| (!stem.is_empty() || end == "env") && listed(ENDINGS, end));
    if !slashed.contains('/') {
        return known;
    }
    let first = slashed.trim_start_matches("./").split('/').next().unwrap_or_default();
    let plain = slashed.chars().any(char::is_alphanumeric) && !slashed.contains("//");
    plain
        && (known
            || (code && name.contains('.'))
            || listed(FOLDERS, first)
            || slashed.starts_with("./")
            || slashed.matches('/').count() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_words() {
        let all = |text: &str| text.split_whitespace().flat_map(paths).collect::<Vec<_>>();
        assert_eq!(all("`src/a.rs:12`, (b.py) and \"c d.txt\" or ./x/y."), ["src/a.rs", "b.py", "./x/y"]);
        assert_eq!(all("src/{a,b}.rs and docs/"), ["src/a.rs", "src/b.rs", "docs/"]);
        assert_eq!(all("Node.js, and/or v1.2 std::fmt https://a.b/c.html e.g. I/O `n = 1.5`"), [""; 0]);
        assert_eq!(all("Makefile and .gitignore"), ["Makefile", ".gitignore"]);
    }
}
