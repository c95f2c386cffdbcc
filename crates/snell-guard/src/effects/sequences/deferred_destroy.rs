//! A destroy plan that the same call applies: `terraform plan -destroy -out=p && terraform apply p`.

use crate::effects::{Effect, build_rule_effect};
use crate::invocation::Invocation;
use crate::programs;
use crate::programs::argv::ParsedArgs;

/// Programs that plan first.
const PLANNERS: &[&str] = &["terraform", "tofu", "terragrunt", "opentofu"];

/// Adds an effect for each destroy plan that is applied.
pub(crate) fn add_deferred_destroy_effects(invocations: &[Invocation], list: &mut Vec<Effect>) {
    let mut plans: Vec<String> = Vec::new();
    for (number, invocation) in invocations.iter().enumerate() {
        let Some((name, program)) = invocation.name().and_then(programs::find_program) else {
            continue;
        };
        if !PLANNERS.contains(&name) {
            continue;
        }
        let line = ParsedArgs::parse(program, invocation.arguments());
        let mut words = line.operands.iter().map(|value| value.to_string());
        match words.next().as_deref() {
            Some("plan") if line.has_any_flag(&["-destroy", "--destroy"]) => {
                plans.extend(line.flag_values(&["-out", "--out"]).map(|value| value.to_string()));
            }
            Some("apply") if words.any(|plan| plans.contains(&plan)) => {
                let destroy = build_rule_effect("infra.destroy", name, invocation.span.clone());
                list.push(Effect { by: Some(number), ..destroy });
            }
            _ => {}
        }
    }
}
