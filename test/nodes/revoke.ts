/**
 * `bun run revoke`: two gateways of four workers on one PostgreSQL, on a machine that wrk saturates. A key is revoked, a key is narrowed, a
 * person is suspended and a person loses its grant, many times each, at one gateway after the other. Counts calls that began after the
 * answer of the admin API and passed. Exits with 1 if there is one. `--rounds N` of each kind; `--only KIND`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { RunningBooks } from "../books/running.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { type Issuer, startIssuer } from "./issuer.ts";
import { endNode, startNodes } from "./nodes.ts";
import { startProvider } from "./provider.ts";

const WORKERS = 4;
/** Callers of one key or person at each gateway, each call on a connection of its own. */
const CALLERS = 5;
/** Calls that begin after the answer, at each gateway. */
const AFTER = 24;
/** Connections of wrk to each gateway. */
const CONNECTIONS = 8;
/** An answer that says that it is not confirmed is asked for again so often. */
const REPEATS = 20;

interface Answer {
  status: number;
  json: any;
}

type Operate = (method: string, path: string, body?: object) => Promise<Answer>;

/** What is taken away, and how it is given back. */
interface Kind {
  /** @returns the credential of the callers */
  begin(operate: Operate, round: number): Promise<string>;
  take(operate: Operate, round: number): Promise<Answer>;
}

const MODEL = "mock/chat";

async function call(url: string, credential: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${credential}`,
      "content-type": "application/json",
      connection: "close",
    },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "hello" }] }),
    keepalive: false,
  });
  await response.text();
  return response.status;
}

function operateAt({ admin }: RunningBooks): Operate {
  return async (method, path, body) => {
    const response = await fetch(`${admin.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${admin.credential}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };
}

/** @throws Error with what the admin API said */
async function expectDone(answer: Promise<Answer>): Promise<any> {
  const { status, json } = await answer;
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(json)}`);
  return json;
}

function kindsOf(issuer: Issuer): Readonly<Record<string, Kind>> {
  const keyed = (take: (operate: Operate, id: string) => Promise<Answer>): Kind => {
    let id = "";
    return {
      async begin(operate, round) {
        const made = await expectDone(
          operate("POST", "/keys", { name: `key-${round}-${crypto.randomUUID()}` }),
        );
        id = made.id ?? made.key.id;
        return made.secret as string;
      },
      take: (operate) => take(operate, id),
    };
  };
  const person = (what: string, changed: object): Kind => {
    let id = "";
    return {
      async begin(operate, round) {
        const subject = `${what}-${round}-${crypto.randomUUID()}`;
        const grants = [{ role: "member", on: "/" }];
        const added = { issuer: issuer.url, subject, path: "/people", grants };
        id = (await expectDone(operate("POST", "/people", added))).id;
        return issuer.token(subject);
      },
      take: (operate) => operate("PATCH", `/people/${id}`, changed),
    };
  };
  return {
    revoke: keyed((operate, id) => operate("DELETE", `/keys/${id}`)),
    narrow: keyed((operate, id) => operate("PATCH", `/keys/${id}`, { scopes: { models: ["none/*"] } })),
    suspend: person("suspend", { status: "suspended" }),
    grant: person("grant", { grants: [] }),
  };
}

interface Found {
  /** Calls that were answered before, and calls that began after the answer. */
  before: number;
  after: number;
  /** Those of them that passed. */
  passed: number;
  /** Milliseconds from the request until the answer that confirms. */
  tookMs: number;
  /** Answers that were not confirmed. */
  unconfirmed: number;
}

async function runRound(nodes: readonly RunningBooks[], kind: Kind, round: number): Promise<Found> {
  const operate = operateAt(nodes[round % nodes.length]!);
  const credential = await kind.begin(operate, round);
  const seen = nodes.map(() => ({ before: 0, after: 0, passed: 0 }));
  let answeredAt = Number.POSITIVE_INFINITY;
  const callers = nodes.flatMap(({ url }, at) =>
    Array.from({ length: CALLERS }, async () => {
      const counted = seen[at]!;
      while (counted.after < AFTER) {
        const began = performance.now();
        const status = await call(url, credential).catch(() => 0);
        if (began <= answeredAt) counted.before += status === 200 ? 1 : 0;
        else {
          counted.after++;
          if (status === 200) counted.passed++;
        }
      }
    }),
  );
  if (!(await until(() => seen.every(({ before }) => before >= CALLERS), 60_000)))
    throw new Error("the calls did not pass before");
  const began = performance.now();
  let unconfirmed = 0;
  for (; ; unconfirmed++) {
    const { status, json } = await kind.take(operate, round);
    if (status < 300) break;
    if (status !== 503 || unconfirmed === REPEATS) throw new Error(`${status}: ${JSON.stringify(json)}`);
  }
  answeredAt = performance.now();
  await Promise.all(callers);
  const sum = (of: "before" | "after" | "passed") => seen.reduce((total, one) => total + one[of], 0);
  const tookMs = answeredAt - began;
  return { before: sum("before"), after: sum("after"), passed: sum("passed"), tookMs, unconfirmed };
}

/** Saturates the gateways with calls of another key. @returns what ends it */
function saturate(nodes: readonly RunningBooks[], key: string): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "weir-revoke-"));
  const script = join(folder, "post.lua");
  const body = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "hello" }] });
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.body = '${body}'\nwrk.headers["content-type"] = "application/json"\nwrk.headers["authorization"] = "Bearer ${key}"\n`,
  );
  const running = nodes.map(({ url }) =>
    Bun.spawn(["wrk", "-t1", `-c${CONNECTIONS}`, "-d3600", "-s", script, `${url}/v1/chat/completions`], {
      stdout: "ignore",
      stderr: "ignore",
    }),
  );
  return async () => {
    for (const each of running) each.kill("SIGKILL");
    await Promise.all(running.map(({ exited }) => exited));
    rmSync(folder, { recursive: true, force: true });
  };
}

