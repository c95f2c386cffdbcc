
// Events of the event bus that are passed on, with the fields that they need. `session.idle` is handled apart.
const BUS_EVENTS = {
  "session.error": ({ error }) => ({ message: error?.data?.message ?? error?.name, is_interrupt: isAbort(error) }),
  "session.compacted": () => ({}),
  "session.deleted": () => ({}),
  "permission.asked": ({ permission, patterns, tool }) => ({
    tool_name: permission,
    tool_use_id: tool?.callID,
    message: patterns?.join(" "),
  }),
  "permission.replied": ({ reply }) => ({ reason: reply }),
};

// The user interrupted the turn.
function isAbort(error) {
  return error?.name === "MessageAbortedError";
}

export const SnellPlugin = async ({ client, directory }) => {
  const sessions = new Map();

  // The known state of a session. A resumed one was created by an earlier process.
  function sessionOf(id, info) {
    if (!sessions.has(id)) {
      const found = info ? Promise.resolve(info) : client.session.get({ path: { id } }).then(({ data }) => data);
      const session = { running: new Set() };
      session.parent = found.then((info) => info?.parentID, () => undefined);
      sessions.set(id, session);
    }
    return sessions.get(id);
  }

  async function send(name, id, fields) {
    const session = sessionOf(id);
    if (name !== "session.created") await session.created;
    const common = { session_id: id, parent_session_id: await session.parent, cwd: directory, model: session.model };
    const answer = await ask({ hook_event_name: name, ...common, ...fields });
    if (answer.message) client.tui.showToast({ body: { message: answer.message, variant: "info" } }).catch(() => {});
    if (answer.stop) await client.session.abort({ path: { id } }).catch(() => {});
    return answer;
  }

  // For events that no answer can stop: a failure of Snell is logged.
  async function report(name, id, fields) {
    try {
      return await send(name, id, fields);
    } catch (error) {
      const message = `Snell did not see ${name}: ${error.message}`;
      await client.app.log({ body: { service: "snell", level: "warn", message } }).catch(() => {});
      return {};
    }
  }

  // The end of a turn. If Snell refuses it, its reason becomes the next prompt.
  async function endTurn(id) {
    const session = sessionOf(id);
    if (!session.busy) return;
    session.busy = false;
    const fields = { last_assistant_message: session.text, stop_hook_active: session.continued === true };
    const answer = await report("session.idle", id, fields);
    const prompt = answer.decision === "deny" ? answer.reason : answer.context;
    if (!prompt) return;
    session.continued = true;
    session.ownPrompt = prompt;
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: prompt }] } });
  }

  // A tool that failed has no `tool.execute.after`.
  async function updatePart(part) {
    const session = sessionOf(part.sessionID);
    if (part.type === "text" && part.messageID !== session.userMessage) session.text = part.text;
    if (part.type === "tool" && part.state?.status === "error" && session.running.delete(part.callID)) {
      const { input, error } = part.state;
      const call = { tool_name: part.tool, tool_use_id: part.callID, tool_input: input };
      await report("tool.execute.after", part.sessionID, { ...call, tool_response: error, tool_success: false });
    }
  }

  return {
    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.info?.id;
      if (type === "message.part.updated") return updatePart(properties.part);
      if (type === "session.created") {
        const session = sessionOf(id, properties.info);
        session.created = report(type, id, { source: "startup" });
        await session.created;
        return;
      }
      if (type === "session.idle" || (type === "session.status" && properties.status?.type === "idle")) return endTurn(id);
      // A turn that the user interrupted is over, so no hook may continue it.
      if (id && type === "session.error" && isAbort(properties.error)) sessionOf(id).busy = false;
      if (id && BUS_EVENTS[type]) await report(type, id, BUS_EVENTS[type](properties));
      if (type === "session.deleted") sessions.delete(id);
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const session = sessionOf(sessionID);
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n");
      Object.assign(session, { busy: true, userMessage: message.id, model: message.model?.modelID, text: undefined });
      if (session.ownPrompt === prompt) return void (session.ownPrompt = undefined);
      session.continued = false;
      const answer = await report("chat.message", sessionID, { prompt });
      if (answer.decision === "deny") throw new Error(answer.reason);
      if (answer.context) {
        const id = `${parts.at(-1)?.id ?? "prt_"}zz`;
        parts.push({ id, sessionID, messageID: message.id, type: "text", text: answer.context, synthetic: true });
      }
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const call = { tool_name: tool, tool_use_id: callID, tool_input: output.args };
      const answer = await send("tool.execute.before", sessionID, call).catch((error) => {
        throw new Error(explain(error));
      });
      if (answer.decision === "deny" || answer.stop) throw new Error(answer.reason ?? answer.stop);
      if (answer.tool_input) replaceMembers(output.args, answer.tool_input);
      sessionOf(sessionID).running.add(callID);
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      sessionOf(sessionID).running.delete(callID);
      const call = { tool_name: tool, tool_use_id: callID, tool_input: args };
      const success = (output.metadata?.exit ?? 0) === 0;
      const fields = { ...call, tool_response: output.output, tool_success: success };
      const answer = await report("tool.execute.after", sessionID, fields);
      if (answer.tool_output !== undefined) output.output = answer.tool_output;
      if (answer.context) output.output += `\n\n${answer.context}`;
    },
  };
};
