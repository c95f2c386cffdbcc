//! A plan to destroy that is carried out in the same call: `terraform plan -destroy -out=p && terraform apply p`.

use super::{Effect, What, number_of};
use crate::invocation::{Invocation, Value};
use crate::line::Line;
use crate::programs;

/// Programs that plan first.
const PLANNERS: &[&str] = &["terraform", "tofu", "terragrunt", "opentofu"];

/// Adds an effect for each plan to destroy that is carried out.
pub(super) fn carried_out(invocations: &[Invocation], list: &mut Vec<Effect>) {
    let mut plans: Vec<String> = Vec::new();
    for (number, invocation) in invocations.iter().enumerate() {
        let Some((name, program)) = invocation
            .argv
            .first()
            .and_then(Value::as_text)
            .and_then(programs::find)
        else {
            continue;
        };
        if !PLANNERS.contains(&name) {
            continue;
        }
        let line = Line::read(program, invocation.argv.get(1..).unwrap_or_default());
        let mut words = line.operands.iter().map(|value| value.to_string());
        match words.next().as_deref() {
            Some("plan") if line.has_any(&["-destroy", "--destroy"]) => {
                plans.extend(line.values(&["-out", "--out"]).map(|value| value.to_string()));
            }
            Some("apply") if words.any(|plan| plans.contains(&plan)) => list.push(Effect {
                what: What::Rule(number_of("infra.destroy")),
                place: None,
                recursive: false,
                program: name,
                by: Some(number),
                allowed: None,
                span: invocation.span.clone(),
            }),
            _ => {}
        }
    }
}
