/** Prints what each change really alters. `--changes N --calls N --seed N --kind KIND --name WORD` */
import { parseArgs } from "node:util";
import { baseSetup } from "./base.ts";
import { type Change, someChanges } from "./changes.ts";
import { FaultyCopy } from "./copies.ts";
import { corpus } from "./corpus.ts";
import { startFake } from "./fake.ts";
import { observe } from "./observe.ts";
import { CAUSES, countsOf, truthOf } from "./truth.ts";

const { values } = parseArgs({
  options: {
    changes: { type: "string", default: "10" },
    calls: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    name: { type: "string" },
  },
});

const wanted = ({ kind, name }: Change) =>
  (values.kind === undefined || kind === values.kind) &&
  (values.name === undefined || name.includes(values.name));

const calls = corpus(Number(values.calls), Number(values.seed));
const fake = startFake();
const base = baseSetup(fake.url, "");
const old = await observe(base, calls, fake);
const same = countsOf(truthOf(old, await observe(base, calls, fake)));
console.log(`${calls.length} calls; unchanged: ${JSON.stringify(same)}`);
console.log([...CAUSES.map((cause) => cause.padStart(8)), "  change"].join(""));

const copy = new FaultyCopy();
const observed = (change: Change) => {
  const setup = structuredClone(base);
  if (change.kind === "fault") return copy.with(change, (root) => observe(setup, calls, fake, { root }));
  change.apply(setup, fake.url);
  return observe(setup, calls, fake);
};

for (const change of someChanges(Number(values.changes), Number(values.seed)).filter(wanted)) {
  const named = `  ${change.kind} ${change.name}`;
  try {
    const counts = countsOf(truthOf(old, await observed(change)));
    console.log([...CAUSES.map((cause) => String(counts[cause]).padStart(8)), named].join(""));
  } catch (thrown) {
    console.log(`${named} does not start: ${String(thrown)}`);
  }
}
copy.remove();
fake.stop();
process.exit(0);
