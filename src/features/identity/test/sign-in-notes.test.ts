/** The audit log of sign-ins: reasons without texts, and few entries whoever asks. */
import { expect, test } from "bun:test";
import { RefusalNotes } from "../sign-in/refusals.ts";
import { TokenFault } from "../tokens/fault.ts";

function notes() {
  const entries: { address: string; subject: string; facts: any }[] = [];
  let now = 1_000_000;
  const host = {
    note: async (actor: { address?: string }, _: string, subject: string, facts?: unknown) =>
      void entries.push({ address: actor.address!, subject, facts }),
    report: () => {},
  };
  const refusals = new RefusalNotes(host, () => now);
  const refuse = (address: string, cause: unknown = new TokenFault("expired", "planted text")) =>
    refusals.add({ attempt: "abcdefgh", provider: "corp", address, cause });
  return { entries, refuse, wait: (ms: number) => (now += ms) };
}

test("an entry has the reason and the attempt, and nothing that was sent", () => {
  const { entries, refuse } = notes();
  refuse("10.0.0.1");
  refuse("10.0.0.1", new Error("planted text"));
  expect(entries.map(({ facts }) => facts)).toEqual([
    { reason: "expired", attempt: "abcdefgh" },
    { reason: "failed", attempt: "abcdefgh" },
  ]);
  expect(entries[0]!.subject).toBe("sign-in/corp");
  expect(JSON.stringify(entries)).not.toContain("planted");
});

test("one address has 5 entries a minute, and all together 60; the next one says how many are missing", () => {
  const { entries, refuse, wait } = notes();
  for (let n = 0; n < 1_000; n++) refuse("10.0.0.1");
  expect(entries.length).toBe(5);
  for (let n = 0; n < 1_000; n++) refuse(`10.0.1.${n}`);
  expect(entries.length).toBe(60);
  wait(59_999);
  refuse("10.0.0.2");
  expect(entries.length).toBe(60);
  wait(1);
  refuse("10.0.0.1");
  expect(entries.at(-1)!.facts).toEqual({ reason: "expired", attempt: "abcdefgh", notListedBefore: 946 });
});
