/** What `weir rehearse` says of a change: the part that knows its command and its report. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../../test/helpers/environment.ts";
import type { Facts } from "../../run/facts.ts";
import type { Setup } from "./base.ts";
import { CAUSES, type Cause } from "./truth.ts";

const ROOT = resolve(import.meta.dir, "../../../../..");

/** Of one call: its causes, none where both sides do the same; or why nothing is said. */
export type Said = ReadonlySet<Cause> | "needs its tape" | "no outline";

/** What scripts read of `weir rehearse --json`. */
interface Report {
  changes: readonly { call: string; causes: readonly string[] }[];
  unknown: readonly { call: string; why: readonly string[] }[];
}

export interface Rehearsed {
  /** @param index of the call in the corpus */
  of(index: number): Said;
  /** Why calls need their tape, with their number. */
  reasons: ReadonlyMap<string, number>;
  /** Milliseconds that the command took. */
  ms: number;
}

/** The config of a gateway that keeps an outline of each call. */
export const OUTLINED = { outlines: "on", share: 1 };

/** The outlines of the calls before a change, and the setup that made them. */
export class Rehearser {
  readonly #folder = mkdtempSync(join(tmpdir(), "weir-rehearsed-"));
  readonly #ids: readonly string[];
  readonly #outlined: ReadonlySet<string>;

  /** @param state folder of the gateway that ran the calls; it is copied @param ids of the calls, in the order of the corpus */
  constructor(base: Setup, state: string, ids: readonly string[]) {
    this.#ids = ids;
    cpSync(join(state, "outlines"), join(this.#folder, "state/outlines"), { recursive: true });
    this.#outlined = outlinedIn(join(this.#folder, "state/outlines"));
    this.#write("old", base);
  }

  /** Number of calls that have an outline. */
  get outlined(): number {
    return this.#ids.filter((id) => this.#outlined.has(id)).length;
  }

  /** @param root of a copy of the source, which is the other build @throws Error with what the command said */
  async rehearse(setup: Setup, root?: string): Promise<Rehearsed> {
    this.#write("new", setup);
    const begun = performance.now();
    const report = await this.#run(root === undefined ? [] : ["--binary", this.#binary(root)]);
    const changed = new Map(
      report.changes.map(({ call, causes }) => [call, new Set(causes.filter(isCause))]),
    );
    const unknown = new Set(report.unknown.map(({ call }) => call));
    const reasons = new Map<string, number>();
    for (const { why } of report.unknown)
      for (const one of why) reasons.set(one, (reasons.get(one) ?? 0) + 1);
    const of = (index: number): Said => {
      const id = this.#ids[index]!;
      if (unknown.has(id)) return "needs its tape";
      return changed.get(id) ?? (this.#outlined.has(id) ? NONE : "no outline");
    };
    return { of, reasons, ms: performance.now() - begun };
  }

  /** What the build finds for each outline of the calls, by the index of the call. */
  async facts(): Promise<Map<number, Facts>> {
    const folder = join(this.#folder, "state/outlines");
    const lines = linesIn(folder);
    const child = Bun.spawn(
      [
        process.execPath,
        join(ROOT, "src/main.ts"),
        "rehearse",
        "--facts",
        "--config",
        join(this.#folder, "old/weir.yaml"),
      ],
      {
        cwd: this.#folder,
        env: environmentIn(this.#folder),
        stdin: Buffer.from(lines.join("\n")),
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    const text = await new Response(child.stdout).text();
    const facts = text.split("\n").filter((line) => line !== "");
    if (facts.length !== lines.length) throw new Error(`${facts.length} facts of ${lines.length} outlines`);
    const places = new Map(this.#ids.map((id, index) => [id, index]));
    return new Map(lines.map((line, at) => [places.get(idIn(line)!)!, JSON.parse(facts[at]!) as Facts]));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(name: string, { config, plugins }: Setup): void {
    const folder = join(this.#folder, name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, "plugins"), { recursive: true });
    writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ ...config, state: join(folder, "state") }));
    for (const [file, text] of Object.entries(plugins)) writeFileSync(join(folder, "plugins", file), text);
  }

  /** A script that runs the source of a copy as a binary does. */
  #binary(root: string): string {
    const path = join(this.#folder, "weir");
    writeFileSync(path, `#!/bin/sh\nexec ${process.execPath} ${join(root, "src/main.ts")} "$@"\n`, {
      mode: 0o755,
    });
    return path;
  }

  async #run(more: readonly string[]): Promise<Report> {
    const files = [
      ...["--against", join(this.#folder, "old/weir.yaml")],
      ...["--config", join(this.#folder, "new/weir.yaml")],
      ...["--state", join(this.#folder, "state")],
    ];
    const child = Bun.spawn(
      [
        process.execPath,
        join(ROOT, "src/main.ts"),
        "rehearse",
        "--json",
        "--last",
        "1000000",
        ...files,
        ...more,
      ],
      { cwd: this.#folder, env: environmentIn(this.#folder), stdout: "pipe", stderr: "pipe" },
    );
    const [text, said] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    if (!text.startsWith("{")) throw new Error(said || `weir rehearse ended with ${child.exitCode}: ${text}`);
    return JSON.parse(text) as Report;
  }
}

const NONE: ReadonlySet<Cause> = new Set();

function isCause(cause: string): cause is Cause {
  return (CAUSES as readonly string[]).includes(cause);
}

function outlinedIn(folder: string): ReadonlySet<string> {
  return new Set(linesIn(folder).flatMap((line) => idIn(line) ?? []));
}

const idIn = (line: string) => /"call":"(req_[\w-]+)"/.exec(line)?.[1];

/** The outlines as they were written. */
function linesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "");
}
