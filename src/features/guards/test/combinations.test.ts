/** weir check refuses guards that promise what they cannot hold, and says why. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import type { JsonObject } from "../../../core/json.ts";
import { SECTIONS } from "../../../../test/helpers/features.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-guards-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the sentence of the fault; undefined: the config holds */
function faultOf(guard: JsonObject): string | undefined {
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ guards: { one: guard } }));
  try {
    loadConfig({ flags: {}, env: {}, cwd: folder, sections: SECTIONS });
    return undefined;
  } catch (cause) {
    return (cause as Error).message;
  }
}

const url = "http://127.0.0.1:8090/check";

const REFUSED: readonly (readonly [guard: JsonObject, words: RegExp])[] = [
  [{ do: "block" }, /a guard has one of find/],
  [{ moderate: { model: "openai/omni" }, do: "replace" }, /moderate says yes or no/],
  [{ model: { name: "m", instruction: "x" }, do: "mask" }, /model says yes or no/],
  [{ webhook: url, do: "replace", mode: "after" }, /after is too late/],
  [{ webhook: url, do: "mask", mode: ["before", "after"] }, /after is too late/],
  [{ webhook: url, do: "replace", on: "input", mode: "beside" }, /beside a guard sees/],
  [{ webhook: url, do: { route: "ollama/x" }, on: "input", mode: "beside" }, /beside a guard sees/],
  [{ webhook: url, mode: "window" }, /window needs a service/],
  [{ webhook: { url }, mode: "window" }, /window needs a service/],
  [{ presidio: url, mode: "window" }, /window needs a service/],
  [{ webhook: { url, holds: true }, presidio: url, mode: "window" }, /window needs a service/],
  [{ find: ["email", { webhook: url }], mode: "window" }, /window needs a service/],
  [{ find: ["email"], do: "flag", mode: "after" }, /what is found by its form/],
  [{ find: ["email"], do: "flag", on: "input", mode: "beside" }, /what is found by its form/],
  [{ webhook: url, mode: ["hold", "after"] }, /one for requests and one for answers/],
  [{ webhook: "ftp://host/" }, /http:\/\/ or https:\/\//],
  [{ webhook: "http://user:pass@host/" }, /user name or password/],
  [{ webhook: { url, forward: ["Authorization"] } }, /credential/],
  [{ webhook: { url, headers: { host: "x" } } }, /host/],
  [{ find: [{ webhook: "nothing" }] }, /http:\/\/ or https:\/\//],
  [{ webhook: url, timeout: "1 minute" }, /800ms/],
  [{ webhook: url, onError: "open" }, /block, pass/],
];

test("combinations that cannot hold are refused", () => {
  for (const [guard, words] of REFUSED)
    expect([guard, faultOf(guard)]).toEqual([guard, expect.stringMatching(words)]);
});

const HOLD: readonly JsonObject[] = [
  { webhook: url },
  {
    webhook: { url, holds: true, secret: "s", headers: { "x-own": "a" }, forward: ["x-tenant"] },
    mode: "window",
  },
  { find: ["email", { webhook: { url, holds: true } }], do: "mask", mode: "window" },
  { webhook: url, do: "flag", mode: ["beside", "after"], every: 500 },
  { moderate: { model: "openai/omni", categories: ["violence"], over: 0.6 }, on: "output", mode: "hold" },
  { presidio: url, entities: ["PERSON"], do: "replace", timeout: "800ms", onError: "block" },
  { plugin: "names", do: "mask", on: ["output"], mode: "window" },
  { bedrock: { guardrail: "g" } },
  { webhook: url, do: { route: "mock/echo" }, on: "input" },
];

test("others are taken", () => {
  for (const guard of HOLD) expect([guard, faultOf(guard)]).toEqual([guard, undefined]);
});

test("a secret of a webhook is none of what a fault or a printed config shows", () => {
  const fault = faultOf({ webhook: { url, secret: "s3cret-of-the-hook", form: "other" } });
  expect(fault).toContain("weir, litellm, portkey, agentgateway");
  expect(fault).not.toContain("s3cret");
  writeFileSync(
    join(folder, "weir.yaml"),
    JSON.stringify({
      guards: { one: { webhook: { url, secret: "s3cret-of-the-hook", headers: { a: "h3ader" } } } },
    }),
  );
  const { config } = loadConfig({ flags: {}, env: {}, cwd: folder, sections: SECTIONS });
  expect(JSON.stringify(config)).not.toMatch(/s3cret|h3ader/);
});
