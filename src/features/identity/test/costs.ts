/**
 * What identity costs: `bun src/features/identity/test/costs.ts`. Calls with 100 tokens against calls with a key, in alternating
 * rounds; the memory of a worker with 100,000 people of the store, and with 100,000 tokens that it has verified. It takes two minutes,
 * needs wrk, and the machine for itself.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Serving, serve } from "../../../../test/helpers/serving.ts";
import { makeKeyText } from "../../../ledger/keys/form.ts";
import { Issuer } from "./support/issuer.ts";

const ROUNDS = 7;
const SECONDS = 3;
const TOKENS = 100;
const MANY = 100_000;
const BODY = JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hi" }] });

const folder = mkdtempSync(join(tmpdir(), "weir-costs-"));
const issuer = await Issuer.start("ES256");
const key = makeKeyText("call");

const config = (state: string, identity = true) =>
  JSON.stringify({
    ...{ state, keys: [{ name: "one", key, path: "/eng" }], log: { level: "error" } },
    ...(identity && {
      identity: {
        providers: {
          corp: { issuer: issuer.url, audience: "weir", groups: { users: { member: "/eng" } } },
        },
      },
    }),
  });

const tokenOf = (number: number) =>
  issuer.token({ sub: `p${number}`, email: `p${number}@corp.example`, groups: ["users"] });

/** Resident memory of a process that is not of files. Bytes. */
function memoryOf(pid: number): number {
  const found = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? 0) * 1_024;
}

const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** Calls a second. */
async function rate(url: string, script: string): Promise<number> {
  const args = ["wrk", "-t1", "-c16", `-d${SECONDS}s`, "-s", script, `${url}/v1/chat/completions`];
  const child = Bun.spawn(args, { stdout: "pipe" });
  const out = await new Response(child.stdout).text();
  if (/Non-2xx/.test(out)) throw new Error(out);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1]);
}

function scriptOf(name: string, credentials: readonly string[]): string {
  const file = join(folder, `${name}.lua`);
  const list = credentials.map((one) => `"Bearer ${one}"`).join(",");
  writeFileSync(
    file,
    `local list = {${list}}; local i = 0
wrk.method = "POST"; wrk.body = [[${BODY}]]; wrk.headers["content-type"] = "application/json"
request = function() i = i % #list + 1; wrk.headers["authorization"] = list[i]; return wrk.format() end`,
  );
  return file;
}

async function compareRates(): Promise<void> {
  const gateway = await serve({ workers: 1, config: config(join(folder, "rates")) });
  const tokens = await Promise.all(Array.from({ length: TOKENS }, (_, number) => tokenOf(number)));
  const scripts = { key: scriptOf("key", Array(TOKENS).fill(key)), jwt: scriptOf("jwt", tokens) };
  for (const script of Object.values(scripts)) await rate(gateway.url, script);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? "key" : "jwt";
    const one = await rate(gateway.url, scripts[first]);
    const other = await rate(gateway.url, scripts[first === "key" ? "jwt" : "key"]);
    const [ofKey, ofToken] = first === "key" ? [one, other] : [other, one];
    ratios.push(ofToken / ofKey);
    console.log(`round ${round + 1}: key ${ofKey.toFixed(0)}, token ${ofToken.toFixed(0)} calls a second`);
  }
  await gateway.end();
  console.log(`tokens / keys, calls a second, median of ${ROUNDS} rounds: ${median(ratios).toFixed(3)}`);
}

async function withTokens(): Promise<void> {
  // Each token is verified by one of them, and the keeper is a process of its own.
  const gateway = await serve({ workers: 2, config: config(join(folder, "tokens")) });
  await send(gateway, 0, 3_000);
  const before = await settled(gateway);
  await send(gateway, 3_000, MANY + 3_000);
  console.log(`${MANY} tokens in memory: ${megabytes((await settled(gateway)) - before)}`);
  await gateway.end();
}

async function send({ url }: Serving, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, to - at) }, async (_, number) => {
        const headers = { authorization: `Bearer ${await tokenOf(at + number)}` };
        const answer = await fetch(`${url}/v1/key`, { headers });
        if (answer.status !== 200) throw new Error(await answer.text());
        await answer.arrayBuffer();
      }),
    );
}

/** Memory of the processes that serve calls, once they have collected their garbage. */
async function settled(gateway: Serving): Promise<number> {
  await Bun.sleep(8_000);
  return gateway.workers().reduce((sum, pid) => sum + memoryOf(pid), 0);
}

async function withPeople(): Promise<void> {
  const state = join(folder, "people");
  const measure = async () => {
    const gateway = await serve({ workers: 2, config: config(state) });
    await send(gateway, 0, 300);
    await Bun.sleep(8_000);
    const bytes = gateway.workers().map(memoryOf);
    await gateway.end();
    return median(bytes);
  };
  const before = await measure();
  const db = new Database(join(state, "weir.db"));
  const insert = db.prepare(
    "INSERT INTO identity_access (id, status, path, grants, not_before, cut, version) VALUES (?, 'active', NULL, ?, 0, 0, 1)",
  );
  const grants = JSON.stringify([{ role: "member", on: "/eng", source: "group:users" }]);
  db.transaction(() => {
    for (let number = 0; number < MANY; number++)
      insert.run(`per_${new Bun.CryptoHasher("md5").update(`x${number}`).digest("hex")}`, grants);
  })();
  db.close();
  console.log(`${MANY} people of the store: ${megabytes((await measure()) - before)} a worker`);
}

try {
  await compareRates();
  await withPeople();
  await withTokens();
} finally {
  await issuer.stop();
  rmSync(folder, { recursive: true, force: true });
}
