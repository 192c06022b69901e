/** `weir batches run` and `price`, as a user has them: processes, signals, files. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, runCommand } from "../../../../test/helpers/command.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { inputLikely } from "../../../core/tokens/likely.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { lineSizer } from "../lines/size-line.ts";

setDefaultTimeout(300_000);

const formats = builtInFormats({ systemTurns: "accept" });
/** Calls by text. */
const asked = new Map<string, number>();
let delay = 0;
const upstream = startUpstream(async ({ body, path }) => {
  const isEmbedding = path.endsWith("/embeddings");
  const asking = JSON.parse(body.toString()) as {
    input?: string;
    max_tokens?: number;
    messages?: { content: string }[];
  };
  const said = asking.input ?? asking.messages!.at(-1)!.content;
  asked.set(said, (asked.get(said) ?? 0) + 1);
  await Bun.sleep(delay);
  if (said.startsWith("bad")) return json({ error: { message: "no", type: "invalid_request_error" } }, 400);
  // As many tokens as weir counts: prices are exact if its count is.
  const sizeOf = lineSizer(formats, isEmbedding ? "/v1/embeddings" : "/v1/chat/completions");
  const asWritten = { ...asking, model: isEmbedding ? "p/e" : "p/m" };
  const input = inputLikely(sizeOf(Buffer.from(JSON.stringify(asWritten))));
  const output = isEmbedding ? 0 : (asking.max_tokens ?? 5);
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  if (isEmbedding)
    return json({
      ...{ object: "list", model: "e", data: [{ object: "embedding", index: 0, embedding: [0.5, 1] }] },
      usage: { prompt_tokens: input, total_tokens: input },
    });
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m", usage },
    choices: [
      { index: 0, message: { role: "assistant", content: `You said ${said}.` }, finish_reason: "stop" },
    ],
  });
});
const folder = mkdtempSync(join(tmpdir(), "weir-batches-command-"));
afterAll(() => {
  upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const config = (more: object = {}) => ({
  providers: {
    p: {
      ...{ speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      embeds: { embeddings: { path: "/embeddings", models: ["e"] } },
    },
  },
  prices: { "p/m": { input: 1.37, output: 2.11 }, "p/e": { input: 0.13, output: 0 } },
  retries: { attempts: 1 },
  batches: { concurrency: 4 },
  ...more,
});

async function written(name: string, lines: readonly unknown[], settings: object = config()): Promise<void> {
  await Bun.write(join(folder, "weir.yaml"), JSON.stringify(settings));
  await Bun.write(join(folder, name), lines.map((line) => JSON.stringify(line)).join("\n"));
}

const ran = (...args: string[]) => runCommand(["batches", ...args], { cwd: folder });

async function linesOf(name: string): Promise<Record<string, unknown>[]> {
  const text = await Bun.file(join(folder, name)).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Without the ids that each run makes anew. */
async function compared(name: string): Promise<unknown[]> {
  return (await linesOf(name)).map(({ id: _id, response, ...rest }) => {
    const { request_id: _request, ...answer } = response as Record<string, unknown>;
    return { ...rest, answer };
  });
}

const bodies = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    messages: [{ role: "user", content: `${at % 20 === 7 ? "bad" : "line"} ${at}` }],
    max_tokens: 10 + at,
  }));

/** Ends a run by Ctrl-C after this number of calls of the provider. @returns exit code, and what it said */
async function interrupted(calls: number, args: readonly string[]): Promise<{ code: number; err: string }> {
  const child = Bun.spawn([...PROGRAM, "batches", ...args], {
    ...{ cwd: folder, env: environmentIn(folder), stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  });
  const err = new Response(child.stderr).text();
  const sum = () => [...asked.values()].reduce((a, b) => a + b, 0);
  while (sum() < calls && child.exitCode === null) await Bun.sleep(5);
  child.kill("SIGINT");
  return { code: await child.exited, err: await err };
}

test("Ctrl-C, and the same command again: no line is paid twice, and the output is that of one run", async () => {
  await written("in.jsonl", bodies(120));
  const whole = ["run", "in.jsonl", "--model", "p/m", "--state", join(folder, "s1"), "--out", "whole.jsonl"];
  const first = await ran(...whole);
  expect([first.code, first.out]).toEqual([
    1,
    expect.stringContaining("114 of 120 lines succeeded, 6 failed"),
  ]);
  expect([asked.size, Math.max(...asked.values())]).toEqual([120, 1]);
  expect(first.out).toContain("6 × 400 no");
  asked.clear();
  delay = 150;
  const parts = ["run", "in.jsonl", "--model", "p/m", "--state", join(folder, "s2"), "--out", "parts.jsonl"];
  for (const calls of [20, 60]) {
    const { code, err } = await interrupted(calls, parts);
    expect([code, err]).toEqual([130, expect.stringContaining(`weir batches ${parts.join(" ")}`)]);
    expect(asked.size).toBeLessThan(120);
  }
  delay = 0;
  expect((await ran(...parts)).code).toBe(1);
  expect([asked.size, Math.max(...asked.values())]).toEqual([120, 1]);
  expect(await compared("parts.jsonl")).toEqual(await compared("whole.jsonl"));
  expect(await compared("parts.errors.jsonl")).toEqual(await compared("whole.errors.jsonl"));
  // A run that has ended answers from its results.
  expect((await ran(...parts)).code).toBe(1);
  expect(Math.max(...asked.values())).toBe(1);
  expect((await ran(...whole, "--fresh")).code).toBe(1);
  expect([...asked.values()]).toEqual(Array<number>(120).fill(2));
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("a budget holds to the dollar, and says what it left out", async () => {
  asked.clear();
  await written(
    "budget.jsonl",
    bodies(12).map(({ messages }) => ({
      messages: [{ ...messages[0]!, content: `paid ${messages[0]!.content}` }],
    })),
    {
      ...config(),
      prices: { "p/m": { input: 0, output: 0, request: 1 } },
    },
  );
  const args = [
    "run",
    "budget.jsonl",
    "--model",
    "p/m",
    "--state",
    join(folder, "s3"),
    "--budget",
    "5",
    "--json",
  ];
  const { code, out } = await ran(...args);
  expect([code, JSON.parse(out)]).toMatchObject([
    1,
    { status: "completed", completed: 5, failed: 7, reasons: { insufficient_quota: 7 }, costNano: 5e9 },
  ]);
  expect(asked.size).toBe(5);
});

test("a price is what the run then costs, to the nano-dollar, where the counts of tokens are exact", async () => {
  const cases: [string, string, readonly object[], string[]][] = [
    // Each answer is as long as its line permits.
    [
      "chat.jsonl",
      "p/m",
      bodies(40).map((body) => ({
        ...body,
        messages: [{ role: "user", content: `Say ${body.max_tokens} words of it.` }],
      })),
      [],
    ],
    // There is no output.
    [
      "embed.jsonl",
      "p/e",
      Array.from({ length: 25 }, (_, at) => ({ input: `a text ${"word ".repeat(at)}` })),
      ["--format", "embeddings"],
    ],
  ];
  for (const discount of [0, 0.35])
    for (const [file, model, lines, more] of cases) {
      await written(file, lines, config({ batches: { discount } }));
      const priced = await ran("price", file, "--models", model, "--json", ...more);
      const { models } = JSON.parse(priced.out) as { models: { run: { cost: number; most: number } }[] };
      const state = join(folder, `s-${file}-${discount}`);
      const { out, code } = await ran("run", file, "--model", model, "--state", state, "--json", ...more);
      const { costNano, completed } = JSON.parse(out) as { costNano: number; completed: number };
      expect([priced.code, code, completed, costNano]).toEqual([0, 0, lines.length, models[0]!.run.cost]);
      expect(costNano).toBeGreaterThan(0);
      expect(costNano).toBeLessThanOrEqual(models[0]!.run.most);
    }
});

test("a table of prices: several models, unknown ones, and the output that is expected", async () => {
  await written("table.jsonl", bodies(10), config());
  const { out, code } = await ran("price", "table.jsonl", "--models", "p/m,nope", "--output", "3");
  expect(code).toBe(1);
  expect(out).toMatch(/^p\/m +10 +\d+ +30 +\$/m);
  expect(out).toMatch(/^nope +10 .*no price is known/m);
  expect(out).toContain("OUTPUT is 3 tokens for each line");
});

test("an input with faults, and flags that are wrong, run nothing", async () => {
  asked.clear();
  await written("faults.jsonl", [{ custom_id: "a", body: { model: "p/m", stream: true } }, 7]);
  const { code, err } = await ran("run", "faults.jsonl", "--state", join(folder, "s4"));
  expect([code, err]).toEqual([2, expect.stringMatching(/line 1: .*stream[^]*line 2: .*not a JSON object/)]);
  for (const [flag, value] of [
    ["--format", "speech"],
    ["--budget", "much"],
    ["--how", "soon"],
    ["--out", "faults.jsonl"],
  ] as const)
    expect((await ran("run", "faults.jsonl", flag, value, "--state", join(folder, "s4"))).code).toBe(2);
  expect(asked.size).toBe(0);
});
