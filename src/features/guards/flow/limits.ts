/** Limits of requests: what is unusually long, or says the same again and again, is often an attack on a model or on a budget. */
import type { Inspected } from "../pass/texts.ts";
import type { Limits } from "./section.ts";

/** A limit that a request exceeds. */
export interface Exceeded {
  readonly kind: "LENGTH" | "TOOLS" | "REPEATS";
  /** Empty: no text in particular. */
  readonly path: string;
  readonly why: string;
}

const SHORTEST_LINE = 4;

/** @param read those texts that the guard looks at */
export function exceeded(
  { characters, tools, repeatedLines }: Limits,
  texts: readonly Inspected[],
  read: readonly Inspected[],
): Exceeded[] {
  const found: Exceeded[] = [];
  const size = read.reduce((sum, { text }) => sum + text.length, 0);
  if (characters !== undefined && size > characters)
    found.push({ kind: "LENGTH", path: "", why: `it has more than ${characters} characters` });
  const declared = texts.filter(({ place }) => isDeclared(place)).length;
  if (tools !== undefined && declared > tools)
    found.push({ kind: "TOOLS", path: "tools", why: `it has more than ${tools} tools` });
  if (repeatedLines !== undefined)
    for (const { place, text } of read)
      if (repeats(text, repeatedLines)) {
        const why = `it has the same line more than ${repeatedLines} times`;
        found.push({ kind: "REPEATS", path: place.path, why });
      }
  return found;
}

/** The name of a tool where it is declared, and not one of a property. */
function isDeclared({ kind, isReference, path }: Inspected["place"]): boolean {
  return kind === "declaration" && isReference === true && !path.endsWith("{}");
}

function repeats(text: string, most: number): boolean {
  const counts = new Map<string, number>();
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end < 0 ? undefined : end).trim();
    from = end < 0 ? text.length + 1 : end + 1;
    if (line.length < SHORTEST_LINE) continue;
    const count = (counts.get(line) ?? 0) + 1;
    if (count > most) return true;
    counts.set(line, count);
  }
  return false;
}
