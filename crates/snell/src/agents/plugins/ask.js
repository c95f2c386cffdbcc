// Made by `snell install @AGENT@`. To remove it: snell uninstall @AGENT@
//
// Calls `snell hook` once for each event and applies its answer. If Snell does not answer, tool calls are blocked, and other
// events go on.

import { spawn } from "node:child_process";

const COMMAND = @ARGV@;
const LIMIT_MS = 660_000;

// Sends one event to Snell and returns its answer, an object that may be empty. Rejects if there is no answer.
function ask(event) {
  return new Promise((resolve, reject) => {
    const [program, ...args] = COMMAND;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`it cannot be started: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0) return reject(new Error(stderr.trim() || `it ended with ${signal ?? `exit code ${code}`}`));
      try {
        resolve(stdout.trim() === "" ? {} : JSON.parse(stdout));
      } catch {
        reject(new Error("its answer is not JSON"));
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ plugin: "@AGENT@", ...event }));
  });
}

// The reason of a call that Snell did not judge. Such a call is blocked.
function explain(error) {
  return `Snell did not judge this call, so it is blocked: ${error.message}. To remove Snell: snell uninstall @AGENT@`;
}

// Replaces the members of an object, because the agent keeps the object itself.
function replaceMembers(object, members) {
  for (const key of Object.keys(object)) if (!(key in members)) delete object[key];
  Object.assign(object, members);
}
