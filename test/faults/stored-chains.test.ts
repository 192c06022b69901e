/** Stored answers under kill -9, with few chains; `bun test/faults/stored-chains.ts` runs ten thousand. */
import { expect, test } from "bun:test";
import { runChains } from "./stored-chains.ts";

test("with kill -9 of a worker and of the keeper no committed answer is lost, reached by another key, or in a wrong conversation", async () => {
  const { committed, killed, intrusions, lost, foreign, wrong } = await runChains(150);
  expect({ lost, foreign, wrong }).toEqual({ lost: 0, foreign: 0, wrong: 0 });
  expect(killed).toEqual(["worker", "keeper", "keeper"]);
  expect(committed).toBe(450);
  expect(intrusions).toBeGreaterThan(0);
}, 120_000);
