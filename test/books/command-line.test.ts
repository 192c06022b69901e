/** The commands of the books against an admin API that records what it is asked. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beginningOf } from "../../src/run/run-file.ts";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  authorization: string | null;
  body: unknown;
}

const CREDENTIAL = "credential-of-this-run";
const asked: Asked[] = [];
let answer: (asked: Asked) => unknown = () => ({});
let folder: string;

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const url = new URL(request.url);
    const text = await request.text();
    const one: Asked = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: request.headers.get("authorization"),
      body: text === "" ? undefined : JSON.parse(text),
    };
    asked.push(one);
    const made = answer(one);
    return made instanceof Response ? made : Response.json(made);
  },
});
const adminUrl = `http://127.0.0.1:${server.port}`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-books-"));
  mkdirSync(join(folder, "weir"), { mode: 0o700 });
});
beforeEach(() => {
  asked.length = 0;
  running(9_347);
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** Run files that name this process as gateways on these ports. */
function running(...ports: number[]): void {
  rmSync(join(folder, "weir"), { recursive: true });
  mkdirSync(join(folder, "weir"), { mode: 0o700 });
  for (const port of ports) {
    const entry = {
      pid: process.pid,
      began: beginningOf(process.pid),
      port,
      admin: { url: adminUrl, credential: `${CREDENTIAL}-${port}` },
    };
    writeFileSync(join(folder, "weir", `${port}.json`), JSON.stringify(entry), { mode: 0o600 });
  }
}

const weir = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { cwd: folder, env: { XDG_RUNTIME_DIR: folder, HOME: folder, ...env } });

