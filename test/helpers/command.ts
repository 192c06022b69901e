/** One command of weir, as a user runs it: from source, or the compiled binary with `WEIR_TARGET=binary`. */
import { join, resolve } from "node:path";
import { environmentIn } from "./environment.ts";
import { TARGET } from "./gateway.ts";

const ROOT = resolve(import.meta.dir, "../..");
export const MAIN = join(ROOT, "src/main.ts");
/** What starts weir. */
export const PROGRAM = TARGET === "binary" ? [join(ROOT, "dist/weir")] : [process.execPath, MAIN];

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface CommandOptions {
  cwd: string;
  /** The whole environment besides `PATH`. */
  env?: Record<string, string>;
  /** Standard input. */
  input?: string;
}

/** A command that does not end within this time is killed, and its code is not 0. Milliseconds. */
const PATIENCE_MS = 60_000;

export async function runCommand(args: readonly string[], { cwd, env, input }: CommandOptions): Promise<Ran> {
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd,
    env: environmentIn(cwd, env),
    stdin: new Blob([input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: PATIENCE_MS,
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}
