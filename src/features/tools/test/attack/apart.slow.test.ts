/** Two keys at one program that remembers: neither sees what the other told it, also when programs crash. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../../../test/helpers/serving.ts";
import { textOf } from "../support/clients.ts";
import { connect, ERAS, errorOf, serveTools } from "./place.ts";

setDefaultTimeout(120_000);

const KEYS = { alice: "sk-alice-of-the-tools-0123456789", bob: "sk-bob-of-the-tools-0123456789ab" };
type Name = keyof typeof KEYS;
const NAMES = ["alice", "bob"] as const;
const ROUNDS = 200;
/** Rounds in which a program crashes while calls of both keys run. */
const CRASHES = [60, 130];

interface Recalled {
  readonly own: readonly string[];
  readonly kept: readonly string[];
}

test("what one key stores the other never sees, in 400 calls and two crashes", async () => {
  const command = [process.execPath, join(import.meta.dir, "remembering-server.ts")];
  const program = { command, env: { FACTS: "{folder}/facts" }, allow: ["*"] };
  const keys = NAMES.map((name) => ({
    ...{ name, path: "/eng" },
    sha256: new Bun.CryptoHasher("sha256").update(KEYS[name]).digest("hex"),
  }));
  const gateway = await serveTools({ program }, { workers: 2, keys });
  const url = `${gateway.url}/mcp/program`;
  const told: Record<Name, string[]> = { alice: [], bob: [] };
  const ended: number[] = [];
  try {
    const clients = await Promise.all(
      NAMES.flatMap((name) =>
        ERAS.map(async (era) => ({ name, one: await connect(era, { url, key: KEYS[name] }) })),
      ),
    );
    const of = (name: Name, round: number) => clients.filter((one) => one.name === name)[round % 2]!.one;
    const recalled = async (name: Name, round: number) =>
      JSON.parse(textOf(await of(name, round).call("recall"))) as Recalled;
    const remember = async (name: Name, round: number) => {
      const said = `${name}'s ${round}`;
      const got = await of(name, round).call("remember", { said });
      if ("error" in got.message) ended.push(errorOf(got).code!);
      else told[name].push(said);
    };
    const foreign = (name: Name, { own, kept }: Recalled) =>
      [...own, ...kept].filter((said) => said !== "" && !said.startsWith(`${name}'s `));
    const pidOf = async (name: Name) => textOf(await of(name, 0).call("pid"));
    const before = { alice: await pidOf("alice"), bob: await pidOf("bob") };
    expect(before.alice).not.toBe(before.bob);
    for (let round = 0; round < ROUNDS; round++) {
      const whose = CRASHES.indexOf(round);
      const crash = whose < 0 ? [] : [of(NAMES[whose]!, round).call("crash")];
      await Promise.all([...NAMES.map((name) => remember(name, round)), ...crash]);
      for (const got of await Promise.all(crash)) expect(errorOf(got).code).toBe(1004);
      // A program that has crashed starts again after a moment.
      if (whose >= 0)
        expect(await until(async () => /^\d+$/.test(await pidOf(NAMES[whose]!)), 20_000)).toBe(true);
      const all = await Promise.all(NAMES.map((name) => recalled(name, round)));
      expect(NAMES.flatMap((name, at) => foreign(name, all[at]!))).toEqual([]);
    }
    const after = { alice: await pidOf("alice"), bob: await pidOf("bob") };
    expect(new Set([...Object.values(before), ...Object.values(after)]).size).toBe(4);
    for (const name of NAMES) {
      const { own, kept } = await recalled(name, 0);
      // What a call that was cut has written may be there, too.
      expect(told[name].filter((said) => !kept.includes(said))).toEqual([]);
      expect(own.length).toBeLessThan(ROUNDS);
    }
    expect(ended.every((code) => code === 1004)).toBe(true);
    expect(told.alice.length + told.bob.length).toBeGreaterThanOrEqual(2 * ROUNDS - CRASHES.length);
  } finally {
    await gateway.end();
  }
});
