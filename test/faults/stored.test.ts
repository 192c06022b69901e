/** What it costs to store an answer and to read a chain, over the socket of a keeper in a process of its own. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { socketLink } from "../../src/keeper/socket-link.ts";
import { serve } from "../helpers/serving.ts";
import { answerOf, itemOf, PATIENT_MS } from "../keeper/suite.ts";
import { goal, LISTING } from "./goals.ts";

const ROUNDS = 300;
const CHAIN = 50;

goal(82, "a kilobyte of question and of answer is stored", "p50 ≤ 1 ms", () =>
  withStore(async (store) => {
    const text = "a question of about a kilobyte ".repeat(33);
    const times = await timed(ROUNDS, (n) =>
      store.put(
        answerOf(`a${n}`, { input: [itemOf(`i${n}`, text)], output: [itemOf(`o${n}`, text)] }),
        PATIENT_MS,
      ),
    );
    return {
      measured: `p50 ${times.p50.toFixed(2)} ms, p99 ${times.p99.toFixed(2)} ms`,
      holds: times.values.every((value) => value === "stored"),
      inTime: times.p50 <= 1,
    };
  }),
);

goal(83, `a chain of ${CHAIN} stored answers is read`, "p50 ≤ 20 ms", () =>
  withStore(async (store) => {
    for (let n = 0; n < CHAIN; n++)
      await store.put(answerOf(`c${n}`, { parent: n === 0 ? undefined : `c${n - 1}` }), PATIENT_MS);
    const times = await timed(ROUNDS, () => store.chain(`c${CHAIN - 1}`, "config:alice"));
    return {
      measured: `p50 ${times.p50.toFixed(2)} ms, p99 ${times.p99.toFixed(2)} ms`,
      holds: times.values.every((value) => Array.isArray(value) && value.length === CHAIN),
      inTime: times.p50 <= 20,
    };
  }),
);

/** Uses a store as a worker of a gateway with two workers does. */
async function withStore<Result>(use: (store: AnswerClient) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "weir-stored-"));
  const weir = await serve({ config: "", workers: 2, binary: isBuilt(), env: { WEIR_STATE: folder } });
  const run = join(weir.folder, "run/weir");
  const store = new AnswerClient(
    socketLink(
      join(
        run,
        readdirSync(run).find((name) => name.endsWith(".sock"))!,
      ),
    ),
  );
  try {
    await store.start();
    return await use(store);
  } finally {
    await store.close();
    await weir.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The binary if there is one, because it is what operators run. */
function isBuilt(): boolean {
  return !LISTING && existsSync(join(import.meta.dir, "../../dist/weir"));
}

/** Milliseconds of each round, and what each returned. */
async function timed<Value>(rounds: number, ask: (round: number) => Promise<Value>) {
  const times: number[] = [];
  const values: Value[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    values.push(await ask(round));
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(rounds / 2)]!, p99: times[Math.floor(rounds * 0.99)]!, values };
}
