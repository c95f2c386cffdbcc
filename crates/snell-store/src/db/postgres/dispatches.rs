//! Changes that hooks and notices react to, in PostgreSQL.

use snell::Timestamp;

use super::transaction::{PostgresTransaction, new_row};
use super::values::values;
use super::{PostgresDatabase, SENDERS_LOCK};
use crate::db::dispatches::{
    ClaimedDelivery, DeliveryClaim, DeliveryResult, DeliveryView, DispatchTable, DispatchView, NewDispatch,
    PlannedDelivery,
};
use crate::error::Result;

impl PostgresTransaction<'_> {
    pub(super) fn write_dispatch(&mut self, dispatch: &NewDispatch<'_>) -> Result<()> {
        match dispatch.uid {
            Some(uid) => self.insert(new_row!("dispatches", dispatch { uid: uid, kind, agent_id, at, text })),
            None => self.insert(new_row!("dispatches", dispatch { kind, agent_id, at, text })),
        }
        Ok(())
    }
}

/// Deliveries that can be claimed at `$1`. Hooks run in the order of their agent's changes, so an earlier change comes
/// first.
const CLAIMABLE: &str = "d.status = 'pending' AND d.due_at <= $1 AND (d.claimed_until IS NULL OR d.claimed_until <= $1) \
    AND (d.target <> 'hooks' OR NOT EXISTS (SELECT 1 FROM deliveries e JOIN dispatches f USING (dispatch_id) \
        WHERE (e.status = 'pending' OR e.status = 'held') AND e.target = 'hooks' AND e.dispatch_id < d.dispatch_id \
        AND f.agent_id = (SELECT agent_id FROM dispatches o WHERE o.dispatch_id = d.dispatch_id)))";

impl DispatchTable for PostgresDatabase {
    fn list_unplanned(&mut self, after: i64, at_most: u32) -> Result<Vec<DispatchView>> {
        let which = "WHERE d.is_planned = 0 AND d.dispatch_id > $1 ORDER BY d.dispatch_id LIMIT $2";
        self.session.select_all(which, values![after, at_most])
    }

    fn plan_dispatches(&mut self, plans: &[(i64, Vec<PlannedDelivery>)]) -> Result<()> {
        let transaction = self.begin_alone(SENDERS_LOCK)?;
        for (dispatch_id, deliveries) in plans {
            let sql = "UPDATE dispatches SET is_planned = 1 WHERE dispatch_id = $1 AND is_planned = 0";
            if transaction.run(sql, values![dispatch_id])? == 0 {
                continue;
            }
            for delivery in deliveries {
                let sql = "INSERT INTO deliveries (dispatch_id, target, due_at) VALUES ($1, $2, $3)";
                transaction.run(sql, values![dispatch_id, delivery.target, delivery.due_at])?;
            }
        }
        transaction.commit(Vec::new())?;
        Ok(())
    }

    fn skip_unplanned(&mut self, up_to: i64) -> Result<()> {
        let sql = "UPDATE dispatches SET is_planned = 1 WHERE is_planned = 0 AND dispatch_id <= $1";
        self.session.run(sql, values![up_to]).map(drop)
    }

    fn claim_due_delivery(&mut self, claim: &DeliveryClaim, now: Timestamp) -> Result<Option<ClaimedDelivery>> {
        let (now, until) = (now.as_microsecond(), claim.until.as_microsecond());
        let transaction = self.begin_alone(SENDERS_LOCK)?;
        let sql = format!(
            "SELECT delivery_id, target, attempts, dispatch_id FROM deliveries d WHERE {CLAIMABLE} \
             ORDER BY due_at, delivery_id LIMIT 1 FOR UPDATE SKIP LOCKED"
        );
        let due: Option<(i64, String, u32, i64)> = transaction.query_optional(&sql, values![now])?;
        let Some((delivery_id, target, attempts, dispatch_id)) = due else {
            return Ok(None);
        };
        let dispatch: Option<DispatchView> =
            transaction.select_one("WHERE d.dispatch_id = $1", values![dispatch_id])?;
        let Some(dispatch) = dispatch else {
            // Its agent was removed, because it is old.
            transaction.run("DELETE FROM dispatches WHERE dispatch_id = $1", values![dispatch_id])?;
            transaction.commit(Vec::new())?;
            return Ok(None);
        };
        let sql = "UPDATE deliveries SET claimed_by = $2, claimed_until = $3 WHERE delivery_id = $1";
        transaction.run(sql, values![delivery_id, claim.owner, until])?;
        transaction.commit(Vec::new())?;
        Ok(Some(ClaimedDelivery { delivery_id, target, attempts, dispatch }))
    }

    fn renew_claim(&mut self, delivery_id: i64, claim: &DeliveryClaim) -> Result<bool> {
        let sql = "UPDATE deliveries SET claimed_until = $3 \
                   WHERE delivery_id = $1 AND claimed_by = $2 AND status = 'pending'";
        let params = values![delivery_id, claim.owner, claim.until.as_microsecond()];
        Ok(self.session.run(sql, params)? > 0)
    }

    fn finish_attempt(&mut self, delivery_id: i64, owner: &str, result: &DeliveryResult) -> Result<()> {
        let (detail, due_at) = match result {
            DeliveryResult::Sent | DeliveryResult::Held => (None, None),
            DeliveryResult::Skipped(why) | DeliveryResult::Failed(why) => (Some(why), None),
            DeliveryResult::Retry(why, due_at) => (Some(why), Some(due_at.as_microsecond())),
        };
        let is_end = !matches!(result, DeliveryResult::Held | DeliveryResult::Retry(..));
        let finished_at = is_end.then(|| Timestamp::now().as_microsecond());
        let tried =
            i64::from(matches!(result, DeliveryResult::Sent | DeliveryResult::Failed(_) | DeliveryResult::Retry(..)));
        let sql = "UPDATE deliveries SET status = $3, detail = $4, due_at = coalesce($5, due_at), finished_at = $6, \
                   attempts = attempts + $7, claimed_by = NULL, claimed_until = NULL \
                   WHERE delivery_id = $1 AND claimed_by = $2";
        let status = result.status().as_str();
        self.session.run(sql, values![delivery_id, owner, status, detail, due_at, finished_at, tried]).map(drop)
    }

    fn release_held(&mut self) -> Result<()> {
        self.session.run("UPDATE deliveries SET status = 'pending' WHERE status = 'held'", values![]).map(drop)
    }

    fn summarize_open(&mut self) -> Result<(i64, Option<Timestamp>)> {
        let sql = "SELECT count(*), min(CASE status WHEN 'pending' THEN greatest(due_at, coalesce(claimed_until, 0)) END) \
                   FROM deliveries WHERE status = 'pending' OR status = 'held'";
        self.session.query_value(sql, values![])
    }

    fn list_deliveries(&mut self, at_most: u32) -> Result<Vec<DeliveryView>> {
        self.session.select_all("ORDER BY delivery_id DESC LIMIT $1", values![at_most])
    }

    fn list_failed_deliveries(&mut self, since: Timestamp) -> Result<Vec<DeliveryView>> {
        let which = "WHERE status = 'failed' AND finished_at >= $1 ORDER BY delivery_id DESC LIMIT 1000";
        self.session.select_all(which, values![since.as_microsecond()])
    }
}
