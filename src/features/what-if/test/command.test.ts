/** `weir whatif` of a gateway with one call. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { askModel, type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;

beforeAll(async () => {
  const config = {
    modelSets: { cheap: ["mock/chat"], spare: ["mock/other"] },
    prices: {
      "mock/chat": { input: 0, output: 0, request: 0.01 },
      "mock/dear": { input: 0, output: 0, request: 0.05 },
    },
  };
  weir = await startBooks({ workers: 1, config });
  expect((await askModel(weir.url, "mock/chat")).status).toBe(200);
});

afterAll(() => weir?.end());

interface Row {
  from: string;
  to: string;
  calls: number;
  now: number;
  then?: number;
}

test("calls of a set are priced for another model, with a total", async () => {
  const rows = () =>
    (JSON.parse(whatif("--json", "--map", "@cheap=mock/dear").output) as { rows: Row[] }).rows;
  expect(await until(() => rows().length > 0, 10_000)).toBe(true);
  expect(rows()).toEqual([
    { from: "mock/chat", to: "mock/dear", calls: 1, now: 10_000_000, then: 50_000_000 },
  ]);
  const text = whatif("--map", "@cheap=mock/dear").output;
  expect(text).toMatch(/mock\/chat +mock\/dear +1 +\$0\.01\d* +\$0\.05/);
  expect(text).toMatch(/total +1 +\$0\.01/);
});

test("a set that does not exist, and a map that is none, are refused", () => {
  const { code, output } = whatif("--map", "@chaep=mock/dear");
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(/here is no set of models named chaep; modelSets of the config has @cheap, @spare/),
  ]);
  for (const [args, hint] of [
    [[], "requires --map"],
    [["--map", "a=b=c"], "--map requires pairs"],
  ] as const) {
    const refused = whatif(...args);
    expect([refused.code, refused.output]).toEqual([2, expect.stringContaining(hint)]);
  }
});

const whatif = (...args: string[]) => weir.run("whatif", ...args);
