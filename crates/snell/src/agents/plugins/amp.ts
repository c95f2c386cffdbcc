
export default function (amp) {
  const continued = new Set();

  async function send(name, event, context, fields) {
    const session = { session_id: event.thread?.id ?? context?.thread?.id, cwd: process.cwd() };
    const answer = await ask({ hook_event_name: name, ...session, ...fields });
    if (answer.message) context?.ui?.notify?.(answer.message);
    return answer;
  }

  // For events that no answer can stop: a failure of Snell is logged.
  async function report(name, event, context, fields) {
    try {
      return await send(name, event, context, fields);
    } catch (error) {
      context?.logger?.log?.(`Snell did not see ${name}: ${error.message}`);
      return {};
    }
  }

  amp.on("session.start", async (event, context) => {
    await report("session.start", event, context, {});
  });

  amp.on("agent.start", async (event, context) => {
    const answer = await report("agent.start", event, context, { prompt: event.message });
    if (answer.context) return { message: { content: answer.context, display: false } };
  });

  amp.on("tool.call", async (event, context) => {
    const call = { tool_name: event.tool, tool_use_id: event.toolUseID, tool_input: event.input };
    let answer;
    try {
      answer = await send("tool.call", event, context, call);
    } catch (error) {
      return { action: "reject-and-continue", message: explain(error) };
    }
    if (answer.decision === "deny" || answer.stop) {
      return { action: "reject-and-continue", message: answer.reason ?? answer.stop };
    }
    return answer.tool_input ? { action: "modify", input: answer.tool_input } : { action: "allow" };
  });

  amp.on("tool.result", async (event, context) => {
    const call = { tool_name: event.tool, tool_use_id: event.toolUseID, tool_input: event.input };
    const result = { tool_response: event.output, tool_success: event.status !== "error" };
    await report("tool.result", event, context, { ...call, ...result });
  });

  // The end of a turn. If Snell refuses it, its reason becomes the next prompt.
  amp.on("agent.end", async (event, context) => {
    const id = event.thread?.id;
    const answer = await report("agent.end", event, context, { stop_hook_active: continued.delete(id) });
    const prompt = answer.decision === "deny" ? answer.reason : answer.context;
    if (!prompt) return;
    continued.add(id);
    return { action: "continue", userMessage: prompt };
  });
}
