//! The job that the scripted agent is given: a tiny repository in which every step writes one file.
//!
//! The number of a step stands nowhere in the task but in the check list, so that an agent knows what is done only
//! from what it is told.

/// A job of so many steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// How many.
    pub steps: u32,
}

impl Job {
    /// The repository's files: path and contents.
    pub fn files(self) -> Vec<(String, String)> {
        let check = CHECK.replace("@STEPS@", &self.steps.to_string());
        [("README.md", README), ("step.sh", STEP), ("check.sh", &check)]
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect()
    }

    /// The task as the user would type it.
    pub fn task_text(self) -> String {
        let list: String = (1..=self.steps).map(|n| format!("- [ ] step {n}: write part {n}\n")).collect();
        format!(
            "# Write the parts\n\n\
             Work through this list in order, one step at a time. For each step run `sh step.sh N`, where N is the \
             number of the step. Run no step twice.\n\n\
             {list}\nWhen the list is finished, say LOOP_COMPLETE.\n"
        )
    }

    /// The command that decides whether the job is done.
    pub fn gate(self) -> &'static str {
        "sh check.sh"
    }

    /// The file that a step writes.
    pub fn part(step: u32) -> String {
        format!("parts/{step:02}.txt")
    }
}

const README: &str = "# Parts\n\nA small job for a coding agent: `sh step.sh N` writes one part, `sh check.sh` tells \
                      whether all parts are there.\n";

// With a log, each line is one short append, so that lines of several processes do not mix. The sleep is waited for
// in the background, so that a polite signal ends it too.
const STEP: &str = r#"# Writes one part: sh step.sh N
n=${1:-}
case $n in
'' | *[!0-9]*)
    echo "which step? sh step.sh N" >&2
    exit 2
    ;;
esac
name=$n
if [ "$n" -lt 10 ]; then name=0$n; fi

note() {
    if [ -z "${SEGUE_STEP_LOG:-}" ]; then return; fi
    ms=$(date +%s%3N)
    case $ms in *[!0-9]*) ms=$(date +%s)000 ;; esac
    echo "$1 $n $$ $ms" >>"$SEGUE_STEP_LOG"
}

note start
wait_ms=${STEP_MS:-0}
if [ "$wait_ms" -gt 0 ]; then
    rest=$((1000 + wait_ms % 1000))
    sleep "$((wait_ms / 1000)).${rest#1}" >/dev/null 2>&1 &
    sleeping=$!
    trap 'kill "$sleeping" 2>/dev/null; exit 143' TERM INT
    wait "$sleeping"
fi
if [ ! -d parts ]; then mkdir -p parts || exit 1; fi
echo "part $n" >"parts/.$name.$$" && mv "parts/.$name.$$" "parts/$name.txt" || exit 1
note end
echo "step $n done"
"#;

const CHECK: &str = r#"# Tells whether all parts are there.
bad=0
n=1
while [ "$n" -le @STEPS@ ]; do
    name=$n
    if [ "$n" -lt 10 ]; then name=0$n; fi
    file=parts/$name.txt
    if [ ! -f "$file" ]; then
        echo "missing: $file"
        bad=1
    else
        text=
        read -r text <"$file"
        if [ "$text" != "part $n" ]; then
            echo "wrong: $file"
            bad=1
        fi
    fi
    n=$((n + 1))
done
if [ "$bad" -eq 0 ]; then echo "all @STEPS@ parts are there"; fi
exit "$bad"
"#;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::step_log::StepLog;

    fn sh(dir: &Path, args: &[&str]) -> (bool, String) {
        let log = dir.join("steps.log");
        let out = Command::new("sh")
            .args(args)
            .current_dir(dir)
            .env("SEGUE_STEP_LOG", log)
            .env("STEP_MS", "5")
            .output()
            .unwrap();
        (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned())
    }

    #[test]
    fn the_gate_is_green_only_when_every_part_is_there_and_right() {
        let dir = tempfile::tempdir().unwrap();
        let job = Job { steps: 10 };
        for (path, text) in job.files() {
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        for n in 1..=9 {
            assert_eq!(sh(dir.path(), &["step.sh", &n.to_string()]), (true, format!("step {n} done\n")));
        }
        assert_eq!(sh(dir.path(), &["check.sh"]), (false, "missing: parts/10.txt\n".to_owned()));
        assert!(sh(dir.path(), &["step.sh", "10"]).0);
        assert!(sh(dir.path(), &["check.sh"]).0);
        std::fs::write(dir.path().join(Job::part(8)), "part 7\n").unwrap();
        assert_eq!(sh(dir.path(), &["check.sh"]), (false, "wrong: parts/08.txt\n".to_owned()));

        let log = StepLog::parse(&std::fs::read_to_string(dir.path().join("steps.log")).unwrap());
        assert_eq!(log.distinct_done(), (1..=10).collect());
        assert!(log.repeated().is_empty() && log.half_done().is_empty());
        let left: Vec<_> = std::fs::read_dir(dir.path().join("parts")).unwrap().collect();
        assert_eq!(left.len(), 10);
    }

    #[test]
    fn a_step_without_a_number_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("step.sh"), STEP).unwrap();
        assert!(!sh(dir.path(), &["step.sh"]).0);
        assert!(!sh(dir.path(), &["step.sh", "3;x"]).0);
        assert!(!dir.path().join("steps.log").exists());
    }
}
