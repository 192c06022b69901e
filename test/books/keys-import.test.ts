/** Keys of another gateway, taken over with the command line of a gateway that runs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../src/ledger/keys/form.ts";
import { type RunningBooks, startBooks } from "./running.ts";

setDefaultTimeout(120_000);

const NEXT_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString();
/** Made by hand in the shape of `/key/list?return_full_object=true`. */
const LITELLM = {
  keys: [
    {
      ...{ token: digestOf("sk-alice"), key_alias: "alice", team_id: "search", models: ["mock/*"] },
      ...{ max_budget: 12.5, budget_duration: "30d", rpm_limit: 60, expires: NEXT_YEAR },
    },
    { token: digestOf("sk-bob"), key_alias: "bob", models: ["gpt-*"] },
    { token: digestOf("sk-blocked"), key_alias: "blocked", blocked: true },
  ],
};

let weir: RunningBooks;

beforeAll(async () => {
  weir = await startBooks({ workers: 1 });
});
afterAll(() => weir?.end());

async function statusOf(key: string): Promise<number> {
  const response = await fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

test("LiteLLM's keys are imported with the command line, and their clients keep them", async () => {
  writeFileSync(join(weir.folder, "keys.json"), JSON.stringify(LITELLM));
  const { code, output } = weir.run("keys", "import", "keys.json", "--from", "litellm", "--path", "/old");
  expect(output).toContain("weir imported 2 of 3 keys.");
  expect(output).toContain("not imported: blocked: the key is blocked.");
  // Not all of them.
  expect(code).toBe(1);
  expect([await statusOf("sk-alice"), await statusOf("sk-bob")]).toEqual([200, 403]);
  expect([await statusOf("sk-blocked"), await statusOf("sk-carol")]).toEqual([401, 401]);
  expect(await weir.budget("alice")).toMatchObject({ limit: 12_500_000_000, window: "month" });
  expect(weir.run("rates", "list").output).toContain("60 rpm");
  expect(weir.run("keys", "list", "--path", "/old/search").output).toContain("alice");
});

test("a second import of the same file changes nothing and says so", () => {
  const { output } = weir.run("keys", "import", "keys.json", "--from", "litellm", "--path", "/old");
  expect(output).toContain("not imported: alice: weir already has this key.");
  expect(output).toContain("weir imported 0 of 3 keys.");
});
