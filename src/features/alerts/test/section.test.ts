/** The section of the config: its defaults, what is refused, and that its secrets are never printed. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { maskText } from "../../../config/mask-text.ts";
import { optionsWith } from "../../../config/schema.ts";
import { alertsSection, startLinesOf, targetsOf } from "../section.ts";

const SECTIONS = [alertsSection];

function load(config: unknown) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-alerts-config-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), JSON.stringify(config));
    return loadConfig({ env: {}, cwd, sections: SECTIONS }).config;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function refusal(config: unknown): string {
  try {
    load(config);
    return "";
  } catch (fault) {
    return (fault as Error).message;
  }
}

test("nothing gets alerts without the section", () => {
  expect([targetsOf(load({})), startLinesOf(load({}))]).toEqual([[], []]);
});

test("an alert has defaults, and its address and secret are never printed", () => {
  const written = { alerts: [{ to: "https://hooks.example/token-canary", secret: "secret-canary" }] };
  expect(targetsOf(load(written))).toEqual([
    {
      url: "https://hooks.example/token-canary",
      secret: "secret-canary",
      events: ["budget", "breaker", "credential", "errors", "store", "guard", "secret", "witness"],
      format: "json",
      errorShare: 0.2,
    },
  ]);
  expect(JSON.stringify(load(written))).not.toContain("canary");
});

test("the start table names the origins of the receivers once", () => {
  const hooks = ["https://a.example/canary", "https://a.example/canary-2", "http://b.example:81/canary"];
  const config = load({ alerts: hooks.map((to) => ({ to })) });
  expect(startLinesOf(config)).toEqual(["alerts: to https://a.example, http://b.example:81"]);
});

test("in the text of a config the address and the secret are hidden", () => {
  const written = 'alerts:\n  - {to: "https://hooks.example/canary-token", secret: canary-secret}\n';
  const { file: schema } = optionsWith(SECTIONS);
  expect(maskText(written, { schema })).toBe('alerts:\n  - {to: "https:***", secret: ***}\n');
});

test("mistakes stop the start with a sentence that names the option and no secret", () => {
  expect(refusal({ alerts: [{ events: ["budget"] }] })).toContain("to is missing");
  expect(refusal({ alerts: [{ to: "http://h", events: ["nothing"] }] })).toContain("events");
  const wrong = refusal({ alerts: [{ to: "hooks.example/token-canary" }] });
  expect([wrong.includes("to must be a URL"), wrong.includes("canary")]).toEqual([true, false]);
});
