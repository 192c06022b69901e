/** Another build of weir as a side of a rehearsal: it reads outlines and writes what it would do, as lines of JSON. */
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { parseJson } from "../../../core/json.ts";
import type { Outline } from "../outline/outline.ts";
import type { Facts } from "./facts.ts";
import { SALT, SALT_VARIABLE } from "./sides.ts";

/** How a build is started. */
export interface Build {
  /** Absolute path of the binary. */
  readonly path: string;
  readonly config: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the providers that answered the calls. */
  readonly used: readonly string[];
}

/**
 * Asks another build, one outline after the other.
 * @param outlines of the calls; with their texts, if they come from a tape
 * @returns what it would do with each, in their order @throws Error with what it said, if it does not know the command or breaks
 */
export async function* askBuild(build: Build, outlines: readonly Outline[]): AsyncGenerator<Facts, void> {
  const { path, config, cwd, env, used } = build;
  const flags = [
    ...(config === undefined ? [] : ["--config", config]),
    ...(used.length > 0 ? ["--used", used.join(",")] : []),
  ];
  const child = spawn(path, ["rehearse", "--facts", ...flags], {
    cwd,
    env: { [SALT_VARIABLE]: SALT, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => void (said = (said + String(chunk)).slice(-2_000)));
  const failed = new Promise<Error>((resolve) => child.on("error", resolve));
  const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  child.stdin.on("error", () => {});
  const fed = feed(child.stdin, outlines);
  let answered = 0;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const facts = parseJson(line);
      if (facts === undefined) break;
      answered++;
      yield facts as unknown as Facts;
    }
    const code = await Promise.race([ended, failed]);
    if (answered === outlines.length && code === 0) return;
    const why = code instanceof Error ? code.message : said.trim() || `it ended with ${code}`;
    throw new Error(`${path} answered ${answered} of ${outlines.length} outlines: ${why}`);
  } finally {
    child.kill();
    await fed;
  }
}

async function feed(stdin: NodeJS.WritableStream, outlines: readonly Outline[]): Promise<void> {
  let goOn = () => {};
  for (const event of ["drain", "close"]) stdin.on(event, () => goOn());
  for (const outline of outlines) {
    if (!stdin.writable) return;
    if (!stdin.write(`${JSON.stringify(outline)}\n`)) await new Promise<void>((resolve) => (goOn = resolve));
  }
  stdin.end();
}
