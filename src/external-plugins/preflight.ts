/**
 * The preflight: each external plugin is imported once in a short-lived child process before the gateway imports it. Top-level
 * code that loops, never finishes or ends the process would stop the gateway; in the child it is contained, and the faulty file
 * is known.
 */
import { PREFLIGHT_FLAG, programCommand } from "../process/program.ts";
import { cleanEnvironment } from "../process/reexec.ts";

/** @returns the fault of each file that must not be imported: file → clause */
export async function preflight(files: readonly string[], loadMs: number): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  let left = files;
  while (left.length > 0) {
    const { passed, fault } = await preflightUntilFault(left, loadMs);
    const blamed = left[passed];
    if (fault === undefined || blamed === undefined) break;
    faults.set(blamed, fault);
    left = left.slice(passed + 1);
  }
  return faults;
}

interface PreflightResult {
  /** Number of imported files. */
  passed: number;
  /** The fault of the next file; absent if all files passed, or if no process could be started. */
  fault?: string;
}

async function preflightUntilFault(files: readonly string[], loadMs: number): Promise<PreflightResult> {
  const token = crypto.randomUUID();
  const child = spawnPreflight(token, files);
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
      fault: `did not finish loading within ${seconds(loadMs)}; its top-level code loops or waits`,
    };
  const how = child.signalCode ? `by ${child.signalCode}` : `with exit code ${code}`;
  return {
    passed,
    fault: `ends the process while it is loaded, ${how}; remove that from its top-level code`,
  };
}

/** Maximum time until the process reaches its first file. Milliseconds. */
const START_MS = 15_000;

/** If no process can be started, the preflight is skipped. */
function spawnPreflight(token: string, files: readonly string[]) {
  try {
    return Bun.spawn({
      ...programCommand([PREFLIGHT_FLAG, token, ...files]),
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
