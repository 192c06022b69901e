/** JSON paths as losses and errors write them: `messages[3].content[1]`, or `messages.3.content.1`. */
import type { Json, JsonObject } from "../../src/core/json.ts";

/** The steps of a path, member names and indexes. */
export function stepsOf(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== "");
}

/**
 * Whether a client finds what a path names in its request: the path leads to a value, or begins with a member of the format
 * that the request does not set.
 * @param members top-level members of the format
 */
export function isNamed(path: string, body: JsonObject, members: readonly string[]): boolean {
  const steps = stepsOf(path);
  if (body[steps[0]!] === undefined) return members.includes(steps[0]!);
  let value: Json | undefined = body;
  for (const step of steps) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as JsonObject)[step];
  }
  return value !== undefined;
}
