//! Checks that the collector accepts requests, and reports telemetry that did not reach it.

use snell::{TelemetrySettings, TelemetrySignal};
use snell_store::queue::outbox::is_loopback_url;
use snell_store::{EventRecorder, Store};

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, warning_finding};
use crate::env::caller::CallerEnv;
use crate::telemetry::{CollectorAnswer, TelemetryReport, build_empty_request, post_telemetry};

pub(super) fn check_telemetry(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let settings = CallerEnv::load_user_settings().map(|settings| settings.telemetry).unwrap_or_default();
    let Some(endpoint) = settings.endpoint.clone() else {
        return Vec::new();
    };
    let signals = TelemetrySignal::ALL.iter().filter(|signal| settings.sends(**signal));
    let mut findings: Vec<_> = signals.map(|signal| check_signal(*signal, &settings, &endpoint)).collect();
    if !settings.headers.is_empty() && endpoint.starts_with("http://") && !is_loopback_url(&endpoint) {
        let what = format!("headers of telemetry go to {endpoint} without encryption");
        findings.push(warning_finding(what, "use https:// in [telemetry]"));
    }
    findings.extend(report_losses(subject));
    findings
}

/// Sends a request without items.
fn check_signal(signal: TelemetrySignal, settings: &TelemetrySettings, endpoint: &str) -> DoctorFinding {
    let signal_name = signal.as_str();
    let why = match post_telemetry(settings, signal, &build_empty_request(signal)) {
        CollectorAnswer::Accepted { .. } => return ok_finding(format!("{signal_name} go to {endpoint}")),
        CollectorAnswer::Refused(why) | CollectorAnswer::Later(why, _) => why,
        CollectorAnswer::TooLarge => "it answered with status 413".into(),
    };
    warning_finding(
        format!("{signal_name} do not reach {endpoint}: {why}"),
        "start the collector, or fix [telemetry]; a signal that it does not take can be left out of \"signals\"",
    )
}

/// Items that were refused or dropped. A database that cannot be read is reported elsewhere.
fn report_losses(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let path = EventRecorder::database_path(&subject.data);
    let report = Store::open_read_only(&path).and_then(|mut store| TelemetryReport::read(&mut store));
    let signals = report.ok().flatten().map(|report| report.signals).unwrap_or_default();
    let lossy = signals.iter().filter(|signal| signal.refused + signal.dropped > 0);
    let describe = |signal: &snell_store::TelemetrySignalView| {
        let (name, refused, dropped) = (&signal.signal, signal.refused, signal.dropped);
        note_finding(format!(
            "{name}: the collector refused {refused}, and {dropped} were dropped because too many waited"
        ))
    };
    lossy.map(describe).collect()
}
