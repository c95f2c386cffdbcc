//! The position up to which telemetry has read the record, and the queue of what waits.

use snell::Timestamp;
use snell_store::{TelemetryItem, TelemetryOutcome, TelemetrySeries};

use crate::support::{TestStore, build_event, make_timestamp};

fn ingest_at(kept: &mut TestStore, session: &str, second: i64) {
    let record = build_event("Stop", session).at_second(second).into_record_in(&kept.project_dir());
    kept.store.ingest(record).unwrap();
}

/// Reads everything, and returns the times of the events in seconds after the start.
fn read_all(kept: &mut TestStore) -> Vec<i64> {
    let mut seconds = Vec::new();
    loop {
        let batch = kept.store.telemetry().load_telemetry_batch(2).unwrap().unwrap();
        if batch.events.is_empty() && batch.sightings.is_empty() {
            return seconds;
        }
        seconds.extend(batch.events.iter().map(|event| event.at.as_second() - make_timestamp(0).as_second()));
        assert!(kept.store.telemetry().store_telemetry(&batch, &TelemetryOutcome::default(), 10).unwrap());
    }
}

#[test]
fn events_are_read_once_also_if_the_newest_were_removed() {
    let mut kept = TestStore::new();
    ingest_at(&mut kept, "early", 0);
    kept.store.telemetry().start_telemetry(make_timestamp(10)).unwrap();
    for second in [100, 200, 300] {
        ingest_at(&mut kept, "new", second);
    }
    // A late event has the newest row, and is the oldest.
    ingest_at(&mut kept, "late", 50);
    assert_eq!(read_all(&mut kept), [100, 200, 300, 50]);
    assert!(read_all(&mut kept).is_empty());
    // Its row is used again.
    kept.store.prune(make_timestamp(60), &mut |_| {}).unwrap();
    ingest_at(&mut kept, "new", 400);
    assert_eq!(read_all(&mut kept), [400]);
    kept.store.prune(make_timestamp(10_000), &mut |_| {}).unwrap();
    ingest_at(&mut kept, "new", 500);
    ingest_at(&mut kept, "new", 600);
    assert_eq!(read_all(&mut kept), [500, 600]);
    // A second start changes nothing.
    kept.store.telemetry().start_telemetry(make_timestamp(0)).unwrap();
    assert!(read_all(&mut kept).is_empty());
}

#[test]
fn of_two_readers_of_the_same_events_one_stores_the_result() {
    let mut kept = TestStore::new();
    kept.store.telemetry().start_telemetry(make_timestamp(0)).unwrap();
    ingest_at(&mut kept, "s", 1);
    let first = kept.store.telemetry().load_telemetry_batch(10).unwrap().unwrap();
    let second = kept.store.telemetry().load_telemetry_batch(10).unwrap().unwrap();
    let item = TelemetryItem { signal: "traces", host: None, body: "{}".into() };
    let outcome = TelemetryOutcome { items: vec![item], ..TelemetryOutcome::default() };
    assert!(kept.store.telemetry().store_telemetry(&first, &outcome, 10).unwrap());
    assert!(!kept.store.telemetry().store_telemetry(&second, &outcome, 10).unwrap());
    assert_eq!(kept.store.telemetry().list_telemetry_items("traces", 10).unwrap().len(), 1);
}

#[test]
fn too_many_items_and_series_are_bounded_and_counted() {
    let mut kept = TestStore::new();
    kept.store.telemetry().start_telemetry(Timestamp::UNIX_EPOCH).unwrap();
    let batch = kept.store.telemetry().load_telemetry_batch(10).unwrap().unwrap();
    let item = |number: usize| TelemetryItem { signal: "traces", host: None, body: number.to_string() };
    let series = |number: usize| TelemetrySeries {
        metric: "snell.tool.calls".into(),
        attributes: format!("[{number}]"),
        count: 1,
        total: 1.0,
        buckets: Vec::new(),
    };
    let outcome = TelemetryOutcome {
        items: (0..25).map(item).collect(),
        series: (0..1010).map(series).collect(),
        ..TelemetryOutcome::default()
    };
    assert!(kept.store.telemetry().store_telemetry(&batch, &outcome, 10).unwrap());
    let waiting = kept.store.telemetry().list_telemetry_items("traces", 100).unwrap();
    assert_eq!((waiting.len(), waiting[0].body.as_str()), (10, "15"));
    assert_eq!(kept.store.telemetry().list_telemetry_signals().unwrap()[0].dropped, 15);
    let stored = kept.store.telemetry().list_telemetry_series().unwrap();
    let overflow = stored.iter().find(|series| series.attributes.contains("otel.metric.overflow")).unwrap();
    assert_eq!((stored.len(), overflow.count), (1001, 10));
}
