/** Prints what each change really alters. `--changes N --calls N --seed N --kind KIND --name WORD` */
import { parseArgs } from "node:util";
import { baseSetup } from "./base.ts";
import { type Change, someChanges } from "./changes.ts";
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

for (const change of someChanges(Number(values.changes), Number(values.seed)).filter(wanted)) {
  if (change.kind === "fault") continue;
  const setup = structuredClone(base);
  change.apply(setup, fake.url);
  try {
    const counts = countsOf(truthOf(old, await observe(setup, calls, fake)));
    console.log(
      [...CAUSES.map((cause) => String(counts[cause]).padStart(8)), `  ${change.kind} ${change.name}`].join(
        "",
      ),
    );
  } catch (thrown) {
    console.log(`  ${change.kind} ${change.name} does not start: ${String(thrown)}`);
  }
}
fake.stop();
process.exit(0);
