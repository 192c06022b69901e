/** Clients with one planted bug each: the drill finds it, and names it. */
import { expect, test } from "bun:test";
import { clientCommand, drilled } from "./drilling.ts";

const PLANTED: readonly [client: string, fault: string, reason: RegExp][] = [
  ["planted-no-pause", "rate-limited", /^repeated without a pause: \d+ requests .*told to wait 2 s$/],
  ["planted-no-timeout", "stall", /^hung: still waited for the answer at the time limit of 4 s/],
  ["planted-half", "ended-early", /^took half an answer for a whole one/],
  ["planted-swallow", "unauthorized", /^hid the failure: exit code 0 and no word of it$/],
  [
    "planted-repeats-refusal",
    "unauthorized",
    /^repeated what cannot succeed: \d+ equal requests, and had not stopped/,
  ],
];

for (const [client, fault, reason] of PLANTED)
  test(`the bug of ${client} is found by ${fault}`, async () => {
    const { code, results } = await drilled(["--timeout", "4", "--only", fault], clientCommand(client));
    expect(results.get(fault)?.reason).toMatch(reason);
    expect(results.get(fault)?.verdict).toBe("bad");
    expect(code).toBe(1);
  }, 60_000);