function settings() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: { rounds: { type: "string", default: "50" }, only: { type: "string" } },
  });
  return { rounds: Number(values.rounds), only: values.only };
}

async function main(): Promise<number> {
  const missing = missingPostgres ?? (Bun.which("wrk") ? undefined : "wrk is not installed");
  if (missing) throw new Error(missing);
  const { rounds, only } = settings();
  const [server, issuer, provider] = [await startPostgres(), await startIssuer(), startProvider(0)];
  const nodes = await startNodes({
    ...{ database: server.url, provider, count: 2, workers: WORKERS },
    config: {
      log: { level: "error" },
      identity: {
        providers: { corp: { issuer: issuer.url, audience: "weir", groups: { none: { member: "/none" } } } },
      },
    },
  });
  let relieve = async () => {};
  let passedAll = 0;
  try {
    const background = nodes[0]!.createKey("background");
    await Bun.sleep(1_000);
    relieve = saturate(nodes, background);
    for (const [name, kind] of Object.entries(kindsOf(issuer))) {
      if (only !== undefined && only !== name) continue;
      const found: Found[] = [];
      const began = performance.now();
      for (let round = 0; round < rounds; round++) found.push(await runRound(nodes, kind, round));
      const sum = (of: keyof Found) => found.reduce((total, one) => total + one[of], 0);
      const took = found.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
      const ms = [took[Math.floor(took.length / 2)]!, took.at(-1)!].map(Math.round);
      console.log(
        `${name}: ${rounds} times in ${Math.round((performance.now() - began) / 1_000)} s; answered after ${ms[0]} ms (median), ${ms[1]} ms (most), ${sum("unconfirmed")} times unconfirmed; ${sum("before")} calls passed before, ${sum("after")} began after the answer, ${sum("passed")} of them passed`,
      );
      passedAll += sum("passed");
    }
  } finally {
    await relieve();
    await Promise.all(nodes.map(endNode));
    await Promise.all([issuer.stop(), provider.stop()]);
    await server.close();
  }
  return passedAll === 0 ? 0 : 1;
}

process.exit(await main());
