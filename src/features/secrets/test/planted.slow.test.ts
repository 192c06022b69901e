/** Planted secrets are in nothing that weir writes, answers or starts, before and after they are rotated. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { ROOT_TOKEN, startVault } from "./fake-vault.ts";

setDefaultTimeout(120_000);

const PLANTED = {
  key: "planted/key+of=the-host-0001",
  later: "planted/key+of=the-host-0002",
  hook: "planted-hook-path-0003",
  header: "planted-header-of-traces-0004",
  client: "planted-secret-of-oidc-0005",
};

const vault = startVault();
vault.put("llm", PLANTED);
let key = PLANTED.key;
/** A host that says what it was sent, as bad hosts do. */
const host = startUpstream(({ headers }) => {
  const sent = headers.get("authorization") ?? "";
  return sent === `Bearer ${key}`
    ? json(
        {
          ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
          choices: [
            { index: 0, message: { role: "assistant", content: `you sent ${sent}` }, finish_reason: "stop" },
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
        200,
        { "x-request-id": sent },
      )
    : json({ error: { message: `wrong key ${sent}` } }, 401);
});
const collector = startReceiver();
let books: RunningBooks;
const seen: { where: string; text: string }[] = [];

beforeAll(async () => {
  books = await startBooks({
    workers: 2,
    env: { VAULT_ADDR: vault.url, VAULT_TOKEN: ROOT_TOKEN },
    config: {
      secrets: { refresh: "1s" },
      capture: { share: 1 },
      traces: { to: collector.url, headers: { "x-token": "${vault:secret/data/llm#header}" } },
      alerts: [{ to: `${collector.url}/hook/\${vault:secret/data/llm#hook}` }],
      retries: { attempts: 1 },
      providers: {
        host: {
          ...{ speaks: "chat-completions", baseUrl: `${host.url}/v1`, models: ["m"] },
          apiKey: "${vault:secret/data/llm#key}",
        },
      },
    },
  });
});
afterAll(async () => {
  await books.end();
  host.stop();
  await vault.stop();
});

const note = (where: string, text: string) => seen.push({ where, text });

async function callAll(): Promise<void> {
  for (const stream of [false, true])
    for (let call = 0; call < 5; call++) {
      const { status, text } = await ask(books.url, "host/m", stream);
      note(`answer ${status}`, text);
    }
}

test("calls run before, during and after a rotation", async () => {
  await callAll();
  vault.put("llm", { ...PLANTED, key: PLANTED.later });
  key = PLANTED.later;
  await callAll();
  expect(seen.filter(({ where }) => where === "answer 200").length).toBe(20);
  key = "something-else-entirely";
  note("refused", (await ask(books.url, "host/m")).text);
});

test("weir secrets lists what there is, with its use, and no value", async () => {
  const ran = await books.runBeside("secrets", "--json");
  expect(ran.code).toBe(0);
  const { secrets } = JSON.parse(ran.output) as {
    secrets: { reference: string; usedBy: string[]; version: string }[];
  };
  expect(secrets.map(({ reference, usedBy, version }) => [reference, usedBy, version])).toEqual([
    ["vault:secret/data/llm#header", ["traces.headers.x-token"], "2"],
    ["vault:secret/data/llm#hook", ["alerts.0.to"], "2"],
    ["vault:secret/data/llm#key", ["providers.host.apiKey"], "2"],
  ]);
  note("weir secrets", ran.output);
  note("weir secrets as text", (await books.runBeside("secrets")).output);
  expect(seen.at(-1)!.text).toContain("vault:secret/data/llm#key");
});

test("a store that fails is seen by weir secrets and /health", async () => {
  vault.failsWith = 500;
  expect(await until(async () => (await books.runBeside("secrets")).code === 1, 20_000)).toBe(true);
  note("weir secrets of a store that fails", (await books.runBeside("secrets")).output);
  expect(seen.at(-1)!.text).toContain("Vault answered with status 500");
  note("health", await (await fetch(`${books.url}/health`)).text());
  const alerts = () => collector.received.filter(({ body }) => body.includes("vault:secret/data/llm#key"));
  expect(await until(() => alerts().length > 0, 10_000)).toBe(true);
  expect(JSON.parse(alerts()[0]!.body)).toMatchObject({ event: "secret", state: "begins" });
  vault.failsWith = 0;
  expect(await until(async () => (await books.runBeside("secrets")).code === 0, 40_000)).toBe(true);
});

test("nothing has a planted value: answers, log, admin API, tape, traces, processes, files", async () => {
  const asked = [
    "/config",
    "/config/source",
    "/secrets",
    "/calls?limit=50",
    "/alerts",
    "/overview",
    "/providers",
  ];
  for (const path of asked)
    note(
      `admin ${path}`,
      await (
        await fetch(`${books.admin.url}/admin/v1${path}`, {
          headers: { authorization: `Bearer ${books.admin.credential}` },
        })
      ).text(),
    );
  const { calls } = JSON.parse(seen.find(({ where }) => where === "admin /calls?limit=50")!.text) as {
    calls: { id: string }[];
  };
  for (const { id } of calls.slice(0, 12))
    note("body", (await books.runBeside("logs", "--call", id, "--body")).output);
  for (const command of [["config", "show"], ["check"], ["check", "--offline"]])
    note(`weir ${command.join(" ")}`, (await books.runBeside(...command)).output);
  note("log", books.log.join("\n"));
  for (const { body } of collector.received) note("traces and alerts", body);
  for (const pid of processes()) {
    note(`arguments of ${pid}`, readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    note(`environment of ${pid}`, readFileSync(`/proc/${pid}/environ`, "utf8"));
  }
  expect(processes().length).toBeGreaterThan(3);
  expect(seen.some(({ where, text }) => where === "body" && text.includes("***"))).toBe(true);
  expect(collector.received.length).toBeGreaterThan(0);
  process.kill(books.workers()[0]!, "SIGKILL");
  expect(await until(() => books.workers().length === 2, 20_000)).toBe(true);
  for (const folder of [books.state, books.folder])
    for (const file of filesIn(folder)) note(file, readFileSync(file, "latin1"));
  const found = seen.flatMap(({ where, text }) =>
    Object.values(PLANTED).flatMap((value) =>
      [value, JSON.stringify(value), encodeURIComponent(value), btoa(value)].some((form) =>
        text.includes(form),
      )
        ? [`${value} in ${where}`]
        : [],
    ),
  );
  expect(found).toEqual([]);
  expect(seen.length).toBeGreaterThan(50);
});

/** The gateway and all that it has started. */
function processes(): number[] {
  const children = (pid: number): number[] => {
    const path = `/proc/${pid}/task/${pid}/children`;
    const own = existsSync(path)
      ? readFileSync(path, "utf8").trim().split(" ").filter(Boolean).map(Number)
      : [];
    return [pid, ...own.flatMap(children)];
  };
  return children(books.pid);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}
