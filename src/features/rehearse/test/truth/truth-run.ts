/**
 * Prints what each change really alters, and with `--judge` what `weir rehearse` says of it.
 * With `--same N` it rehearses an unchanged config over N outlines, of as many seeds, in this process and in another one.
 * `--changes N --calls N --seed N --kind KIND --name WORD --judge --fidelity`
 */
import { parseArgs } from "node:util";
import { type Change, someChanges } from "./changes.ts";
import { type Unfaithful, unfaithful } from "./fidelity.ts";
import { judge, type Judged, smallest, sumOf, type Wrong } from "./judge.ts";
import { countsOf, CAUSES } from "./truth.ts";
import type { Rehearsed } from "./rehearsed.ts";
import { Trial } from "./trial.ts";

const { values } = parseArgs({
  options: {
    changes: { type: "string", default: "10" },
    calls: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    name: { type: "string" },
    fidelity: { type: "boolean", default: false },
    same: { type: "string" },
    judge: { type: "boolean", default: false },
  },
});

const wanted = ({ kind, name }: Change) =>
  (values.kind === undefined || kind === values.kind) &&
  (values.name === undefined || name.includes(values.name));

if (values.same !== undefined) await tellSame(Number(values.same));

const trial = await Trial.start(Number(values.calls), Number(values.seed), values.judge || values.fidelity);
const { calls } = trial;
const { outlined } = trial;
console.log(`${calls.length} calls${values.judge ? `, ${outlined} with an outline` : ""}`);
if (values.fidelity) tellFidelity();
const columns = values.judge ? [...CAUSES, "found", "missed", "alarms", "other", "tape", "without"] : CAUSES;
console.log([...columns.map((cause) => cause.padStart(8)), "  change"].join(""));

const all: Judged[] = [];
for (const change of someChanges(Number(values.changes), Number(values.seed)).filter(wanted)) {
  const name = `${change.kind} ${change.name}`;
  try {
    const { truth, rehearsed } = await trial.of(change);
    const counts = countsOf(truth);
    const judged = rehearsed && judge(truth, rehearsed.of);
    if (judged) {
      all.push(judged);
      const { found, missed, alarms, otherwise, tape, without } = judged;
      counts.push(found, missed.length, alarms.length, otherwise.length, tape, without);
    }
    const time = rehearsed ? ` (${(rehearsed.ms / 1000).toFixed(1)} s)` : "";
    console.log([...counts.map((count) => String(count).padStart(8)), `  ${name}${time}`].join(""));
    if (judged) tell(judged, rehearsed);
  } catch (thrown) {
    console.log(`${"".padStart(8 * columns.length)}  ${name} does not run: ${String(thrown).slice(0, 400)}`);
  }
}
if (all.length > 0) sum(sumOf(all));
trial.stop();
process.exit(0);

/** Rehearses what is not changed, over at least that number of outlines. */
async function tellSame(wanted: number): Promise<never> {
  let outlines = 0;
  const found: string[] = [];
  for (let seed = Number(values.seed); outlines < wanted; seed++) {
    const one = await Trial.start(Number(values.calls), seed, true);
    found.push(...(await one.same(false)), ...(await one.same(true)));
    outlines += one.outlined;
    one.stop();
    console.log(`${outlines} outlines, in this process and in another one: ${found.length} differences`);
  }
  for (const what of new Set(found)) console.log(`    ${what}`);
  process.exit(found.length > 0 ? 1 : 0);
}

/** How many outlines go another way than their calls, and the smallest call of each kind. */
function tellFidelity(): void {
  const found = new Map<Unfaithful, { index: number; sides: [string, string] }[]>();
  for (const [index, facts] of trial.facts)
    for (const [name, sides] of unfaithful(facts, trial.before(index)))
      found.set(name, [...(found.get(name) ?? []), { index, sides }]);
  for (const [name, all] of found) {
    console.log(`outlines with another ${name} than their call: ${all.length}`);
    const sorted = all.toSorted((a, b) => calls[a.index]!.body.length - calls[b.index]!.body.length);
    for (const { index, sides } of sorted.slice(0, 5)) {
      const { path, model, source } = calls[index]!;
      console.log(
        `    call ${index} ${path} ${model} (${source})\n        outline ${sides[0]}\n        call    ${sides[1]}`,
      );
    }
  }
}

function tell(judged: Judged, { reasons, what }: Rehearsed): void {
  const size = (index: number) => calls[index]!.body.length;
  const kinds = { missed: judged.missed, alarm: judged.alarms, other: judged.otherwise };
  for (const [kind, wrong] of Object.entries(kinds)) {
    const one = smallest(wrong, size);
    if (one) console.log(`    ${kind}: ${described(one)} ${what(one.index).slice(0, 200)}`);
  }
  for (const [why, count] of reasons) console.log(`    tape: ${count}: ${why}`);
}

function described({ index, truth, said }: Wrong): string {
  const { path, model, source } = calls[index]!;
  return `call ${index} ${path} ${model} (${source}): truth ${truth.join(" ")}, said ${said.join(" ") || "nothing"}`;
}

function sum({
  calls: judged,
  altered,
  found,
  missed,
  alarms,
  otherwise,
  tape,
  tapeAltered,
  without,
}: Judged): void {
  const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`;
  console.log(
    `recall: ${found} of ${altered} altered calls, ${share(found, altered)}; ${missed.length} missed`,
  );
  console.log(`false alarms: ${alarms.length} of ${judged} calls, ${share(alarms.length, judged)}`);
  console.log(`found by another cause alone: ${otherwise.length}`);
  console.log(`need their tape: ${tape}, ${share(tape, judged)}; altered: ${tapeAltered}`);
  console.log(`altered without an outline: ${without}`);
}
