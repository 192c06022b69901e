/**
 * The rehearsal: dropped files are imported once in a short-lived process of their own before the gateway imports them.
 * A top level that loops, waits for ever or ends the process cannot be contained by the process it runs in;
 * here it costs a child, and the file that did it is known by name.
 */
import { programCommand } from "../program.ts";
import { cleanEnvironment } from "../reexec.ts";

/** First argument of the process that rehearses; then come a token and the files. */
export const REHEARSAL = "--rehearse-plugins";

/** @returns what is wrong with each file that must not be imported: file → clause. */
export async function rehearse(files: readonly string[], loadMs: number): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  let left = files;
  while (left.length > 0) {
    const { passed, fault } = await rehearseUntilFault(left, loadMs);
    const blamed = left[passed];
    if (fault === undefined || blamed === undefined) break;
    faults.set(blamed, fault);
    left = left.slice(passed + 1);
  }
  return faults;
}

interface Rehearsed {
  /** How many of the files were imported. */
  passed: number;
  /** What the next one did; absent when all passed, or when no process could be had to rehearse in. */
  fault?: string;
}

async function rehearseUntilFault(files: readonly string[], loadMs: number): Promise<Rehearsed> {
  const token = crypto.randomUUID();
  const child = spawnRehearsal(token, files);
  if (!child) return { passed: 0 };
  let passed = 0;
  let begun = false;
  let late = false;
  const giveUp = () => {
    late = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(giveUp, START_MS);
  for await (const line of linesOf(child.stdout)) {
    if (!line.includes(token)) continue;
    if (line.endsWith(" begin")) begun = true;
    else passed++;
    clearTimeout(timer);
    timer = setTimeout(giveUp, loadMs);
  }
  const code = await child.exited;
  clearTimeout(timer);
  if (passed === files.length || !begun) return { passed };
  if (late)
    return {
      passed,
      fault: `did not finish loading within ${seconds(loadMs)}; its top level loops or waits`,
    };
  const how = child.signalCode ? `by ${child.signalCode}` : `with exit code ${code}`;
  return { passed, fault: `ends the process while it is loaded, ${how}; take that out of its top level` };
}

/** Longest time a process may take to get to its first file. Milliseconds. */
const START_MS = 15_000;

/** Where no process can be started the import itself is all there is. */
function spawnRehearsal(token: string, files: readonly string[]) {
  try {
    return Bun.spawn({
      ...programCommand([REHEARSAL, token, ...files]),
      env: cleanEnvironment(process.env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
  } catch {
    return undefined;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
