/** Models that are added while the gateway runs, over real sockets: by the admin API and by commands, in every worker. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { StoredModelView } from "../../src/operator/index.ts";
import { TARGET } from "../helpers/gateway.ts";
import { serve, until } from "../helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { alterStore, type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream(({ path }) =>
    path.endsWith("/chat/completions") ? json(completion()) : json({ object: "list", data: [] }),
  );
});
afterAll(() => upstream?.stop());

const hostOf = () => ({
  baseUrl: `${upstream.url}/v1`,
  speaks: "chat-completions",
  apiKey: "a-key-of-the-host",
  models: ["large", "small"],
});

function configOf(more: Record<string, unknown> = {}) {
  return {
    providers: { host: hostOf() },
    aliases: { written: "host/large" },
    retries: { attempts: 1 },
    ...more,
  };
}

/** Calls a model on connections of their own, so that each worker is likely to get one. @returns the answers, sorted */
async function callAll(url: string, model: string, key = "none", count = 12) {
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", connection: "close", authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
      });
      const body = (await response.json()) as { error?: { message: string; code: string } };
      return { status: response.status, model: response.headers.get("x-weir-model"), ...body.error };
    }),
  );
  return answers;
}

async function statuses(url: string, model: string, key?: string) {
  return [
    ...new Set((await callAll(url, model, key)).map(({ status, model: served }) => `${status} ${served}`)),
  ];
}

