/** What a rehearsal says of a change: the part that knows how `weir rehearse` works. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../../../../../test/helpers/environment.ts";
import { FEATURES, newReferences, OWN_PLUGINS, SECTIONS } from "../../../../../test/helpers/features.ts";
import { foreseesOf } from "../../../../feature/feature.ts";
import { readOutlines } from "../../keep/files.ts";
import type { Outline } from "../../outline/outline.ts";
import { askedBy } from "../../run/asked.ts";
import type { Facts } from "../../run/facts.ts";
import { askBuild } from "../../run/other-build.ts";
import { Rehearsal } from "../../run/rehearsal.ts";
import { makeSide } from "../../run/sides.ts";
import type { Setup } from "./base.ts";
import type { Cause } from "../../run/compare.ts";

/** Of one call: its causes, none where both sides do the same; or why nothing is said. */
export type Said = ReadonlySet<Cause> | "needs its tape" | "no outline";

export interface Rehearsed {
  /** @param index of the call in the corpus */
  of(index: number): Said;
  /** What differs, by the words of the rehearsal. */
  what(index: number): string;
  /** Why calls need their tape, with their number. */
  reasons: ReadonlyMap<string, number>;
  /** Milliseconds that the new side took. */
  ms: number;
}

/** The config of a gateway that keeps an outline of each call. */
export const OUTLINED = { outlines: "on", share: 1 };

/** More outlines than any corpus has. */
const ALL = { most: 10_000_000 };

/** The outlines of the calls before a change, and what the setup that made them does with them. */
export class Rehearser {
  readonly #folder = mkdtempSync(join(tmpdir(), "weir-rehearsed-"));
  /** Places in the corpus, by the ids of the calls. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #outlines: readonly Outline[];
  readonly #before: Facts[] = [];

  /** @param state folder of the gateway that ran the calls @param ids of the calls, in the order of the corpus */
  constructor(state: string, ids: readonly string[]) {
    this.#places = new Map(ids.map((id, index) => [id, index]));
    const { outlines, damaged } = readOutlines(state, ALL);
    if (damaged > 0) throw new Error(`${damaged} outlines are damaged`);
    this.#outlines = outlines.filter(({ call }) => this.#places.has(call));
  }

  /** Number of calls that have an outline. */
  get outlined(): number {
    return this.#outlines.length;
  }

  /** Finds what the setup before each change does. */
  async begin(base: Setup): Promise<void> {
    for await (const facts of this.#here(base)) this.#before.push(facts);
  }

  /** What {@link begin} has found, by the index of the call. */
  facts(): Map<number, Facts> {
    return new Map(this.#outlines.map(({ call }, at) => [this.#places.get(call)!, this.#before[at]!]));
  }

  /** @param root of a copy of the source, which is the other build @throws Error with what it said */
  async rehearse(setup: Setup, root?: string): Promise<Rehearsed> {
    const begun = performance.now();
    const rehearsal = new Rehearsal();
    let at = 0;
    for await (const after of root === undefined ? this.#here(setup) : this.#there(setup, root)) {
      rehearsal.add(this.#outlines[at]!, this.#before[at]!, after);
      at++;
    }
    if (at !== this.#outlines.length)
      throw new Error(`${at} of ${this.#outlines.length} outlines were rehearsed`);
    return this.#read(rehearsal, performance.now() - begun);
  }

  #read({ result: { changed, unknown } }: Rehearsal, ms: number): Rehearsed {
    const said = new Map<number, Said>(this.#outlines.map(({ call }) => [this.#places.get(call)!, NONE]));
    const what = new Map<number, string>();
    const reasons = new Map<string, number>();
    for (const { outline, differences } of changed) {
      const index = this.#places.get(outline.call)!;
      said.set(index, new Set(differences.map(({ cause }) => cause)));
      what.set(index, differences.map(({ cause, what: words }) => `${cause} ${words}`).join("; "));
    }
    for (const { call, why } of unknown) {
      said.set(this.#places.get(call)!, "needs its tape");
      for (const one of why) reasons.set(one, (reasons.get(one) ?? 0) + 1);
    }
    const of = (index: number) => said.get(index) ?? "no outline";
    return { of, what: (index) => what.get(index) ?? "", reasons, ms };
  }

  async *#here(setup: Setup): AsyncGenerator<Facts> {
    const cwd = this.#write(setup);
    const context = {
      ...{ env: environmentIn(cwd), cwd, sections: SECTIONS, references: newReferences() },
      ...{ ownPlugins: OWN_PLUGINS, foresees: foreseesOf(FEATURES) },
    };
    const { side } = await makeSide(context, { "--config": join(cwd, "weir.yaml") }, new Set());
    for (const outline of this.#outlines) yield side.facts(askedBy(outline));
  }

  /** A script runs the source of a copy as a binary does. */
  async *#there(setup: Setup, root: string): AsyncGenerator<Facts> {
    const cwd = this.#write(setup);
    const path = join(cwd, "weir");
    writeFileSync(path, `#!/bin/sh\nexec ${process.execPath} ${join(root, "src/main.ts")} "$@"\n`, {
      mode: 0o755,
    });
    const build = { path, config: join(cwd, "weir.yaml"), cwd, env: environmentIn(cwd), used: [] };
    yield* askBuild(build, this.#outlines);
  }

  /** @returns a folder of its own: plugins are read once from each */
  #write({ config, plugins }: Setup): string {
    const folder = mkdtempSync(join(this.#folder, "side-"));
    mkdirSync(join(folder, "plugins"));
    writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ ...config, state: join(folder, "state") }));
    for (const [file, text] of Object.entries(plugins)) writeFileSync(join(folder, "plugins", file), text);
    return folder;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const NONE: ReadonlySet<Cause> = new Set();
