/** What the quirks of several hosts have in common. */
import type { Call } from "weir";

/** The JSON path at which the client wrote its wish for an effort, for a loss that names it. */
export function effortPath(call: Call): string {
  if (call.format !== "messages") return "reasoning_effort";
  const { mode } = call.request?.reasoning ?? {};
  return mode === "budget" || mode === "off" ? "thinking" : "output_config.effort";
}

/** Whether the body being patched is a chat-completions body: a host that speaks two formats has quirks in one. */
export function isChatBody(call: Call): boolean {
  return call.target?.format === "chat-completions";
}

/** The model name the upstream is asked for, without what stands before its last slash. */
export function modelOf(call: Call): string {
  return (call.target?.model ?? call.model).split("/").at(-1)!;
}
