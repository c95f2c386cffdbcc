
// The text of an assistant message.
function textOf(message) {
  const texts = (message?.content ?? []).filter((part) => part.type === "text").map((part) => part.text);
  return texts.join("\n") || undefined;
}

export default function (pi) {
  let continued = false;
  let ownPrompt;
  let turnEnd = Promise.resolve();

  async function send(name, context, fields) {
    const session = { session_id: context.sessionManager.getSessionId(), cwd: context.cwd, model: context.model?.id };
    const answer = await ask({ hook_event_name: name, ...session, ...fields });
    if (answer.message && context.hasUI) context.ui.notify(answer.message, "info");
    if (answer.stop) context.abort();
    return answer;
  }

  // For events that no answer can stop: a failure of Snell is shown.
  async function report(name, context, fields) {
    try {
      return await send(name, context, fields);
    } catch (error) {
      const message = `Snell did not see ${name}: ${error.message}`;
      if (context.hasUI) context.ui.notify(message, "warning");
      else console.error(message);
      return {};
    }
  }

  pi.on("session_start", async (event, context) => {
    await report("session_start", context, { source: event.reason });
  });
  pi.on("session_shutdown", async (event, context) => {
    await turnEnd;
    await report("session_shutdown", context, { reason: event.reason });
  });
  pi.on("session_before_compact", async (event, context) => {
    const answer = await report("session_before_compact", context, {});
    if (answer.decision === "deny") return { cancel: true };
  });

  pi.on("before_agent_start", async (event, context) => {
    if (ownPrompt === event.prompt) return void (ownPrompt = undefined);
    continued = false;
    const answer = await report("before_agent_start", context, { prompt: event.prompt });
    if (answer.decision === "deny") {
      if (context.hasUI) context.ui.notify(answer.reason, "error");
      else console.error(answer.reason);
      context.abort();
    }
    if (answer.context) return { message: { customType: "snell", content: answer.context, display: false } };
  });

  pi.on("tool_call", async (event, context) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input };
    let answer;
    try {
      answer = await send("tool_call", context, call);
    } catch (error) {
      return { block: true, reason: explain(error) };
    }
    if (answer.decision === "deny" || answer.stop) return { block: true, reason: answer.reason ?? answer.stop };
    if (answer.tool_input) replaceMembers(event.input, answer.tool_input);
  });

  pi.on("tool_result", async (event, context) => {
    const texts = event.content.filter((part) => part.type === "text").map((part) => part.text);
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input };
    const result = { tool_response: texts.join("\n"), tool_success: !event.isError };
    const answer = await report("tool_result", context, { ...call, ...result });
    let content = event.content;
    if (answer.tool_output !== undefined) content = [{ type: "text", text: answer.tool_output }];
    if (answer.context) content = [...content, { type: "text", text: answer.context }];
    if (content !== event.content) return { content };
  });

  // The end of the agent's work. If Snell refuses it, its reason becomes the next prompt, unless the user interrupted the agent.
  async function endTurn(event, context) {
    const last = event.messages.findLast((message) => message.role === "assistant");
    if (last?.stopReason === "aborted") return void (await report("agent_abort", context, {}));
    const fields = { last_assistant_message: textOf(last), stop_hook_active: continued };
    const answer = await report("agent_end", context, fields);
    const prompt = answer.decision === "deny" ? answer.reason : answer.context;
    if (!prompt) return;
    continued = true;
    ownPrompt = prompt;
    pi.sendUserMessage(prompt, { deliverAs: "followUp" });
  }

  // Without a terminal Pi does not wait for it.
  pi.on("agent_end", (event, context) => (turnEnd = endTurn(event, context)));
}
