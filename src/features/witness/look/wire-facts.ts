/** Facts about the shape of an answer, from the bytes that the provider sent. */
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import { parseFrames } from "../../../stream/sse.ts";

/** Paths of all values with their types, sorted: `choices[].message.content:string`. */
export function fieldsIn(value: Json | undefined, into = new Set<string>(), at = ""): Set<string> {
  if (Array.isArray(value)) for (const item of value) fieldsIn(item, into, `${at}[]`);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value))
      fieldsIn(member, into, at === "" ? name : `${at}.${name}`);
  else if (value !== undefined) into.add(`${at}:${value === null ? "null" : typeof value}`);
  return into;
}

export const listed = (names: Iterable<string>): string => [...names].sort().join(" ");

export interface StreamFacts {
  /** The kinds of events in their order; a kind that repeats at once is named once, with a `+`. */
  readonly events: string;
  readonly fields: ReadonlySet<string>;
}

/** @returns undefined for bytes that are no server-sent events */
export function streamFacts(text: string): StreamFacts | undefined {
  const frames = parseFrames(Buffer.from(`${text}\n\n`));
  if (frames.length === 0) return undefined;
  const bodies = frames.map(({ data }) => fieldsIn(parseJson(data) ?? undefined));
  const objects = bodies.filter(({ size }) => size > 0);
  const common = new Set([...(objects[0] ?? [])].filter((path) => objects.every((one) => one.has(path))));
  const kinds = frames.map(({ event, data }, at) => {
    if (event) return event;
    const own = [...bodies[at]!].filter((path) => !common.has(path) && !path.endsWith(":null"));
    return own.length === 0 ? (bodies[at]!.size === 0 ? data : "data") : own.sort().join(",");
  });
  const fields = new Set(bodies.flatMap((one) => [...one]));
  return { events: collapsed(kinds).join(" > "), fields };
}

function collapsed(kinds: readonly string[]): string[] {
  const order: string[] = [];
  for (const kind of kinds) {
    const last = order.at(-1);
    if (last === kind) order[order.length - 1] = `${kind}+`;
    else if (last !== `${kind}+`) order.push(kind);
  }
  return order;
}
