/** What the quirks of several hosts have in common. */
import type { Call } from "weir";

/** What a client asked for, in the spelling of its format; other formats than these two say it as chat-completions does. */
const SPELLING = {
  effort: { messages: "thinking", other: "reasoning_effort" },
  stop: { messages: "stop_sequences", other: "stop" },
} as const;

/** The JSON path under which the client reads about a loss. */
export function pathOf(field: keyof typeof SPELLING, call: Call): string {
  return SPELLING[field][call.format === "messages" ? "messages" : "other"];
}

/** Whether the body being patched is a chat-completions body: a host that speaks two formats has quirks in one. */
export function isChatBody(call: Call): boolean {
  return call.target?.format === "chat-completions";
}

/** The model name the upstream is asked for, without what stands before its last slash. */
export function modelOf(call: Call): string {
  return (call.target?.model ?? call.model).split("/").at(-1)!;
}
