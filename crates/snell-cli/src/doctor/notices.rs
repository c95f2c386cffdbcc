//! Checks the targets of notices, and reports notices that did not arrive.

use std::time::Duration;

use snell::{NotifySettings, Timestamp};
use snell_store::{DeliveryView, EventRecorder, Store};

use super::{DoctorFinding, DoctorSubject, ok_finding, warning_finding};
use crate::dispatch::{DeliveryTarget, check_target};
use crate::env::caller::CallerEnv;
use crate::output;

/// Failures of this time are reported.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn check_notices(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let notify = CallerEnv::load_user_settings().map(|settings| settings.notify).unwrap_or_default();
    let mut findings: Vec<_> = check_targets(&notify);
    findings.extend(report_failures(&list_recent_failures(subject)));
    findings
}

fn check_targets(notify: &NotifySettings) -> Vec<DoctorFinding> {
    let targets = DeliveryTarget::ALL.iter().filter(|target| target.is_configured(notify));
    let check = |target: &DeliveryTarget| match check_target(*target, notify) {
        Ok(()) => ok_finding(format!("notices go to: {}", target.name())),
        Err(why) => warning_finding(
            format!("no notices go to {}: {why}", target.name()),
            "fix [notify], then run: snell notices test",
        ),
    };
    targets.map(check).collect()
}

fn list_recent_failures(subject: &DoctorSubject) -> Vec<DeliveryView> {
    let since = Timestamp::now().checked_sub(RECENT).unwrap_or(Timestamp::UNIX_EPOCH);
    let path = EventRecorder::database_path(&subject.data);
    let failed = Store::open_read_only(&path).and_then(|mut store| store.dispatches().list_failed_deliveries(since));
    // A database that cannot be read is reported elsewhere.
    failed.unwrap_or_default()
}

fn report_failures(failed: &[DeliveryView]) -> Option<DoctorFinding> {
    let newest = failed.first()?;
    let count = output::format_count(failed.len(), "notice");
    let why = newest.detail.as_deref().unwrap_or("unknown reason");
    let what = format!("{count} did not arrive in the last day; the newest, to {}: {why}", newest.target);
    Some(warning_finding(what, "run: snell notices list"))
}
