/** The text of a file with one line for each model. */
import type { FileHead, NamedLine } from "../line-file.ts";
import { withoutDate } from "../line-file.ts";
import type { SnapshotLine } from "../snapshot.ts";

/** Prices of weir's own, for rehearsals without a vendor: 1 and 2 dollars a million tokens. */
const OWN: readonly SnapshotLine[] = [
  { provider: "mock", model: "*", input: 1_000_000, cacheRead: 1_000_000, output: 2_000_000, source: "weir" },
];

/** The price book. @param lines one for each model; the first of two with one name counts */
export function writeSnapshot(head: FileHead, lines: readonly SnapshotLine[]): string {
  return writeLines(head, [...OWN, ...lines]);
}

/** Leaves out dated versions that do not differ from the model without a date. @param lines as for {@link writeSnapshot} */
export function writeLines<Line extends NamedLine>(head: FileHead, lines: readonly Line[]): string {
  const byName = new Map<string, NamedLine>();
  for (const line of lines) {
    const name = nameOf(line);
    if (!byName.has(name)) byName.set(name, line);
  }
  for (const line of [...byName.values()]) {
    const bare = withoutDate(line.model);
    const undated = bare === undefined ? undefined : byName.get(nameOf({ ...line, model: bare }));
    if (undated && restOf(undated) === restOf(line)) byName.delete(nameOf(line));
  }
  for (const alias of aliasesOf([...byName.values()]))
    if (!byName.has(nameOf(alias))) byName.set(nameOf(alias), alias);
  const names = [...byName.keys()].sort();
  return [head, ...names.map((name) => byName.get(name)!)]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

/** `openai/gpt-5.4` */
export function nameOf({ provider, model }: NamedLine): string {
  return `${provider}/${model}`;
}

/** All that is not the name. */
export function restOf({ provider: _provider, model: _model, ...rest }: NamedLine): string {
  return JSON.stringify(rest);
}

/**
 * Other names: a model without its date where all its dated versions do not differ, and Google's models behind its
 * compatible endpoint, which names the publisher.
 */
function aliasesOf(lines: readonly NamedLine[]): NamedLine[] {
  const dated = new Map<string, NamedLine[]>();
  for (const line of lines) {
    const bare = withoutDate(line.model);
    if (bare === undefined) continue;
    const name = nameOf({ ...line, model: bare });
    dated.set(name, [...(dated.get(name) ?? []), line]);
  }
  const undated = [...dated.values()]
    .filter((versions) => new Set(versions.map(restOf)).size === 1)
    .map((versions) => versions.at(-1)!)
    .map(({ provider, model }) => ({ provider, model: withoutDate(model)!, as: model }));
  const published = lines
    .filter(({ provider, model }) => provider === "vertex" && /^gemini-/.test(model))
    .map(({ provider, model }) => ({ provider, model: `google/${model}`, as: model }));
  return [...undated, ...published];
}