const REPORT = {
  rows: [],
  total: {
    ...{ calls: 0, failed: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    ...{ cost: 0, estimated: 0, assumed: 0, unpriced: 0 },
  },
};

test("a command finds the only gateway that runs, with the credential of its run file", async () => {
  answer = () => REPORT;
  const { code, out } = await weir(["usage"]);
  expect([code, out]).toEqual([0, expect.stringContaining("There were no calls since")]);
  expect(asked[0]).toMatchObject({ path: "/admin/v1/usage", authorization: `Bearer ${CREDENTIAL}-9347` });
  expect(asked[0]!.query["by"]).toBe("key,model");
});

test("with several gateways a command asks for --port, and takes it from the flag or WEIR_PORT", async () => {
  running(9_347, 9_400);
  answer = () => REPORT;
  const unclear = await weir(["usage"]);
  expect([unclear.code, unclear.err]).toEqual([
    1,
    `weir: several gateways are running; choose one with --port:\n  port 9347  pid ${process.pid}\n  port 9400  pid ${process.pid}\n`,
  ]);
  await weir(["usage", "--port", "9400"]);
  await weir(["usage"], { WEIR_PORT: "9400" });
  expect(asked.map(({ authorization }) => authorization)).toEqual(Array(2).fill(`Bearer ${CREDENTIAL}-9400`));
});

test("without a gateway a command says where it looked", async () => {
  running();
  const { code, err } = await weir(["audit"]);
  expect(code).toBe(1);
  expect(err).toContain("no gateway of this user is running");
  expect(err.trim().split("\n").length).toBe(1);
  running(9_400);
  expect((await weir(["audit", "--port", "9347"])).err).toContain("on port 9347 (running: port 9400)");
});

test("--url takes WEIR_ADMIN_KEY, and the run file's credential only for its own address", async () => {
  answer = () => REPORT;
  await weir(["usage", "--url", adminUrl], { WEIR_ADMIN_KEY: "weir_ad_other" });
  await weir(["usage", "--url", `${adminUrl}/`]);
  expect(asked.map(({ authorization }) => authorization)).toEqual([
    "Bearer weir_ad_other",
    `Bearer ${CREDENTIAL}-9347`,
  ]);
  const { code, err } = await weir(["usage", "--url", "http://127.0.0.1:9"]);
  expect([code, err]).toEqual([1, expect.stringContaining("set WEIR_ADMIN_KEY")]);
  const gone = await weir(["usage", "--url", "http://127.0.0.1:9"], { WEIR_ADMIN_KEY: "k" });
  expect(gone.err).toContain("no admin API answers at http://127.0.0.1:9");
});

test("an error of the admin API is one sentence, and the exit code is 1", async () => {
  const error = { code: "not_found", message: 'There is no key "bob".' };
  answer = () => Response.json({ error }, { status: 404 });
  const { code, err } = await weir(["keys", "show", "bob"]);
  expect([code, err]).toEqual([1, 'weir: There is no key "bob"\n']);
  answer = () => new Response("<html>", { status: 502 });
  expect((await weir(["keys", "show", "bob"])).err).toContain("status 502; is it the admin API of weir?");
});

test("keys create sends what the flags say and prints the key alone to standard output", async () => {
  const key = {
    id: "key_1",
    name: "alice",
    kind: "call",
    path: "/eng",
    tags: [],
    scopes: {},
    state: "active",
  };
  answer = () => ({ key, secret: "weir_sk_x", closed: true });
  const { code, out, err } = await weir([
    ...["keys", "create", "alice", "--path", "/eng", "--budget", "50/month", "--hard", "--rpm", "60"],
    ...["--tpm", "100_000", "--concurrency", "5", "--models", "gpt-*,claude-*", "--expires", "90d"],
    ...["--tag", "a,b", "--max-cost", "0.25", "--no-server-tools"],
  ]);
  expect([code, out]).toEqual([0, "weir_sk_x\n"]);
  expect(err).toContain("shows it only now");
  expect(err).toContain("Every call needs a key from now on");
  const { expiresAt, ...body } = asked[0]!.body as { expiresAt: number };
  expect(Math.abs(expiresAt - Date.now() - 90 * 86_400_000)).toBeLessThan(600_000);
  expect(body as unknown).toEqual({
    name: "alice",
    path: "/eng",
    tags: ["a", "b"],
    scopes: { models: ["gpt-*", "claude-*"], maxCost: 250_000_000, serverTools: false },
    budget: { limit: 50_000_000_000, window: "month", mode: "hard" },
    rates: { rpm: 60, tpm: 100_000, concurrency: 5 },
  });
  const json = await weir(["keys", "create", "alice", "--json"]);
  expect(JSON.parse(json.out)).toMatchObject({ secret: "weir_sk_x", key: { id: "key_1" } });
});

test("values that are no amounts, durations or counts exit with 2 and send nothing", async () => {
  const rows: [string[], string][] = [
    [["keys", "create", "a", "--budget", "50/year"], "day, week, month, total"],
    [["keys", "create", "a", "--budget", "-5"], "--budget requires a value"],
    [["keys", "create", "a", "--budget=1e3"], "dollars such as 50"],
    [["keys", "create", "a", "--hard"], "--hard belongs to a budget"],
    [["keys", "create", "a", "--budget", "5", "--hard", "--soft"], "one of --hard and --soft"],
    [["keys", "create", "a", "--rpm", "many"], "positive integer"],
    [["keys", "create", "a", "--expires", "soon"], "duration such as 90d"],
    [["usage", "--since", "yesterday"], "2026-11-01"],
    [["usage", "--by", "colour"], '"colour" is none of them'],
    [["budgets", "set", "eng", "5/day", "--on", "planet:earth"], '"planet:earth" is none of them'],
  ];
  for (const [args, hint] of rows) {
    const { code, err } = await weir(args);
    expect([args.join(" "), code, err]).toEqual([args.join(" "), 2, expect.stringContaining(hint)]);
  }
  expect(asked).toEqual([]);
});

test("usage prints a table, JSON, or comma-separated values with exact amounts", async () => {
  const sums = {
    ...REPORT.total,
    calls: 1_234,
    input: 5,
    output: 7,
    cost: 1_234_567,
    assumed: 1_000,
    unpriced: 2,
  };
  answer = () => ({ rows: [{ group: { key: "=alice", model: "m,1" }, ...sums }], total: sums });
  const text = (await weir(["usage", "--since", "2026-11-01"])).out;
  expect(text).toContain("1,234");
  expect(text).toContain("$0.001235");
  expect(text).toContain("$0.000001");
  expect(text).toContain("weir prices missing");
  expect(asked[0]!.query["from"]).toBe(String(Date.parse("2026-11-01")));
  expect(JSON.parse((await weir(["usage", "--json"])).out)).toMatchObject({ total: { cost: 1_234_567 } });
  const [head, row] = (await weir(["usage", "--csv"])).out.trim().split("\n");
  expect(head).toBe(
    "key,model,calls,failed,input,cacheRead,cacheWrite,output,reasoning,cost,estimated,assumed,unpriced",
  );
  expect(row).toBe('\'=alice,"m,1",1234,0,5,0,0,7,0,0.001234567,0.000000000,0.000001000,2');
});

test("audit prints a verdict a line and exits with 1 when the books do not hold", async () => {
  const checks = [
    { name: "records", holds: true, detail: "10 calls, each once." },
    { name: "accounts", holds: false, detail: "alice: $1.00 in the account, $2.00 in the calls." },
  ];
  answer = () => ({ holds: false, checks });
  const broken = await weir(["audit"]);
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(
    /^ok +records +10 calls.*\nFAILED +accounts .*\nThe books do not hold: 1 of 2 checks failed\.\n$/,
  );
  answer = () => ({ holds: true, checks: checks.slice(0, 1) });
  const fine = await weir(["audit", "--json"]);
  expect([fine.code, (JSON.parse(fine.out) as { holds: boolean }).holds]).toEqual([0, true]);
});

test("budgets set creates a budget that is new and changes one that exists", async () => {
  const budget = { name: "eng", limit: 5_000_000_000, window: "day", mode: "hard" };
  answer = ({ method }) => (method === "GET" ? { budgets: [] } : budget);
  const missing = await weir(["budgets", "set", "eng", "5/day"]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("--on")]);
  await weir(["budgets", "set", "eng", "5/day", "--on", "path:/eng", "--hard"]);
  expect(asked.at(-1)).toMatchObject({
    method: "POST",
    path: "/admin/v1/budgets",
    body: {
      name: "eng",
      limit: 5_000_000_000,
      window: "day",
      mode: "hard",
      on: { kind: "path", what: "/eng" },
    },
  });
  answer = ({ method }) => (method === "GET" ? { budgets: [budget] } : budget);
  const changed = await weir(["budgets", "set", "eng", "5/day"]);
  expect(changed.out).toBe("The budget eng is $5.00 a day, hard.\n");
  expect(asked.at(-1)).toMatchObject({ method: "PATCH", path: "/admin/v1/budgets/eng" });
});
