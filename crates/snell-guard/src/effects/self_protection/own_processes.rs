//! Programs that would end or stop the agent or Snell.

use crate::effects::collector::EffectCollector;
use crate::effects::output::{classify_output, names_agent};
use crate::invocation::{StdinSource, SymbolicText, UnknownKind};
use crate::paths::PathClass;
use crate::rules::{GuardRule, RuleTier};

/// A rule about services, which may be Snell.
const SERVICE_RULE: &str = "infra.service";

/// A program that ends processes or services must not end the agent's own, or Snell: `pkill snell`, `kill $PPID`.
pub(in crate::effects) fn add_own_process_effect(collector: &mut EffectCollector<'_>) {
    let ends_processes = |rule: &GuardRule| rule.tier == RuleTier::Process || rule.id == SERVICE_RULE;
    if collector.own_rules().any(ends_processes) && is_about_agent(collector) {
        collector.add_rule_effect("self.process");
    }
}

fn is_about_agent(collector: &EffectCollector<'_>) -> bool {
    let is_agent = |word: &SymbolicText| word.contains_unknown(UnknownKind::Agent);
    let invocation = collector.invocation;
    let by_input = match collector.stdin() {
        StdinSource::Pipe(left) => classify_output(left, collector.context) == UnknownKind::Agent,
        // `xargs kill < serve.pid`
        StdinSource::File(file) => collector.locate_path(file).classes.contains(PathClass::Own),
        StdinSource::Inherited | StdinSource::Text(_) => {
            let mut opened = invocation.files.iter();
            opened.any(|file| collector.locate_path(&file.path).classes.contains(PathClass::Own))
        }
    };
    by_input || invocation.argv.iter().any(is_agent) || names_agent(invocation)
}
