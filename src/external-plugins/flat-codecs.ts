/**
 * Reads codecs of plugins that were written when a codec was one flat object: moves each member into the value that has it now.
 * Goes with the next release.
 */
import { isObject } from "../core/json.ts";
import { CLIENT_VALUES, UPSTREAM_VALUES } from "./format-tables.ts";

type Values = Record<string, Record<string, unknown>>;

/** Members that are deeper now, or have another name. */
const MOVED: Readonly<Record<string, string>> = {
  heartbeat: "codec.framing.heartbeat",
  streamsLines: "codec.framing.lines",
  errorEndsStream: "codec.framing.errorEndsStream",
  repeatsError: "codec.framing.repeatsError",
  factsIn: "address.models.factsIn",
  modelKind: "address.models.modelKind",
};

/** A plugin in which every codec has values, and a clause for each codec that was flat. */
export interface Unflattened {
  exported: unknown;
  notices: readonly string[];
}

/** Gives the codecs of a plugin their values. @param exported default export of its file, of any shape */
export function unflatten(exported: unknown): Unflattened {
  if (!isObject(exported) || !Array.isArray(exported["formats"])) return { exported, notices: [] };
  const notices: string[] = [];
  const formats = exported["formats"].map((format: unknown) => {
    if (!isObject(format)) return format;
    const sides = { client: CLIENT_VALUES, upstream: UPSTREAM_VALUES };
    const nested = Object.entries(sides).flatMap(([side, values]) => {
      const codec: unknown = format[side];
      if (!isFlat(codec, values)) return [];
      const { nestedCodec, sketch } = nest(codec, values);
      notices.push(
        `the ${side} codec of the format ${String(format["id"])} is one flat object; write ${side}: { ${sketch} }`,
      );
      return [[side, nestedCodec] as const];
    });
    return nested.length > 0 ? { ...format, ...Object.fromEntries(nested) } : format;
  });
  return { exported: notices.length > 0 ? { ...exported, formats } : exported, notices };
}

function isFlat(codec: unknown, values: Values): codec is Record<string, unknown> {
  if (!isObject(codec)) return false;
  // `address` was a member of flat client codecs, and is a value of upstream codecs.
  return !Object.keys(values).some((value) => codec[value] !== undefined);
}

function nest(flat: Record<string, unknown>, values: Values) {
  const nestedCodec: Record<string, unknown> = {};
  const sketches: string[] = [];
  const known = new Set<string>();
  for (const [value, table] of Object.entries(values)) {
    const own = Object.keys(table).map((name) => [name, `${value}.${name}`] as const);
    const moved = Object.entries(MOVED).filter(([, path]) => path.startsWith(`${value}.`));
    const found = [...own, ...moved].filter(([name]) => flat[name] !== undefined);
    const paths = found.map(([name, path]) => {
      known.add(name);
      const member = flat[name];
      // The functions of a flat codec may call each other by `this`.
      put(nestedCodec, path.split("."), typeof member === "function" ? member.bind(flat) : member);
      return path.split(".").slice(1);
    });
    nestedCodec[value] ??= {};
    sketches.push(`${value}: ${braced(paths)}`);
  }
  // The check of the declaration names a member that no value has.
  for (const [name, member] of Object.entries(flat)) if (!known.has(name)) nestedCodec[name] = member;
  return { nestedCodec, sketch: sketches.join(", ") };
}

function put(into: Record<string, unknown>, [name, ...below]: readonly string[], member: unknown): void {
  if (below.length === 0) into[name!] = member;
  else put((into[name!] ??= {}) as Record<string, unknown>, below, member);
}

function braced(paths: readonly (readonly string[])[]): string {
  if (paths.length === 0) return "{}";
  const byName = Map.groupBy(paths, ([name]) => name!);
  const members = [...byName].map(([name, [first, ...more]]) =>
    first!.length === 1 ? name : `${name}: ${braced([first!, ...more].map((path) => path.slice(1)))}`,
  );
  return `{ ${members.join(", ")} }`;
}
