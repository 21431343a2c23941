//! `segue plan check`: what is in a plan, and what is wrong with it.

use segue_plans::{Circumstances, Finding, NoPlan, Plan, Severity, audit, counts, counts_per_file};
use serde_json::json;

use super::{Failure, Known, One, Place, command_lines, commands_json, count, disk, out, read, refused};
use crate::config::Flags;
use crate::plan::known_sizes;

/// Checks a plan.
pub(super) fn check(at: &Place, one: &One) -> Result<u8, Failure> {
    let plan = match read(at, one)? {
        Ok(plan) => plan,
        Err(error @ NoPlan::NoStructure(_)) if at.json => return Ok(no_structure(&one.file, &error)),
        Err(error) => return Err(refused(&error)),
    };
    let (known, disk) = (Known::new(at, &Flags::default(), one.window.as_deref())?, disk(at));
    let around = Circumstances {
        named: known.gates,
        gated: known.gated,
        budget: known.budget,
        history: &known_sizes(at.store().workdir()),
        files: &disk,
    };
    let commands = crate::trust::plan::items(&plan);
    let findings = audit(&plan, &around);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if at.json {
        out::line(&json!({
            "file": one.file, "format": plan.format, "title": plan.title, "counts": counts(&plan),
            "files": counts_per_file(&plan), "findings": findings, "errors": errors, "warnings": findings.len() - errors,
            "commands": commands_json(&commands),
        }).to_string());
    } else {
        out::lines(command_lines(&commands));
        out::lines(words(&one.file, &plan, &findings, errors)?);
    }
    Ok(u8::from(errors > 0))
}

fn no_structure(file: &str, error: &NoPlan) -> u8 {
    let finding = json!({
        "code": "no-structure", "severity": Severity::Error, "file": file, "line": 0, "phase": null,
        "message": error.to_string(), "fix": "give each piece of work a heading (### Task 1: …) or a check box",
    });
    out::line(
        &json!({ "file": file, "format": null, "findings": [finding], "errors": 1, "warnings": 0 })
            .to_string(),
    );
    1
}

fn words(file: &str, plan: &Plan, findings: &[Finding], errors: usize) -> Result<Vec<String>, Failure> {
    let format = serde_json::to_value(plan.format)?;
    let mut lines = vec![format!("{file}: {}", format.as_str().unwrap_or_default())];
    let all = counts_per_file(plan);
    for part in &all {
        let told = [
            (part.phases, "phase"),
            (part.tasks, "task"),
            (part.gates, "gate"),
            (part.criteria, "criterion"),
        ];
        let told: Vec<String> =
            told.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count(n, noun)).collect();
        let name =
            if all.len() > 1 { format!("{}: ", segue_report::plain(&part.file)) } else { String::new() };
        lines.push(format!("  {name}{}", told.join(", ")));
    }
    for finding in findings {
        let word = if finding.severity == Severity::Error { "error" } else { "warning" };
        let place =
            if finding.line > 0 { format!("{}:{}", finding.file, finding.line) } else { file.to_owned() };
        lines.push(format!(
            "{place}: {word} [{}] {}",
            finding.code.name(),
            segue_report::plain(&finding.message)
        ));
        lines.push(format!("    {}", segue_report::plain(&finding.fix)));
    }
    lines.push(match findings.len() {
        0 => "no problems found".to_owned(),
        all => format!("{}, {}", count(errors, "error"), count(all - errors, "warning")),
    });
    Ok(lines)
}
