/** `weir tools cost` and `weir tools diet` of a tape that `weir record` wrote, without a gateway. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Ran, runCommand } from "../../../../../test/helpers/command.ts";
import { sumOf } from "../../cost/attribute.ts";
import type { ToolCostReport } from "../../cost/contracts.ts";
import type { Diet } from "../../cost/diet.ts";
import { startModel, TURN_TOKENS } from "../loop/model.ts";

setDefaultTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), "weir-tool-costs-"));
const model = startModel(({ results }) => {
  if (results.length === 0) return { calls: [{ name: "look" }] };
  return results.length === 1 ? { calls: [{ name: "final" }] } : { text: "Done." };
});
afterAll(() => {
  model.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A client that ends at the call of `final`, in each format, plain and streamed. */
const CLIENT = `
import { SDKS } from ${JSON.stringify(resolve(import.meta.dir, "sdks.ts"))};
const url = process.env.OPENAI_BASE_URL.replace("/v1", "");
for (const client of ["messages", "chat-completions", "responses"])
  for (const stream of [false, true]) {
    const steps = [];
    for (let turn = 0; turn < 2; turn++) {
      const asked = { url, model: client + "/m", stream, tools: ["look", "final", "spare"], steps };
      const [call] = await SDKS[client](asked);
      steps.push({ ...call, result: "found ".repeat(200), isError: false });
    }
  }
`;
const PRICE = { input: 3.0017, output: 15.07 };
const RUNS = 6;
const weir = (...args: string[]): Promise<Ran> => runCommand(args, { cwd: folder });

test("a tape has the same facts as the books, with the prices of the config", async () => {
  writeFileSync(join(folder, "client.ts"), CLIENT);
  const config = { providers: model.providers, prices: { "*": PRICE } };
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  const recorded = await weir(
    "record",
    "run.tape",
    "--port",
    "0",
    "--",
    process.execPath,
    join(folder, "client.ts"),
  );
  expect(recorded.code, recorded.err).toBe(0);
  model.stop();

  const asked = await weir("tools", "cost", "--tape", "run.tape", "--json");
  expect(asked.code, asked.err).toBe(0);
  const report = JSON.parse(asked.out) as ToolCostReport;
  const calls = RUNS * 2;
  expect(report).toMatchObject({ calls, tokens: calls * TURN_TOKENS.input, unknown: 0, unread: 0 });
  const of = (name: string) => report.tools.find(({ tool }) => tool === name)!;
  expect(of("look")).toMatchObject({ carried: calls, uses: RUNS, isUsed: true });
  expect(of("final")).toMatchObject({ carried: calls, uses: RUNS, isUsed: true });
  expect(of("spare")).toMatchObject({ carried: calls, uses: 0, isUsed: false });
  const each = Math.round((TURN_TOKENS.input * PRICE.input + TURN_TOKENS.output * PRICE.output) * 1_000);
  const { rest } = report;
  const rows = report.tools.reduce((sum, { cost }) => sum + cost, 0) + sumOf(rest.cost) + rest.other;
  expect([rows, report.cost]).toEqual([calls * each, calls * each]);
  expect((await weir("tools", "cost", "--tape", "run.tape")).out).toMatch(/^total +12 /m);
});

test("the diet of a tape names the unused tool with its proof", async () => {
  const { out } = await weir("tools", "diet", "--tape", "run.tape", "--json");
  const diet = JSON.parse(out) as Diet;
  expect(diet.clients.map(({ tool }) => tool)).toEqual(["spare"]);
  expect(diet.proof).toEqual({ requests: RUNS * 2, same: RUNS * 2, mentioned: {} });
  const text = await weir("tools", "diet", "--tape", "run.tape");
  expect(text.out).toContain("12 of 12 requests differ in nothing but the declarations.");
});

test("a file that is no tape, and flags that ask the books, are refused", async () => {
  const none = await weir("tools", "cost", "--tape", "weir.yaml");
  expect([none.code, none.err]).toEqual([1, expect.stringContaining("is not a tape")]);
  const missing = await weir("tools", "diet", "--tape", "none.tape");
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("none.tape")]);
  const both = await weir("tools", "cost", "--tape", "run.tape", "--key", "demo");
  expect([both.code, both.err]).toEqual([2, expect.stringContaining("leave out --key")]);
});
