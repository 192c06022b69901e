/** Runs `weir rehearse` on a pasted config, in a process of its own: a config that takes all of its time takes none of the keeper. */
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { programCommand } from "../../../process/program.ts";

/** Milliseconds. */
export const LIMIT_MS = 120_000;
/** Most entries beside the config file to which a pasted config may refer. */
const MOST_ENTRIES = 5_000;
/** Calls go first. */
const NICE = 10;

export interface PastedRun {
  text: string;
  /** The config on the disk, as an absolute path. Absent: weir runs without one. */
  file: string | undefined;
  /** The folder of plugins, if a flag of the gateway names it. */
  plugins: string | undefined;
  /** State folder with the outlines. */
  state: string;
  last: number;
  /** Milliseconds since 1970. */
  since: number | undefined;
  /** Ends it. */
  signal: AbortSignal;
  limitMs?: number;
}

/** What came of it. `refused`: the pasted config is wrong; `failed`: something else is; `empty`: no call began in this time. */
export type PastedOutcome =
  | { kind: "done"; report: JsonObject; notes: readonly string[] }
  | { kind: "empty" }
  | { kind: "refused" | "failed"; why: string };

/** Name of a pasted config in messages. */
export const nameOfPasted = (file: string | undefined): string => basename(file ?? "weir.yaml");

export async function rehearsePasted(run: PastedRun): Promise<PastedOutcome> {
  const folder = mkdtempSync(join(tmpdir(), "weir-rehearsal-"));
  try {
    const pasted = join(folder, nameOfPasted(run.file));
    writeFileSync(pasted, run.text, { mode: 0o600, flag: "wx" });
    linkBeside(pasted, dirname(run.file ?? join(process.cwd(), "weir.yaml")));
    return outcomeOf(await ended(argumentsOf(run, pasted), run), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Relative paths of the pasted config lead where those of the config on the disk do. */
function linkBeside(pasted: string, place: string): void {
  for (const name of readdirSync(place).slice(0, MOST_ENTRIES))
    if (name !== basename(pasted)) symlinkSync(join(place, name), join(dirname(pasted), name));
}

function argumentsOf({ file, plugins, state, last, since }: PastedRun, pasted: string): string[] {
  return [
    ...["rehearse", "--json", "--config", pasted, "--state", state, "--last", String(last)],
    ...(file === undefined ? [] : ["--against", file]),
    ...(plugins === undefined ? [] : ["--plugins", plugins]),
    ...(since === undefined ? [] : ["--since", new Date(since).toISOString()]),
  ];
}

interface Ended {
  code: number | null;
  output: string;
  errors: string;
  isLate: boolean;
}

async function ended(args: readonly string[], { signal, limitMs = LIMIT_MS }: PastedRun): Promise<Ended> {
  const child = Bun.spawn({ ...programCommand(args), stdio: ["ignore", "pipe", "pipe"] });
  let isLate = false;
  const end = () => child.kill("SIGKILL");
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, limitMs);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    setPriority(child.pid, NICE);
  } catch {
    // It has ended, or the system permits no change.
  }
  try {
    const [output, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, output, errors, isLate };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

function outcomeOf({ code, output, errors, isLate }: Ended, folder: string): PastedOutcome {
  if (isLate)
    return {
      kind: "failed",
      why: "The rehearsal took too long and was ended; choose fewer calls, or run weir rehearse on the command line.",
    };
  const report = parseJson(output);
  const notes = linesOf(errors);
  if (isObject(report)) return { kind: "done", report, notes };
  if (notes.some((note) => note.startsWith("there are no outlines"))) return { kind: "empty" };
  const fault = notes.map((line) => parseJson(line)).find(isObject)?.["error"];
  const sentence = isObject(fault) ? String(fault["message"]) : notes.at(-1);
  if (sentence?.includes(folder)) return { kind: "refused", why: sentence.replaceAll(`${folder}/`, "") };
  return { kind: "failed", why: sentence ?? `The rehearsal ended with code ${code}.` };
}

/** Without the name of the program. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim().replace(/^weir: /, ""))
    .filter((line) => line !== "");
}
