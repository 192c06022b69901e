/** The webhook in the config: both of its parts, an address that may get a POST, and no secret in a sentence. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { batchesSection, webhookOf } from "../section.ts";

function load(batches: object): object {
  const cwd = mkdtempSync(join(tmpdir(), "weir-batches-config-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), JSON.stringify({ batches }));
    return loadConfig({ env: {}, cwd, sections: [batchesSection] }).config;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function refusal(webhook: object): string {
  try {
    load({ webhook });
    return "";
  } catch (fault) {
    return (fault as Error).message;
  }
}

test("a webhook has an address and a secret", () => {
  const webhook = { url: "http://127.0.0.1:9/x", secret: "whsec_AAAA" };
  expect(webhookOf(load({ webhook }))).toEqual(webhook);
  expect(webhookOf(load({}))).toBeUndefined();
  expect(webhookOf(load({ on: false, webhook }))).toBeUndefined();
  expect(refusal({ url: webhook.url })).toContain("secret is missing");
  expect(refusal({ secret: "s-canary" })).toContain("url must be a URL");
  for (const url of ["ftp://hooks/canary", "hooks/canary", "http://canary:canary@hooks"]) {
    const sentence = refusal({ ...webhook, url });
    expect([sentence.includes("url must"), sentence.includes("canary")]).toEqual([true, false]);
  }
});
