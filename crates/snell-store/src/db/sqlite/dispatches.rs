//! Changes that hooks and notices react to, in SQLite.

use rusqlite::{TransactionBehavior, params};
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ColumnParam, ConnectionExt, columns, insert_row};
use super::rows::SqliteTransaction;
use crate::db::dispatches::{
    ClaimedDelivery, DeliveryClaim, DeliveryResult, DeliveryView, DispatchTable, DispatchView, NewDispatch,
    PlannedDelivery,
};
use crate::error::Result;

/// Whether the same call of the agent was blocked in the ten minutes before, among the newest changes.
macro_rules! repetition {
    () => {
        "(d.kind = 'blocked' AND EXISTS (SELECT 1 FROM dispatches e WHERE e.dispatch_id < d.dispatch_id \
         AND e.dispatch_id > d.dispatch_id - 200 AND e.agent_id = d.agent_id AND e.kind = d.kind AND e.text = d.text \
         AND e.at > d.at - 600000000))"
    };
}

/// The open request that a change is about, if a hook waits for its answer.
macro_rules! open_request {
    () => {
        "(SELECT r.uid FROM requests r WHERE r.agent_id = d.agent_id AND r.status = 'open' AND r.channel = 'reply' \
         AND (d.kind <> 'request' OR r.uid = d.uid) LIMIT 1)"
    };
}

columns! {
    DispatchView from "dispatches d JOIN agents a USING (agent_id) JOIN projects p USING (project_id) \
        LEFT JOIN conversations c USING (conversation_id)" {
        dispatch_id: "d.dispatch_id", uid: "d.uid", kind: "d.kind", agent_id: "d.agent_id", at: "d.at",
        recorded_at: "d.recorded_at", text: "d.text", product: "a.product",
        session_id: "coalesce(c.session_id, a.session_id)", project: "p.name", project_path: "p.path", state: "a.state",
        state_since: "a.state_since", last_words: "a.last_words", end_reason: "a.end_reason", host: "a.host",
        tmux_pane: "a.tmux_pane", tmux_server: "a.tmux_server", open_request: open_request!(), is_repetition: repetition!(),
    }
}

columns! {
    DeliveryView from "deliveries JOIN dispatches d USING (dispatch_id)" {
        uid: "d.uid", kind: "d.kind", agent_id: "d.agent_id", at: "d.at", text: "d.text", target, status, attempts, detail,
        finished_at,
    }
}

impl SqliteTransaction<'_, '_> {
    pub(super) fn write_dispatch(&self, dispatch: &NewDispatch<'_>) -> Result<()> {
        match dispatch.uid {
            Some(uid) => {
                insert_row!(self.transaction, "INSERT INTO dispatches", dispatch { uid: uid, kind, agent_id, at, text })
            }
            None => insert_row!(self.transaction, "INSERT INTO dispatches", dispatch { kind, agent_id, at, text }),
        }
        .map(drop)
    }
}

/// Deliveries that can be claimed at `?1`. Hooks run in the order of their agent's changes, so an earlier change comes
/// first.
const CLAIMABLE: &str = "d.status = 'pending' AND d.due_at <= ?1 AND (d.claimed_until IS NULL OR d.claimed_until <= ?1) \
    AND (d.target <> 'hooks' OR NOT EXISTS (SELECT 1 FROM deliveries e JOIN dispatches f USING (dispatch_id) \
        WHERE (e.status = 'pending' OR e.status = 'held') AND e.target = 'hooks' AND e.dispatch_id < d.dispatch_id \
        AND f.agent_id = (SELECT agent_id FROM dispatches o WHERE o.dispatch_id = d.dispatch_id)))";

impl DispatchTable for SqliteDatabase {
    fn list_unplanned(&mut self, after: i64, at_most: u32) -> Result<Vec<DispatchView>> {
        let which = "WHERE d.is_planned = 0 AND d.dispatch_id > ?1 ORDER BY d.dispatch_id LIMIT ?2";
        self.connection.select_all(which, params![after, at_most])
    }

