/** Ids of sessions of somebody else, and ids that are none: the same answer, in the same time. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { LegacyClient } from "../support/clients.ts";
import { fakeServer, text } from "../support/servers.ts";
import { serveTools } from "./place.ts";
import { differenceOf } from "./ranks.ts";

setDefaultTimeout(240_000);

const KEYS = { alice: "sk-alice-of-the-tools-0123456789", bob: "sk-bob-of-the-tools-0123456789ab" };
const METHODS = ["POST", "GET", "DELETE"] as const;
const RANDOM_IDS = 10_000;
/** Ids of each kind that are measured: none is new when its time counts. */
const MEASURED = 100;
/** Pairs of requests of one repeat, by method. */
const PAIRS = 1_500;
const REPEATS = 3;
/** Chance below which times count as apart. */
const LEAST = 0.01;

const random = () => randomBytes(32).toString("base64url");

test("neither the answer nor its time tells that a session is another's", async () => {
  const fake = fakeServer("legacy", { echo: () => text("here") });
  const keys = Object.entries(KEYS).map(([name, key]) => ({
    ...{ name, path: "/eng" },
    sha256: new Bun.CryptoHasher("sha256").update(key).digest("hex"),
  }));
  const gateway = await serveTools({ fake: { url: fake.url, allow: ["*"] } }, { workers: 1, keys });
  const url = `${gateway.url}/mcp/fake`;
  const ask = async (method: string, session: string) => {
    const headers = {
      authorization: `Bearer ${KEYS.bob}`,
      ...{ "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" },
    };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const began = performance.now();
    const got = await fetch(url, { method, headers, ...(method === "POST" && { body }) });
    const answer = await got.text();
    return { ms: performance.now() - began, said: `${got.status} ${answer}` };
  };
  try {
    const own = await LegacyClient.open({ url, key: KEYS.alice });
    const said = new Map<string, Set<string>>(METHODS.map((method) => [method, new Set()]));
    for (let at = 0; at < RANDOM_IDS; at++) {
      const method = METHODS[at % METHODS.length]!;
      said.get(method)!.add((await ask(method, random())).said);
    }
    for (const method of METHODS) {
      const foreign = (await ask(method, own.session)).said;
      expect([method, ...said.get(method)!]).toEqual([method, foreign]);
      expect(foreign).toStartWith("404 ");
    }
    const sessions = [own];
    while (sessions.length < MEASURED) sessions.push(await LegacyClient.open({ url, key: KEYS.alice }));
    const ids = { foreign: sessions.map(({ session }) => session), unknown: sessions.map(random) };
    for (const method of METHODS) {
      const chances: number[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat++) {
        const times = { foreign: [] as number[], unknown: [] as number[] };
        for (let pair = 0; pair < PAIRS; pair++) {
          const isFirst = Math.random() < 0.5;
          for (const kind of isFirst ? (["foreign", "unknown"] as const) : (["unknown", "foreign"] as const))
            times[kind].push((await ask(method, ids[kind][pair % MEASURED]!)).ms);
        }
        chances.push(differenceOf(times.foreign, times.unknown));
      }
      console.log(`${method}: p = ${chances.map((chance) => chance.toFixed(3)).join(", ")}`);
      expect(chances.filter((chance) => chance < LEAST).length, `${method}: ${chances}`).toBeLessThan(2);
    }
    expect((await own.request("ping")).status).toBe(200);
  } finally {
    await gateway.end();
    fake.stop();
  }
});
