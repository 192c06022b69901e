/** Keys with names of any script: in the file, on the command line, in headers, logs, metrics and reports. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

const FILE_KEY = "file-key-0123456789abcdef";

let weir: RunningBooks;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream((request) =>
    json(request.path.endsWith("/chat/completions") ? completion() : { object: "list", data: [] }),
  );
  weir = await startBooks({
    workers: 1,
    config: {
      providers: { host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["big-1"] } },
      prices: { "*": { input: 0, output: 0, request: 0.01 } },
      // Decomposed: weir keeps the composed form.
      keys: [{ name: "Zoe\u0308", key: FILE_KEY }],
      budgets: { büro: { on: { key: "Zoë" }, limit: 100, every: "total" } },
      metrics: { keys: true },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

function ask(key: string): Promise<Response> {
  return fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "big-1", max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  });
}

test("names of any script work everywhere", async () => {
  const key = weir.createKey("研究-Ł", "--budget", "5", "--hard");
  const answer = await ask(key);
  expect([answer.status, decodeURIComponent(answer.headers.get("x-weir-budget")!)]).toEqual([200, "研究-Ł"]);
  const declared = await ask(FILE_KEY);
  expect([declared.status, decodeURIComponent(declared.headers.get("x-weir-budget")!)]).toEqual([
    200,
    "büro",
  ]);
  const spent = async () => (await weir.budget("büro")).windows[0]?.spent ?? 0;
  expect(await until(async () => (await spent()) === 10_000_000, 10_000)).toBe(true);
  const told = (...args: string[]) => weir.run(...args).output;
  expect(told("keys", "show", "研究-Ł")).toContain("研究-Ł");
  for (const name of ["Zoë", "Zoe\u0308"]) {
    expect(told("keys", "show", name)).toMatch(/^name +Zoë$/m);
    const [call, ...others] = JSON.parse(told("logs", "--json", "--key", name)) as { id: string }[];
    expect(others).toEqual([]);
    expect(told("logs", "--key", name)).toContain(` Zoë ${call!.id}`);
    expect(told("logs", "--call", call!.id)).toMatch(/^key +Zoë$/m);
  }
  expect(told("usage", "--by", "key", "--csv")).toContain("Zoë");
  expect(weir.log.some((line) => line.includes('"key":"Zoë"'))).toBe(true);
  const metrics = await fetch(`${weir.admin.url}/metrics`, {
    headers: { authorization: `Bearer ${weir.admin.credential}` },
  });
  expect(await metrics.text()).toContain('key="Zoë"');
  expect(told("keys", "update", "研究-Ł", "--name", "ёлка")).toContain("The key ёлка is changed");
  expect((await ask(key)).status).toBe(200);
});

test("a name that is none, is taken or looks taken is refused in words", () => {
  const refusal = (...args: string[]) => {
    const { code, output } = weir.run(...args);
    expect([args.join(" "), code]).toEqual([args.join(" "), 1]);
    expect(output).not.toMatch(/\\w|\^|\[|\]\{/);
    return output;
  };
  expect(refusal("keys", "create", "bad name!")).toContain(
    "name must have 1 to 64 letters of any script, digits, dots, dashes, underscores and @",
  );
  expect(refusal("budgets", "set", "bad!", "5", "--on", "all")).toContain(
    "The name must have 1 to 64 letters",
  );
  expect(refusal("rates", "set", "a\u200bb", "--rpm", "5", "--on", "all")).toContain("has U+200B");
  expect(refusal("keys", "create", "ZOË")).toContain(
    "The name ZOË looks like Zoë, which is already the name of a key",
  );
  expect(refusal("keys", "create", "\u0430lice")).toContain("must not mix letters of Latin and Cyrillic");
  expect(refusal("keys", "create", "x", "--path", "/bad path!")).toContain("a path such as /eng/search");
});
