/** The walk of a call: the files with lines that run for one call and not without it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

export interface WalkedFile {
  file: string;
  /** Lines that only the call runs. */
  lines: number;
}

/** @param walk `native`: chat to a chat-completions host; `translated`: messages to a gemini host; both streamed */
export async function walkOf(walk: "native" | "translated"): Promise<readonly WalkedFile[]> {
  const [without, once] = [await covered(walk, 0), await covered(walk, 1)];
  const counts = new Map<string, number>();
  for (const [line, hits] of once) {
    if (hits === 0 || (without.get(line) ?? 0) > 0) continue;
    const file = line.slice(0, line.lastIndexOf(":"));
    if (/^(src|plugins)\//.test(file)) counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  return [...counts].map(([file, lines]) => ({ file, lines })).sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Hits by `file:line`. */
async function covered(walk: string, calls: number): Promise<ReadonlyMap<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), "weir-walk-"));
  try {
    const child = Bun.spawn(
      [
        ...[process.execPath, "test", "--coverage", "--coverage-reporter=lcov"],
        ...[`--coverage-dir=${folder}`, "./test/walk/call.ts"],
      ],
      {
        ...{ cwd: ROOT, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
        env: { ...process.env, WALK: walk, CALLS: String(calls) },
      },
    );
    const said = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`the walk ${walk} with ${calls} calls failed:\n${said}`);
    return hitsIn(readFileSync(join(folder, "lcov.info"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param lcov `SF:FILE` lines, each followed by the `DA:LINE,HITS` of the file */
function hitsIn(lcov: string): ReadonlyMap<string, number> {
  const hits = new Map<string, number>();
  let file = "";
  for (const line of lcov.split("\n")) {
    if (line.startsWith("SF:")) file = line.slice(3);
    if (!line.startsWith("DA:")) continue;
    const [at, count] = line.slice(3).split(",");
    hits.set(`${file}:${at}`, Number(count));
  }
  return hits;
}
