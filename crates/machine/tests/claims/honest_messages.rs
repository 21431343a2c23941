//! Last messages and checkpoint answers as coding agents write them, in which nothing is untrue.
//!
//! Written before the rules were looked at. Each has its evidence: `+` created, `~` modified, `-` deleted, `!` ignored, `green` or
//! `red` for the tests' gate, `committed` for a clean work tree with one commit; everything else is as in [`TREE`].

/// The files that are there when a run begins.
pub(crate) const TREE: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/config.md",
    "docs/api.md",
    "src/main.rs",
    "src/lib.rs",
    "src/parser.rs",
    "src/lexer.rs",
    "src/config.rs",
    "src/cli.rs",
    "src/error.rs",
    "src/util/mod.rs",
    "src/util/paths.rs",
    "tests/parser.rs",
    "tests/cli.rs",
    ".github/workflows/ci.yml",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "src/index.ts",
    "src/server.ts",
    "src/routes/users.ts",
    "src/components/Button.tsx",
    "src/components/Modal.tsx",
    "tests/users.test.ts",
    "pyproject.toml",
    "app/models.py",
    "app/views.py",
    "app/settings.py",
    "app/utils.py",
    "tests/test_models.py",
    "tests/conftest.py",
    "Makefile",
    "Dockerfile",
    "docker-compose.yml",
    "scripts/build.sh",
    ".gitignore",
];

