/**
 * Cases as files. `test/fixtures/KIND/FORMAT/CASE.json` (or `.sse`) is what comes in; `CASE.OTHER.json` beside it is the
 * snapshot of what another format makes of it. See test/fixtures/README.md.
 */
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";

const FOLDER = join(import.meta.dir, "../fixtures");
const isUpdate = process.env.UPDATE === "1";

export type FixtureKind = "requests" | "answers" | "streams" | "errors";

export interface Fixture {
  kind: FixtureKind;
  /** Id of the format that it is written in. */
  format: string;
  name: string;
  text: string;
}

/** The cases of a kind that are written in a format, by name. */
export function fixturesOf(kind: FixtureKind, format: string): Fixture[] {
  return filesOf(kind, format)
    .filter(isCase)
    .map((file) => ({
      kind,
      format,
      name: file.slice(0, -extname(file).length),
      text: readFileSync(join(FOLDER, kind, format, file), "utf8"),
    }));
}

/**
 * Compares with the snapshot for a format. Where the case is written in that format too, no snapshot means: unchanged.
 * `UPDATE=1` writes it.
 */
export function expectSnapshot(fixture: Fixture, format: string, text: string): void {
  const { kind, name } = fixture;
  const extension = kind === "streams" ? "sse" : "json";
  const file = join(FOLDER, kind, fixture.format, `${name}.${format}.${extension}`);
  const unchanged = fixture.format === format ? fixture.text : undefined;
  if (isUpdate && text === unchanged) rmSync(file, { force: true });
  else if (isUpdate) writeFileSync(file, text);
  const wanted = existsSync(file) ? readFileSync(file, "utf8") : unchanged;
  if (wanted === undefined) throw new Error(`There is no snapshot ${file}; UPDATE=1 writes it.`);
  expect(text).toBe(wanted);
}

/** Snapshots without a case, and snapshots for other formats; `UPDATE=1` removes them. */
export function staleSnapshots(kind: FixtureKind, formats: readonly string[]): string[] {
  const folder = join(FOLDER, kind);
  const stale = (existsSync(folder) ? readdirSync(folder) : []).flatMap((format) => {
    const names = new Set(fixturesOf(kind, format).map(({ name }) => name));
    const isStale = (file: string) => {
      const [name, other] = file.split(".");
      return !names.has(name!) || !formats.includes(other!);
    };
    const snapshots = filesOf(kind, format).filter((file) => !isCase(file));
    return snapshots.filter(isStale).map((file) => join(FOLDER, kind, format, file));
  });
  if (!isUpdate) return stale;
  for (const file of stale) rmSync(file);
  return [];
}

function filesOf(kind: FixtureKind, format: string): string[] {
  const folder = join(FOLDER, kind, format);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** A case has one dot in its name, a snapshot two. */
function isCase(file: string): boolean {
  return file.split(".").length === 2;
}
