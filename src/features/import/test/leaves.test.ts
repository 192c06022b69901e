/** Nothing is lost in silence: every leaf of a source has one fate, and what is called taken over is in the written file. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { withoutComments } from "../../../config/read-source.ts";
import { writePath } from "../../../core/path.ts";
import type { SettingOutcome } from "../source.ts";
import { fixtures, importFixture, importText } from "./imported.ts";

// Hundreds of configs are imported.
setDefaultTimeout(120_000);

type Path = (string | number)[];

function leafPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return [path];
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...entries].flatMap(([step, inner]) => leafPaths(inner, [...path, step as string | number]));
}

const paths = (outcomes: readonly SettingOutcome[]) => outcomes.map(({ path }) => path).sort();
const sorted = (values: readonly unknown[]) =>
  values
    .flatMap((value) => leafPaths(value))
    .map(writePath)
    .sort();

const read = (file: string): unknown => {
  const text = readFileSync(file, "utf8");
  return parse(file.endsWith(".yaml") ? text : withoutComments(text));
};

describe.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("%s", (_, fixture) => {
  const value = read(fixture.file);

  test("has exactly one fate for each of its leaves", () => {
    const { outcomes } = importFixture(fixture);
    const documents = [value, ...(fixture.keys === undefined ? [] : [read(fixture.keys)])];
    expect(paths(outcomes)).toEqual(sorted(documents));
    for (const { fate, why, to } of outcomes) expect([fate, Boolean(why ?? to)]).toEqual([fate, true]);
  });

  test("would become another file if a text or a number that was taken over were another", () => {
    const text = (changed: unknown) =>
      fixture.source === "litellm" ? stringify(changed) : JSON.stringify(changed);
    const keys = fixture.keys === undefined ? undefined : readFileSync(fixture.keys, "utf8");
    const before = importText(fixture.source, text(value), keys);
    const same: string[] = [];
    for (const path of leafPaths(value)) {
      const outcome = before.outcomes.find((one) => one.path === writePath(path));
      if (outcome?.fate !== "taken" || outcome.to === undefined) continue;
      const changed = structuredClone(value);
      if (!change(changed, path)) continue;
      const after = importText(fixture.source, text(changed), keys);
      if (after.yaml === before.yaml && isEqual(after.variables, before.variables)) same.push(outcome.path);
    }
    expect(same).toEqual([]);
  });
});

/** Changes a text or a number. @returns false for another value */
function change(value: unknown, path: Path): boolean {
  const holder = path.slice(0, -1).reduce((inner, step) => (inner as Record<string, unknown>)[step], value);
  const group = holder as Record<string, unknown>;
  const last = path.at(-1)!;
  const old = group[last];
  if (typeof old === "number") group[last] = old + 7;
  else if (typeof old === "string" && old !== "") group[last] = `${old}0`;
  else return false;
  return true;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

test("a config with parts replaced by anything has one fate for each leaf, or a sentence why it is none", () => {
  const all = fixtures.map((fixture) => ({ fixture, value: read(fixture.file) }));
  fc.assert(
    fc.property(
      fc.nat(all.length - 1),
      fc.array(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 3 })), { minLength: 1, maxLength: 4 }),
      (index, edits) => {
        const { fixture, value } = all[index]!;
        const changed = structuredClone(value);
        for (const [at, replacement] of edits) replace(changed, at, replacement);
        const text = JSON.stringify(changed);
        let outcomes: SettingOutcome[];
        try {
          outcomes = importText(fixture.source, text).outcomes;
        } catch (fault) {
          expect((fault as Error).message).toMatch(/^config\.\w+:\d+: .+\.$/);
          return;
        }
        expect(paths(outcomes)).toEqual(sorted([JSON.parse(text)]));
      },
    ),
    { numRuns: Number(process.env["RUNS"] ?? 60), ...(process.env["RUNS"] === undefined && { seed: 20 }) },
  );
});

/** Puts a value in place of some node. */
function replace(value: unknown, at: number, replacement: unknown): void {
  const all = nodesOf(value);
  const path = all[at % all.length]!;
  if (path.length === 0) return;
  const holder = path.slice(0, -1).reduce((inner, step) => (inner as Record<string, unknown>)[step], value);
  (holder as Record<string, unknown>)[path.at(-1)!] = replacement;
}

function nodesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [
    path,
    ...[...entries].flatMap(([step, inner]) => nodesOf(inner, [...path, step as string | number])),
  ];
}