/// Evidence and message.
pub(crate) const MESSAGES: &[(&str, &str)] = &[
    ("~src/lib.rs", "The bug was in src/main.rs calling the old API; fixed by adapting lib.rs."),
    ("~src/lib.rs", "README.md already documents this, so I left it."),
    (
        "~src/parser.rs ~tests/parser.rs green",
        r"## Summary

Fixed the panic on empty input.

**Root cause:** `src/main.rs` passes the raw line to `parse()` without trimming, and `Parser::new` in `src/parser.rs:42` indexed into an empty vector.

**What changed**
- **`src/parser.rs`**: returns `ParseError::Empty` instead of panicking
- **`tests/parser.rs`**: added a regression test

**How to verify**
```
cargo test
```
All tests pass.",
    ),
    (
        "~app/models.py green",
        r"Done! I updated `app/models.py` so that `User.save()` validates the e-mail. `app/views.py` calls `save()` in two places, but since it already catches `ValidationError`, nothing had to change there.

Next steps you might consider:
1. Add a migration in `app/migrations/0002_email.py`
2. Update `README.md` with the new validation rule",
    ),
    (
        "~src/server.ts ~package.json ~package-lock.json",
        r"I switched the server to socket.io in `src/server.ts` and added the dependency with `npm install socket.io`. This needs node.js 18 or newer; next.js is not affected. I haven't run the tests because there is no browser here.",
    ),
    (
        "~src/config.rs ~docs/config.md",
        r"| File | Change |
|---|---|
| `src/config.rs` | new key `retry.max` |
| `docs/config.md` | documents the key |

`src/cli.rs` reads the config through `Config::load`, so no change was needed there.",
    ),
    (
        "~src/lexer.rs red",
        r"I fixed the lexer (`src/lexer.rs`), but the test run is not fully green: 41 of 43 tests pass. The two failing ones, `tests/cli.rs::help` and `tests/cli.rs::version`, failed before my change too.",
    ),
    (
        "~src/lexer.rs red",
        r"The lexer unit tests pass (`cargo test lexer`), however `cargo test` as a whole still fails because `tests/cli.rs` expects the old help text.",
    ),
    (
        "~src/util/paths.rs green committed",
        r"Committed as `parser: read empty input`. The change is limited to `src/util/paths.rs`; see `src/util/mod.rs` for how it is exported.",
    ),
    (
        "~src/lib.rs",
        r"I have not committed anything. If you like, use this message:

```
lib: adapt to the new API

Updated src/main.rs and README.md accordingly.
```",
    ),
    (
        "~src/lib.rs",
        r#"Everything is ready but not committed. Suggested commit message: "lib: adapt to the new API"."#,
    ),
    (
        "",
        r"I looked through `src/parser.rs`, `src/lexer.rs` and `tests/parser.rs`. The implementation handles empty input correctly already, so I made no changes.",
    ),
    (
        "~src/components/Button.tsx",
        r"Updated `src/components/Button.tsx` to match the styling used in `src/components/Modal.tsx`.",
    ),
    (
        "~src/components/Button.tsx",
        r"I changed the button so that it behaves as in `src/components/Modal.tsx`: focus is trapped and Escape closes it.",
    ),
    (
        "~src/error.rs ~src/lib.rs",
        r"The compiler complained:

```
error[E0432]: unresolved import `crate::util::fs`
 --> src/main.rs:3:5
```

`src/main.rs` imports it through the prelude, so I re-exported the module from `src/lib.rs` and added a variant to `Error` in `src/error.rs`.",
    ),
    (
        "~src/routes/users.ts",
        r"I first changed `src/server.ts` as well, but reverted that: the middleware there is shared with other routes. The final diff touches only `src/routes/users.ts`.",
    ),
    (
        "~src/cli.rs",
        r"I added a `--quiet` flag in `src/cli.rs`. The build output in `target/release/segue` was regenerated, which git ignores.",
    ),
    (
        "~scripts/build.sh",
        r"`scripts/build.sh` now writes the bundle to `dist/app.js` and the report to `/tmp/build-report.json`.",
    ),
    (
        "~.gitignore",
        r"Added `dist/` and `*.log` to `.gitignore`. Existing files such as `dist/app.js` are no longer shown by `git status`.",
    ),
    (
        "+src/reader.rs -src/parser.rs ~src/lib.rs",
        r"Renamed `src/parser.rs` to `src/reader.rs` and updated the `mod` line in `src/lib.rs`. `tests/parser.rs` still compiles because it only uses the public API.",
    ),
    (
        "+src/reader.rs -src/parser.rs ~src/lib.rs ~tests/parser.rs",
        r"- `src/parser.rs` → `src/reader.rs`
- imports in `src/lib.rs` and `tests/parser.rs` follow the new name",
    ),
    (
        "~src/config.rs",
        r"The fix is at `src/config.rs:88`. The caller at `src/main.rs:17` can stay as it is.",
    ),
    (
        "~src/config.rs",
        r"`config::load` used to swallow the error that `util::paths::expand` returned (see `src/util/paths.rs`, line 31). It's now propagated with `?`.",
    ),
    (
        "~app/views.py ~app/utils.py",
        r"Moved the helper `slugify` from `app/views.py` into `app/utils.py`. `app/models.py` was already importing it from there.",
    ),
    (
        "~app/settings.py",
        r"`DEBUG` is now read from the environment in `app/settings.py`. You'll need to create a `.env` file with `DEBUG=1` yourself; I didn't add one because it would be ignored by git anyway.",
    ),
    (
        "~Dockerfile",
        r"The image was failing because `docker-compose.yml` mounts `./data` over `/app`. I worked around it by changing the `WORKDIR` in the `Dockerfile`; `docker-compose.yml` is unchanged.",
    ),
    (
        "~.github/workflows/ci.yml",
        r"CI now runs on Node 20.11.1 and uses `actions/checkout@v4` (see https://github.com/actions/checkout/blob/main/README.md). Locally I couldn't run the workflow.",
    ),
    (
        "~src/index.ts",
        r"I replaced the call to `fs.readFileSync` with `fs.promises.readFile` in `src/index.ts`. `tsconfig.json` has `target: es2022` set, which allows top-level await.",
    ),
    (
        "~tests/test_models.py green",
        r"I added three tests to `tests/test_models.py`, using the fixtures defined in `tests/conftest.py`. All 27 tests pass.",
    ),
    (
        "~tests/test_models.py red",
        r"I added three tests to `tests/test_models.py`. They fail at the moment, as intended: they show the bug in `app/models.py` which I was asked not to fix.",
    ),
    (
        "",
        r"Here is what I'd change:

- `src/cli.rs`: add a `--json` flag
- `src/main.rs`: print through a writer
- `docs/api.md`: document both

Shall I go ahead?",
    ),
    (
        "~src/cli.rs",
        r"`--json` works. Two files could be updated later: `docs/api.md` (an example) and `CHANGELOG.md` (an entry). I didn't touch them since you asked for code only.",
    ),
    (
        "~CHANGELOG.md",
        r"Added an entry to CHANGELOG.md under 0.4.0. The version in Cargo.toml was already bumped by the release commit, so I didn't change it.",
    ),
    (
        "~Cargo.toml ~Cargo.lock",
        r"Bumped `serde` from 1.0.195 to 1.0.203 in `Cargo.toml`; `Cargo.lock` was updated by cargo. None of the code in `src/` needed changes.",
    ),
    (
        "~src/lib.rs green",
        r"✅ `cargo test` — 128 passed, 0 failed
✅ `cargo clippy` — clean

Changed: `src/lib.rs`
Not changed: `src/main.rs`, `README.md`",
    ),
    (
        "~src/lib.rs ~src/parser.rs green",
        r"<checkpoint>
## Goal
Make the parser accept trailing commas.

## Completed Work
- `src/parser.rs`: trailing commas accepted in lists
- `src/lib.rs`: re-exports `ParseOptions`

## Key Files
- `src/lexer.rs` — produces the tokens; the comma token is defined there
- `tests/parser.rs` — existing cases
- `src/main.rs` — entry point, calls `parse_with`

## Remaining Tasks
- Add cases to `tests/parser.rs`
- Update `docs/api.md`
</checkpoint>",
    ),
    (
        "~src/server.ts red",
        r"<checkpoint>
## Completed Work
- Rewrote the session handling in src/server.ts
- Investigated tests/users.test.ts; it relies on the old cookie name

## Current State
- 3 tests in tests/users.test.ts fail
- all tests of the server module itself pass

## Remaining Tasks
- Fix tests/users.test.ts, then commit
</checkpoint>",
    ),
    (
        "~src/routes/users.ts",
        r"The 500 came from `src/server.ts`, where the error handler was registered before the router added by `src/routes/users.ts`. Exporting the router lazily from `src/routes/users.ts` solves it.",
    ),
    (
        "~src/util/paths.rs",
        r"`src/config.rs` was modified in commit 8c1f2aa last month to expand `~`, which broke Windows. I made `expand` in `src/util/paths.rs` handle both cases.",
    ),
    (
        "~src/util/paths.rs",
        r"git blame shows that the line in `src/config.rs` was added by Anna in 2021. The fix is in `src/util/paths.rs`.",
    ),
    ("~src/parser.rs", r"I used `src/lexer.rs` as a template for the new code in `src/parser.rs`."),
    (
        "~src/parser.rs",
        r"To reproduce the bug I created a scratch file `/tmp/repro/input.txt` and deleted it afterwards. The actual fix is one line in `src/parser.rs`.",
    ),
    (
        "~src/parser.rs",
        r"I temporarily added logging to `src/lexer.rs` and removed it again. Only `src/parser.rs` differs now.",
    ),
    ("~Makefile", r"`make docs` now generates `docs/generated.md` from `docs/api.md`. I have not run it."),
    (
        "~Makefile",
        r"Run `make test` to check it. If it fails with `No rule to make target`, delete `build/cache.mk` and try again.",
    ),
    (
        "~src/cli.rs green",
        r"Everything passes: `cargo build`, `cargo test` and `cargo fmt --check`. The only file I touched is **src/cli.rs**. It follows the pattern in **src/config.rs**, where defaults are created by a `Default` impl.",
    ),
    (
        "+src/cache.rs ~src/lib.rs",
        r"New module `src/cache.rs` (about 80 lines), wired up in `src/lib.rs`. It stores entries as `~/.cache/segue/index.json`, which is created on first use.",
    ),
    (
        "+src/cache.rs ~src/lib.rs",
        r"**What I did**

1. Created `src/cache.rs` with an LRU cache
2. Registered it in `src/lib.rs`

**What I did not do**

- Wire it into `src/main.rs`
- Update `README.md`
- Commit",
    ),
    (
        "~src/lib.rs",
        r#"When you run it you will see "Created config.toml" printed; that is the message from `src/config.rs`, not an error."#,
    ),
    (
        "~src/error.rs",
        r"The log line `wrote src/generated.rs` in your report comes from the build script. It is harmless. I clarified the wording in `src/error.rs`.",
    ),
    (
        "~tests/users.test.ts green",
        r"All green now. The test in `tests/users.test.ts` was flaky because `src/routes/users.ts` writes the audit entry asynchronously; I made the test wait for it.",
    ),
    (
        "~app/views.py",
        r"I considered three options:

1. Changing `app/models.py` to add a manager — too invasive
2. Adding a helper in `app/utils.py` — would duplicate code
3. Filtering in `app/views.py` — chosen

Option 3 is implemented.",
    ),
    (
        "~app/views.py",
        r"Instead of modifying `app/models.py`, I filtered in `app/views.py`. This avoids a migration.",
    ),
    (
        "~app/views.py",
        r"Without touching `app/models.py`, the query in `app/views.py` now uses `select_related`, which removes the N+1 problem.",
    ),
    (
        "~src/index.ts ~tsconfig.json",
        r"`tsconfig.json` now has `strict: true`, and I fixed the resulting type errors in `src/index.ts`. Files under `src/components/**/*.tsx` compiled without changes.",
    ),
    (
        "~package.json ~package-lock.json",
        r"Upgraded next.js to 14.2.3 and react to 18.3.1. README mentions 13.x in one place; you may want to update it.",
    ),
    (
        "~src/main.rs",
        r"Tests: I could not run `cargo test` (no network for dependencies), so whether the tests pass is unknown. `src/main.rs` now exits with 2 on bad usage.",
    ),
    (
        "~src/main.rs red",
        r"`cargo build` succeeds and `cargo test --lib` passes (52 passed). The integration tests in `tests/cli.rs` still fail: they need a running database.",
    ),
    (
        "~src/main.rs red",
        r"Before my change all tests passed on `main`; now `tests/cli.rs` has one failure that I could not resolve:

> thread 'usage' panicked at tests/cli.rs:12: assertion failed

I suspect the snapshot has to be updated.",
    ),
    (
        "~src/lexer.rs green committed",
        r"I committed the work (`4f2a9c1`), nothing is left uncommitted. I did not push. `CONTRIBUTING.md` asks for a changelog entry, but CHANGELOG.md says entries are added at release time, so I skipped it.",
    ),
    (
        "~src/lexer.rs",
        r"The changes are in your working tree; I left committing to you, as CONTRIBUTING.md says commits must be signed.",
    ),
    (
        "~src/lexer.rs",
        r"`src/lexer.rs` now handles `\r\n`. This matches what `src/parser.rs` expects, and what the spec in `docs/api.md` describes.",
    ),
    ("~docs/api.md", r"I documented the functions of `src/lib.rs` in `docs/api.md`."),
    (
        "~docs/api.md ~README.md",
        r"Docs only: `README.md` links to `docs/api.md`, and `docs/api.md` describes what `src/lib.rs` exports, how `src/error.rs` is structured, and which defaults `src/config.rs` sets.",
    ),
    (
        "~src/config.rs ~tests/cli.rs",
        r"Added a test to tests/cli.rs that creates config.toml in a temporary directory, writes `port = 1` to it, and checks that segue refuses it. The check itself lives in src/config.rs.",
    ),
    (
        "~src/config.rs",
        r"If `segue.toml` is missing, the program now creates `segue.toml` with defaults and prints its path (implemented in `src/config.rs`).",
    ),
    (
        "~src/components/Modal.tsx",
        r"I've updated the modal component. `Button.tsx` needed no changes; `index.ts` exports both already. You can see the result with `npm run dev` at http://localhost:3000/demo.html.",
    ),
    (
        "-src/util/paths.rs ~src/util/mod.rs ~src/config.rs",
        r"Deleted `src/util/paths.rs` since nothing but `src/config.rs` used it; its one function moved to `src/util/mod.rs`. I kept `src/error.rs`, which is still needed by `src/main.rs`.",
    ),
    (
        "",
        r"I did not find anything to delete: `src/util/paths.rs` looks unused, but it is included by `src/config.rs` via a macro. Removing it would break the build.",
    ),
    (
        "~src/parser.rs ~src/lexer.rs green",
        "Both halves are in place.\n\n### Files modified\n- `src/parser.rs`\n- `src/lexer.rs`\n\n### Files reviewed\n- `src/main.rs`\n- `src/lib.rs`\n\n### Verification\n- `cargo test`: ok",
    ),
];