function ask({ admin }: RunningBooks, method: string, path: string, body?: unknown, key = admin.credential) {
  return fetch(`${admin.url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string; path?: string } };
  return { status: response.status, ...error };
}

async function listed(weir: RunningBooks): Promise<StoredModelView[]> {
  const answer = await ask(weir, "GET", "/stored-models");
  return ((await answer.json()) as { models: StoredModelView[] }).models;
}

async function stateOf(weir: RunningBooks, name: string) {
  const found = (await listed(weir)).find((model) => model.name === name);
  return found && [found.state, found.why];
}

for (const workers of [1, 2])
  describe(`${workers} ${workers === 1 ? "worker" : "workers"}`, () => {
    let weir: RunningBooks;
    beforeAll(async () => (weir = await startBooks({ workers, config: configOf() })));
    afterAll(async () => await weir?.end());

    test("a model serves in every worker once it is answered, and not any more once it is removed", async () => {
      expect(await statuses(weir.url, "fast")).toEqual(["404 null"]);
      for (const round of [1, 2, 3]) {
        const added = await ask(weir, "POST", "/stored-models", {
          name: "fast",
          to: "host/small",
          set: { temperature: 0.5 },
        });
        expect([round, added.status]).toEqual([round, 201]);
        expect(await added.json()).toMatchObject({ name: "fast", to: "host/small", state: "serving" });
        expect(await statuses(weir.url, "fast")).toEqual(["200 small"]);
        expect(JSON.parse(String(upstream.requests.at(-1)!.body))).toMatchObject({ temperature: 0.5 });
        const changed = await ask(weir, "PATCH", "/stored-models/fast", { to: "host/large", set: null });
        expect(changed.status).toBe(200);
        expect(await statuses(weir.url, "fast")).toEqual(["200 large"]);
        expect(JSON.parse(String(upstream.requests.at(-1)!.body))).not.toHaveProperty("temperature");
        expect((await ask(weir, "DELETE", "/stored-models/fast")).status).toBe(200);
        expect(await statuses(weir.url, "fast")).toEqual(["404 null"]);
      }
      const log = (await (await ask(weir, "GET", "/audit/log")).json()) as {
        entries: { action: string; subject: string; after: unknown }[];
      };
      const own = log.entries.filter(({ subject }) => subject === "models/model:fast");
      expect(own.map(({ action }) => action)).toEqual([
        "delete",
        "change",
        "create",
        "delete",
        "change",
        "create",
        "delete",
        "change",
        "create",
      ]);
    });

    test("SDKs see it in their lists and call it", async () => {
      await ask(weir, "POST", "/stored-models", {
        name: "team-model",
        to: ["host/small", { model: "host/large", priority: 1 }],
      });
      const openai = new OpenAI({ baseURL: `${weir.url}/v1`, apiKey: "none", maxRetries: 0 });
      const names = (await openai.models.list()).data.map(({ id }) => id);
      expect(names).toContain("team-model");
      const answer = await openai.chat.completions.create({
        model: "team-model",
        messages: [{ role: "user", content: "hello" }],
      });
      expect(answer.choices).toHaveLength(1);
      const anthropic = new Anthropic({ baseURL: weir.url, apiKey: "none", maxRetries: 0 });
      expect((await anthropic.models.list()).data.map(({ id }) => id)).toContain("team-model");
      const message = await anthropic.messages.create({
        model: "team-model",
        max_tokens: 10,
        messages: [{ role: "user", content: "hello" }],
      });
      expect(message.type).toBe("message");
      const gemini = (await (await fetch(`${weir.url}/v1beta/models`)).json()) as {
        models: { name: string }[];
      };
      expect(gemini.models.map(({ name }) => name)).toContain("models/team-model");
      const tags = (await (await fetch(`${weir.url}/api/tags`)).json()) as { models: { name: string }[] };
      expect(tags.models.map(({ name }) => name).join(" ")).toContain("team-model");
      const explained = await fetch(`${weir.url}/v1/explain`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "team-model", messages: [{ role: "user", content: "hello" }] }),
      });
      expect(await explained.text()).toContain("route team-model to host/small");
      await ask(weir, "DELETE", "/stored-models/team-model");
    });
  });

describe("what is refused", () => {
  let weir: RunningBooks;
  beforeAll(
    async () =>
      (weir = await startBooks({ workers: 1, config: configOf({ routes: { both: ["host/large"] } }) })),
  );
  afterAll(async () => await weir?.end());

  const wrong: [body: Record<string, unknown>, path: string, sentence: string][] = [
    [
      { name: "a", to: "host/large", set: { temperature: 7 } },
      "/set/temperature",
      "temperature must be a number between 0 and 2, but is 7",
    ],
    [
      { name: "a", to: "host/large", set: { temprature: 1 } },
      "/set/temprature",
      "unknown option temprature, did you mean temperature?",
    ],
    [
      { name: "a", to: "host/large", body: { model: "x" } },
      "/body/model",
      "model cannot be added to a request",
    ],
    [{ name: "a", to: "a" }, "/to", "a resolves to itself"],
    [{ name: "a", to: "nowhere/model" }, "/to", "No provider serves the model `nowhere/model`"],
    [{ name: "a", to: ["host/large", "both"] }, "/to/1", "the route a must list models, but both is a route"],
    [{ name: "a", to: [] }, "/to", "must be"],
    [{ name: "a", to: 5 }, "/to", "a must be a text, but is 5"],
    [{ name: "a b", to: "host/large" }, "/name", "an alias must be a model name without spaces"],
    [{ name: "a-*", to: "host/large" }, "/name", "a stored model must have a name without *"],
    [{ name: "@cheap", to: "host/large" }, "/name", "patterns and sets belong into the config file"],
    [{ name: "a" }, "/to", "to is missing"],
    [{ name: "a", to: "host/large", fallbacks: ["a"] }, "/fallbacks/0", "a falls back to itself"],
    [
      { name: "a", to: "host/large", apiKey: "secret-text" },
      "/apiKey",
      "its providers are those of the config file",
    ],
    [{ name: "a", to: ["host/large"], price: 0 }, "/price", "price needs a single model"],
  ];
  for (const [body, path, sentence] of wrong)
    test(`${JSON.stringify(body)}: ${sentence}`, async () => {
      const error = await errorOf(await ask(weir, "POST", "/stored-models", body));
      expect(error).toMatchObject({ status: 400, code: "invalid_request", path });
      expect(error.message).toContain(sentence);
      expect(error.message).not.toContain("secret-text");
      expect(await listed(weir)).toEqual([]);
    });

  test("names of the file, names twice, and models that are not there", async () => {
    for (const [name, at] of [
      ["written", "aliases.written"],
      ["both", "routes.both"],
    ] as const) {
      const error = await errorOf(await ask(weir, "POST", "/stored-models", { name, to: "host/large" }));
      expect(error).toMatchObject({ status: 409, code: "declared", path: "/name" });
      expect(error.message).toMatch(new RegExp(`weir\\.yaml:\\d+ \\(${at}\\)`));
    }
    await ask(weir, "POST", "/stored-models", { name: "once", to: "host/large" });
    const twice = await errorOf(
      await ask(weir, "POST", "/stored-models", { name: "once", to: "host/small" }),
    );
    expect(twice).toMatchObject({ status: 409, code: "conflict" });
    await ask(weir, "DELETE", "/stored-models/once");
    for (const method of ["GET", "DELETE"])
      expect((await ask(weir, method, "/stored-models/gone")).status).toBe(404);
  });

  test("a read key lists and changes nothing, a key of a path does neither", async () => {
    const create = async (kind: string, path: string) => {
      const body = { name: `${kind}-${path.length}`, kind, path };
      return ((await (await ask(weir, "POST", "/keys", body)).json()) as { secret: string }).secret;
    };
    const read = await create("read", "/");
    const team = await create("admin", "/team");
    const body = { name: "a", to: "host/large" };
    expect((await ask(weir, "GET", "/stored-models", undefined, read)).status).toBe(200);
    expect((await ask(weir, "POST", "/stored-models", body, read)).status).toBe(403);
    expect((await ask(weir, "GET", "/stored-models", undefined, team)).status).toBe(403);
    expect((await ask(weir, "POST", "/stored-models", body, team)).status).toBe(403);
    expect(await listed(weir)).toEqual([]);
  });
});

test("scopes, hard budgets and prices apply to stored models as to those of the file", async () => {
  const weir = await startBooks({ workers: 2, config: configOf() });
  try {
    const spec = { name: "priced", to: "host/small", price: { input: 1, output: 1, request: 0.4 } };
    expect((await ask(weir, "POST", "/stored-models", spec)).status).toBe(201);
    const only = weir.createKey("only", "--models", "priced");
    const other = weir.createKey("other", "--models", "written");
    const budget = { name: "b", on: { kind: "model", what: "priced" }, limit: 1e9, mode: "hard" };
    expect((await ask(weir, "POST", "/budgets", budget)).status).toBe(201);
    expect(await statuses(weir.url, "priced", other)).toEqual(["403 null"]);
    expect(await statuses(weir.url, "written", only)).toEqual(["403 null"]);
    const answers = await callAll(weir.url, "priced", only, 6);
    const paid = answers.filter(({ status }) => status === 200);
    // A call costs 40 cents, of a dollar.
    expect([paid.length, answers.length - paid.length]).toEqual([2, 4]);
  } finally {
    await weir.end();
  }
});

test("they survive a restart; the file precedes a name that it defines; a provider that is gone stops nothing", async () => {
  const state = `/tmp/weir-state-${crypto.randomUUID()}`;
  const first = await startBooks({ workers: 2, config: configOf(), state });
  await ask(first, "POST", "/stored-models", { name: "kept", to: "host/small" });
  await ask(first, "POST", "/stored-models", { name: "chained", to: "kept" });
  first.configure(JSON.stringify(configOf({ aliases: { kept: "host/large" } })));
  expect(first.run("reload").code).toBe(0);
  expect(await statuses(first.url, "kept")).toEqual(["200 large"]);
  const [shadowed, why] = (await stateOf(first, "kept"))!;
  expect([shadowed, why]).toEqual(["shadowed", expect.stringMatching(/weir\.yaml:\d+ \(aliases\.kept\)/)]);
  expect(
    await until(() => first.log.some((line) => line.includes("the stored model kept is not used")), 5_000),
  ).toBe(true);
  first.configure(JSON.stringify(configOf()));
  expect(first.run("reload").code).toBe(0);
  expect(await statuses(first.url, "kept")).toEqual(["200 small"]);
  first.signal("SIGTERM");
  await first.exited;
  const offline = first.run("models", "add", "late", "host/small", "--state", state);
  expect([offline.code, offline.output]).toEqual([1, expect.stringContaining("only while the gateway runs")]);

  // Nothing between the start and the first call.
  const second = await serve({
    config: JSON.stringify(configOf()),
    workers: 2,
    binary: TARGET === "binary",
    env: { WEIR_STATE: state },
  });
  expect(await statuses(second.url, "kept")).toEqual(["200 small"]);
  expect(await statuses(second.url, "chained")).toEqual(["200 small"]);
  second.signal("SIGTERM");
  await second.exited;
  await second.end();

  alterStore(state, (database) => {
    database.run("UPDATE models SET spec = '{\"to\": ' WHERE name = 'chained'");
  });
  const third = await startBooks({ workers: 1, config: { providers: {} }, state });
  try {
    const [gone] = await callAll(third.url, "kept", "none", 1);
    expect(gone).toMatchObject({
      status: 404,
      message: expect.stringContaining("`host/small`, for which `kept` stands"),
    });
    expect(await stateOf(third, "kept")).toEqual(["unserved", expect.stringContaining("No provider serves")]);
    expect(await stateOf(third, "chained")).toEqual(["damaged", "its row in the store is not valid JSON."]);
    expect(third.log.join("\n")).toContain(
      "the stored model chained is not used: its row in the store is not valid JSON",
    );
    expect((await ask(third, "DELETE", "/stored-models/chained")).status).toBe(200);
  } finally {
    await third.end();
    await first.end();
  }
});

test("the commands add, list, change and remove models, and weir models shows them", async () => {
  const weir = await startBooks({ workers: 1, config: configOf() });
  try {
    const added = weir.run(
      "models",
      "add",
      "cli",
      "host/small,host/large",
      "--set",
      "temperature=0.1,maxTokens=50",
    );
    expect([added.code, added.output]).toEqual([0, expect.stringContaining("The model cli serves")]);
    expect(await statuses(weir.url, "cli")).toContain("200 small");
    const again = weir.run("models", "add", "cli", "host/small");
    expect([again.code, again.output]).toEqual([1, expect.stringContaining("already a stored model")]);
    const wrong = weir.run("models", "update", "cli", "--set", "temperature=9");
    expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining("temperature must be a number")]);
    const updated = weir.run("models", "update", "cli", "host/large", "--clear", "set", "--json");
    expect(JSON.parse(updated.output)).toMatchObject({ name: "cli", to: "host/large", state: "serving" });
    expect(weir.run("models", "list").output).toMatch(/cli +host\/large +serving/);
    weir.configure(JSON.stringify(configOf({ port: Number(new URL(weir.url).port) })));
    expect(weir.run("models").output).toMatch(/^cli +host/m);
    expect(weir.run("models", "cli").output).toContain("alias of host/large");
    const removed = weir.run("models", "remove", "cli", "--yes");
    expect([removed.code, removed.output]).toEqual([0, expect.stringContaining("The model cli is removed")]);
    expect(JSON.parse(weir.run("models", "list", "--json").output)).toEqual([]);
    expect(await statuses(weir.url, "cli")).toEqual(["404 null"]);
  } finally {
    await weir.end();
  }
});
