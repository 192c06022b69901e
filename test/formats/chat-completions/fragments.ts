/** Chunks and fragments of calls as upstreams send them, and what is read of them as lines. */
import type { JsonObject } from "../../../src/core/json.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { chunk, read, sketch } from "./make.ts";

export const calls = (...items: JsonObject[]) => chunk({ tool_calls: items });
export const begin = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args = "",
): JsonObject => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: "function" }),
  function: { ...(name !== undefined && { name }), arguments: args },
});

export const more = (index: number, args: string): JsonObject => ({ index, function: { arguments: args } });
export const finish = (reason: string) => chunk({}, reason);
export const said = (content: string) => chunk({ content });
/** The lines of a run that holds its promises. */
export function lines(bodies: readonly JsonObject[], options: Parameters<typeof read>[1] = {}): string[] {
  const events = read(bodies, options);
  checkEvents(events);
  return sketch(events).filter((line) => line !== "usage");
}
