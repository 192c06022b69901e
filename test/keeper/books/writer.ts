/** Writes batches to a file of the books, from the first one that is not in it, and prints the number of each that is stored. */
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { attempt, batch, call, commit, MONTH } from "./make.ts";

const CALLS = 20;
const LIFE = "life";
const path = process.argv[2]!;
const store = sqliteStore(path);
await store.open();
const accounts = [budgetAccount("a", MONTH)];
for (let seq = (await store.positions()).get(LIFE) ?? 0; ; seq++) {
  const calls = Array.from({ length: CALLS }, (_, index) =>
    call({
      id: `req_${seq}_${index}`,
      attempts: Array.from({ length: 1 + (index % 2) }, () => attempt({ accounts }, { cost: 1_000 + index })),
    }),
  );
  // A batch that was not acknowledged is sent again.
  if (seq > 0) await store.commit(commit({ batches: [batch(seq, calls, LIFE)] }));
  await store.commit(
    commit({
      batches: [
        batch(
          seq + 1,
          calls.map((one) => ({ ...one, id: `${one.id}_next` })),
          LIFE,
        ),
      ],
    }),
  );
  process.stdout.write(`${seq + 1}\n`);
}