    fn plan_dispatches(&mut self, plans: &[(i64, Vec<PlannedDelivery>)]) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (dispatch_id, deliveries) in plans {
            let sql = "UPDATE dispatches SET is_planned = 1 WHERE dispatch_id = ?1 AND is_planned = 0";
            if transaction.prepare_cached(sql)?.execute([dispatch_id])? == 0 {
                continue;
            }
            for delivery in deliveries {
                insert_row!(
                    transaction,
                    "INSERT INTO deliveries",
                    delivery { dispatch_id: *dispatch_id, target, due_at }
                )?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn skip_unplanned(&mut self, up_to: i64) -> Result<()> {
        self.connection.run("UPDATE dispatches SET is_planned = 1 WHERE is_planned = 0 AND dispatch_id <= ?1", [up_to])
    }

    fn claim_due_delivery(&mut self, claim: &DeliveryClaim, now: Timestamp) -> Result<Option<ClaimedDelivery>> {
        let (now, until) = (now.as_microsecond(), claim.until.as_microsecond());
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = format!(
            "SELECT delivery_id, target, attempts, dispatch_id FROM deliveries d WHERE {CLAIMABLE} \
             ORDER BY due_at, delivery_id LIMIT 1"
        );
        let due: Option<(i64, String, u32, i64)> = transaction.query_optional(&sql, [now])?;
        let Some((delivery_id, target, attempts, dispatch_id)) = due else {
            return Ok(None);
        };
        let dispatch: Option<DispatchView> = transaction.select_one("WHERE d.dispatch_id = ?1", [dispatch_id])?;
        let Some(dispatch) = dispatch else {
            // Its agent was removed, because it is old.
            transaction.run("DELETE FROM dispatches WHERE dispatch_id = ?1", [dispatch_id])?;
            transaction.commit()?;
            return Ok(None);
        };
        let sql = "UPDATE deliveries SET claimed_by = ?2, claimed_until = ?3 WHERE delivery_id = ?1";
        transaction.run(sql, params![delivery_id, claim.owner, until])?;
        transaction.commit()?;
        Ok(Some(ClaimedDelivery { delivery_id, target, attempts, dispatch }))
    }

    fn renew_claim(&mut self, delivery_id: i64, claim: &DeliveryClaim) -> Result<bool> {
        let sql = "UPDATE deliveries SET claimed_until = ?3 \
                   WHERE delivery_id = ?1 AND claimed_by = ?2 AND status = 'pending'";
        let params = params![delivery_id, claim.owner, claim.until.as_microsecond()];
        Ok(self.connection.prepare_cached(sql)?.execute(params)? > 0)
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
        let sql = "UPDATE deliveries SET status = ?3, detail = ?4, due_at = coalesce(?5, due_at), finished_at = ?6, \
                   attempts = attempts + ?7, claimed_by = NULL, claimed_until = NULL \
                   WHERE delivery_id = ?1 AND claimed_by = ?2";
        let status = result.status().as_str();
        self.connection.run(sql, params![delivery_id, owner, status, detail, due_at, finished_at, tried])
    }

    fn release_held(&mut self) -> Result<()> {
        self.connection.run("UPDATE deliveries SET status = 'pending' WHERE status = 'held'", [])
    }

    fn summarize_open(&mut self) -> Result<(i64, Option<Timestamp>)> {
        let sql = "SELECT count(*), min(CASE status WHEN 'pending' THEN max(due_at, coalesce(claimed_until, 0)) END) \
                   FROM deliveries WHERE status = 'pending' OR status = 'held'";
        self.connection.query_value(sql, [])
    }

    fn list_deliveries(&mut self, at_most: u32) -> Result<Vec<DeliveryView>> {
        self.connection.select_all("ORDER BY delivery_id DESC LIMIT ?1", [at_most])
    }

    fn list_failed_deliveries(&mut self, since: Timestamp) -> Result<Vec<DeliveryView>> {
        let which = "WHERE status = 'failed' AND finished_at >= ?1 ORDER BY delivery_id DESC LIMIT 1000";
        self.connection.select_all(which, [since.as_microsecond()])
    }
}
