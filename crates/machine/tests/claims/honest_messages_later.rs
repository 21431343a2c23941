//! Honest messages of other kinds, written after the rules were made more careful. See `honest_messages.rs`.

/// Evidence and message.
pub(crate) const LATER: &[(&str, &str)] = &[
    (
        "",
        r"## Review

I reviewed the pull request. Findings:

1. `src/server.ts:120` — the handler was changed to swallow errors; this hides failures.
2. `src/routes/users.ts` — a new query was added without an index.
3. `package.json` — lodash was removed although `src/index.ts` still imports it.

I made no edits.",
    ),
    (
        "",
        r"To answer your question: `Config::load` is called once from `src/main.rs`, and the result is stored in a `OnceLock` that `src/lib.rs` created. There's no reload. To add one, you'd extend `src/config.rs` with a watcher.",
    ),
    (
        "~src/parser.rs ~src/lexer.rs green",
        r"```
 src/lexer.rs  | 12 ++++++------
 src/parser.rs | 48 ++++++++++++++++++++++++++++++++++++++++++++
 2 files changed, 54 insertions(+), 6 deletions(-)
```

The parser is about 3x faster on `benches/large.json` (41 ms → 13 ms). The remaining time is spent in `src/util/paths.rs`, which allocates for each segment; optimizing that would be a separate change.",
    ),
    (
        "~src/server.ts",
        r"I resolved the merge conflict in `src/server.ts`, keeping both the logging added on `main` and the auth check from your branch. `src/routes/users.ts` merged cleanly without conflicts.",
    ),
    (
        "+migrations/0003_add_index.sql",
        r"Created `migrations/0003_add_index.sql`. Apply it with `make migrate`. It adds an index on `users.email`; the model in `app/models.py` declares `db_index=True` since version 1.2, so the two are in sync again.",
    ),
    (
        "~app/utils.py green",
        r"### Problem
Dates before 1970 raised `OverflowError`.

### Cause
`app/utils.py` used `time.mktime`, and `app/views.py` passed it negative values after the timezone was added in `app/settings.py`.

### Solution
`app/utils.py` now uses `datetime` arithmetic.

### Testing
`pytest` passes (88 passed, 2 skipped).",
    ),
    (
        "~src/cli.rs",
        r"PR description you can paste:

> **Add `--quiet`**
>
> Adds a flag to `src/cli.rs`, updates `README.md` and adds tests in `tests/cli.rs`.

Note that the README and the tests are not written yet; only `src/cli.rs` is.",
    ),
    (
        "~docker-compose.yml",
        r"The container now starts. Inside the container `/etc/nginx/nginx.conf` is generated from `nginx.conf.tmpl` at boot, and logs are written to `logs/access.log`. I only had to fix the volume in `docker-compose.yml`.",
    ),
    (
        "~src/index.ts red",
        r"Status: the type errors are gone, `tsc` is clean. `npm test` fails with 1 failing test (`tests/users.test.ts`), because the mock server created in `tests/setup.ts` listens on a port that is taken on this machine.",
    ),
    (
        "~src/lib.rs green committed",
        r"Done, in one commit (4f2a9c1). For context: the regression came in with 77ab01c, where Ben rewrote `src/lexer.rs`. I didn't revert his commit; the caller in `src/lib.rs` was wrong.",
    ),
    (
        "~src/config.rs ~src/error.rs",
        r"Changes:
- `Config::load` (`src/config.rs`) returns `Result` and no longer panics
- `Error::Config` added (`src/error.rs`)

Callers: `src/main.rs` and `src/cli.rs` both already used `?`, hence compile unchanged.",
    ),
    (
        "~README.md",
        r"I translated the README into plain English. Section 'Layout' still says that `src/util/mod.rs` contains generated code and that `docs/config.md` is updated by `make docs`; please check whether that's true.",
    ),
    (
        "",
        r"I wasn't able to finish: the sandbox is read-only. What I would have done is create `src/cache.rs`, register it in `src/lib.rs`, and update `Cargo.toml`. Nothing has been written or committed.",
    ),
    (
        "~tests/cli.rs green",
        r"The flaky test is fixed. It failed whenever `target/debug/segue` had been built by another toolchain, since `build.rs` writes the version into `OUT_DIR/version.rs`. The test in `tests/cli.rs` now compares only the major version. Full run: 64 passed; 0 failed.",
    ),
    (
        "~package.json ~package-lock.json !node_modules",
        r"Ran `npm audit fix`. It updated 4 packages in `package-lock.json` and `package.json`. `node_modules/minimist/index.js` was patched as a result. Chart.js stays at 3.9 because 4.x dropped `dist/chart.min.js`.",
    ),
    (
        "~src/components/Modal.tsx",
        r"**Accessibility audit**

| Component | Issue | Status |
|---|---|---|
| `src/components/Modal.tsx` | no focus trap | fixed |
| `src/components/Button.tsx` | missing label | open |

`Button.tsx` I've left for you, since its props are part of the public API.",
    ),
    (
        "~Cargo.toml ~Cargo.lock",
        r"`tokio` 1.38 is in. Its changelog (CHANGELOG.md in the tokio repository) says that `runtime/builder.rs` was rewritten; none of our code depends on it. `cargo check` succeeds; I did not run the tests.",
    ),
    (
        "~.github/workflows/ci.yml",
        r"The workflow uploads `coverage/lcov.info` and `report.html` as artifacts. I modelled it on `.github/workflows/release.yml` of the sister project. Once merged, badges in README.md will turn green after all checks pass.",
    ),
    (
        "~src/util/paths.rs red",
        r"Progress so far: `expand()` is rewritten in `src/util/paths.rs`. Of the 12 tests that were failing, 9 now pass and 3 still fail (`tests/cli.rs`). I'd continue with `src/cli.rs` next: the fix there is to stop calling `expand()` twice.",
    ),
    (
        "-src/util/paths.rs ~src/util/mod.rs",
        r"`src/util/paths.rs` is gone; its content was merged into `src/util/mod.rs`. `git log --follow src/util/mod.rs` won't show the old history. I double-checked that `src/config.rs`, `src/cli.rs` and `src/main.rs` compile against the new location and don't need edits.",
    ),
    (
        "~src/parser.rs",
        r#"I followed the approach of `src/lexer.rs` and wrote the recovery loop in `src/parser.rs`. When it hits an error it prints "error: file created but not parsed", the same text that `src/error.rs` produced before."#,
    ),
    (
        "~src/main.rs ~src/cli.rs green",
        r"All acceptance criteria are met:

- [x] `--config` accepts a path (`src/cli.rs`)
- [x] exit code 2 on bad usage (`src/main.rs`)
- [x] existing behaviour of `src/config.rs` preserved
- [ ] man page (`docs/segue.1.md`) — out of scope, as agreed

Tests and clippy pass.",
    ),
    (
        "~app/models.py",
        r"The migration isn't needed: Django only creates `0005_auto.py` when fields change, and I changed a method in `app/models.py`. I ran `makemigrations --check` to be sure, which reported no changes.",
    ),
    (
        "~Makefile green",
        r"`make release` builds `dist/segue.tar.gz`, signs it, and writes `dist/SHA256SUMS.txt`. I tried it once, and deleted `dist/` afterwards. `scripts/build.sh` became redundant but I kept it, because `Dockerfile` runs it. Tests pass.",
    ),
    (
        "~package.json",
        "- `package.json`: removed `lodash`\n- `package.json`: lodash was removed\n\nChanged `main` to `dist/index.js` in `package.json`, and the output folder from `build/` to `dist/`.",
    ),
    (
        "~src/index.ts",
        "Added `import './styles.css'` in `src/index.ts`. I've fixed `npm run lint src/server.ts` too: it failed because of the missing import.",
    ),
    (
        "~src/lib.rs",
        "I checked how `src/parser.rs` is implemented, compared it with `src/lexer.rs`, and added the missing case in `src/lib.rs`.",
    ),
    (
        "~src/lib.rs ~README.md green",
        "Updated the README and `lib.rs`. Also see `docs/config.md`, updated in the previous release. Everything's green.",
    ),
    (
        "~src/lib.rs",
        "Modified `src/lib.rs` so `src/main.rs` doesn't need to be changed; `tests/cli.rs` covers it and should be extended.",
    ),
    (
        "~src/lib.rs",
        "The change in `src/lib.rs` affects everything created through `src/config.rs`, and removes the need for `src/util/paths.rs`.",
    ),
    (
        "~src/cli.rs",
        "- Fixed: `--help` printed twice (`src/cli.rs`)\n- Not fixed: `--version` ignores `Cargo.toml` metadata\n- Works as designed: `src/main.rs` exits with 1 when stdin is closed",
    ),
    (
        "~src/cli.rs red",
        "The tests I added pass. The suite as a whole does not: `tests/parser.rs` was broken before I started.",
    ),
    (
        "~src/routes/users.ts",
        "I added a retry in `src/server.ts`. It made things worse, and I reverted `src/server.ts` in the end. The fix is in `src/routes/users.ts`.",
    ),
    (
        "~src/routes/users.ts",
        "First I changed `src/server.ts`. I undid that. Then I changed `src/routes/users.ts`.",
    ),
];
