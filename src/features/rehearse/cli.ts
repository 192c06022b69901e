/** `weir rehearse`: the last calls once more, through another config or another build, without a network. */
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { countOf, sinceOf, textOf } from "../../cli/books/values.ts";
import { withProgress } from "../../cli/books/progress.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import type { Config } from "../../config/schema.ts";
import { parseJson } from "../../core/json.ts";
import { stateHome } from "../../run/home.ts";
import { parseOutlines, readOutlines, type ReadOutlines } from "./keep/files.ts";
import type { Outline } from "./outline/outline.ts";
import { askedBy } from "./run/asked.ts";
import type { Facts } from "./run/facts.ts";
import { callsOnTape } from "./run/from-tape.ts";
import { askBuild } from "./run/other-build.ts";
import { Rehearsal, type Rehearsed } from "./run/rehearsal.ts";
import { explainChanged, reportJson, reportJunit, reportText } from "./run/report.ts";
import { configOf, makeSide } from "./run/sides.ts";

const LAST = 10_000;

/** @returns the exit code: 1 if more calls change than are allowed */
export async function run(context: Context): Promise<number> {
  const { flags, print, printError, cwd } = context;
  if (flags["--facts"]) return printFacts(context);
  const old = { "--config": textOf(flags, "--against"), "--plugins": textOf(flags, "--plugins") };
  const given = { ...old, "--config": textOf(flags, "--config") ?? old["--config"] };
  if (textOf(flags, "--config") === undefined && textOf(flags, "--binary") === undefined)
    throw new UsageError(
      "weir rehearse requires --config NEW.yaml or --binary WEIR: what would serve the calls instead.",
    );
  const { outlines, damaged } = outlinesOf(context, configOf(context, old));
  if (damaged > 0) printError(`weir: ${damaged} lines of the outlines are damaged; they are left out`);
  if (outlines.length === 0) {
    printError(
      "weir: there are no outlines. weir keeps them with `rehearse.outlines: on`, or where a state folder is named.",
    );
    return 1;
  }
  const allowed = flags["--allow"] === undefined ? 0 : allowedOf(flags);
  const done = await rehearse(context, outlines, old, given);
  const junit = textOf(flags, "--junit");
  if (junit !== undefined) writeFileSync(resolve(cwd, junit), reportJunit(done));
  const number = countOf(flags, "--explain");
  if (number !== undefined) {
    const changed = done.changed[number - 1];
    if (!changed) throw new UsageError(`--explain ${number}: ${done.changed.length} calls are changed`);
    print(JSON.stringify(explainChanged(changed), null, 2));
  } else print(flags["--json"] ? JSON.stringify(reportJson(done), null, 2) : reportText(done));
  return done.changed.length > allowed ? 1 : 0;
}

function allowedOf(flags: Context["flags"]): number {
  return textOf(flags, "--allow") === "0" ? 0 : countOf(flags, "--allow")!;
}

function outlinesOf({ flags, env, cwd, printError }: Context, config: Config): ReadOutlines {
  const tape = textOf(flags, "--tape");
  if (tape !== undefined) {
    const { outlines, lacking } = callsOnTape(resolve(cwd, tape));
    if (lacking > 0)
      printError(
        `weir: ${lacking} calls of the tape are without their request: an earlier weir recorded them`,
      );
    return { outlines, damaged: 0 };
  }
  const most = countOf(flags, "--last") ?? LAST;
  const since = sinceOf(flags, "--since", Date.now());
  const named = textOf(flags, "--state");
  const home = stateHome(named === undefined ? config : { state: resolve(cwd, named) }, env);
  if (home.kind === "memory") return { outlines: [], damaged: 0 };
  return readOutlines(home.folder, { most, ...(since !== undefined && { since }) });
}

type ConfigFlags = Readonly<Record<string, string | undefined>>;

async function rehearse(
  context: Context,
  outlines: readonly Outline[],
  old: ConfigFlags,
  given: ConfigFlags,
): Promise<Rehearsed> {
  const { flags, env, cwd, printError } = context;
  const used = usedBy(outlines);
  const before = await makeSide(context, old, used);
  const binary = textOf(flags, "--binary");
  const after = binary === undefined ? await makeSide(context, given, used) : undefined;
  const assumed = new Set([...before.assumed, ...(after?.assumed ?? [])]);
  if (assumed.size > 0)
    printError(
      `weir: credentials of ${[...assumed].join(", ")} are not here; the rehearsal goes on as if they were`,
    );
  const rehearsal = new Rehearsal();
  const compared = async () => {
    const others =
      binary === undefined
        ? undefined
        : askBuild(
            { path: resolve(cwd, binary), config: given["--config"], cwd, env, used: [...used] },
            outlines,
          );
    for (const outline of outlines) {
      const asked = askedBy(outline);
      const [one, other] = [
        await before.side.facts(asked),
        after ? await after.side.facts(asked) : await nextOf(others!),
      ];
      rehearsal.add(outline, one, other);
      // A signal and the line of progress get their turn.
      if (rehearsal.calls % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await others?.next();
  };
  await withProgress("rehearsing", compared(), async () => rehearsal.calls / outlines.length);
  return rehearsal.result;
}

async function nextOf(facts: AsyncGenerator<Facts, void>): Promise<Facts> {
  const { value, done } = await facts.next();
  if (done) throw new Error("the other build answered fewer outlines than it got");
  return value;
}

function usedBy(outlines: readonly Outline[]): Set<string> {
  return new Set(outlines.flatMap(({ by }) => by ?? []));
}

/** `--facts`: this build as the side of another one. */
async function printFacts(context: Context): Promise<number> {
  const { flags, print, printError } = context;
  const used = new Set((textOf(flags, "--used") ?? "").split(",").filter((name) => name !== ""));
  const config = { "--config": textOf(flags, "--config"), "--plugins": textOf(flags, "--plugins") };
  const { side } = await makeSide(context, config, used);
  for await (const line of createInterface({ input: process.stdin })) {
    const { outlines } = parseOutlines(line);
    if (outlines.length === 0) {
      printError(
        `weir: this is no outline that this weir reads: ${JSON.stringify(parseJson(line) ?? line).slice(0, 120)}`,
      );
      return 1;
    }
    print(JSON.stringify(await side.facts(askedBy(outlines[0]!))));
  }
  return 0;
}
