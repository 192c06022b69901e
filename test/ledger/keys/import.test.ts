import { expect, test } from "bun:test";
import { digestOf } from "../../../src/ledger/keys/form.ts";
import { readImport } from "../../../src/ledger/keys/import.ts";
import { UNLIMITED } from "../../../src/ledger/keys/make.ts";

const NOW = Date.parse("2026-11-22T00:00:00Z");

/** Made by hand in the shape of `/key/list?return_full_object=true`. */
const LITELLM = {
  keys: [
    {
      token: digestOf("sk-alice"),
      key_name: "sk-...lice",
      key_alias: "alice's laptop",
      team_id: "search",
      models: ["gpt-*", "claude-sonnet-5"],
      max_budget: 12.5,
      budget_duration: "30d",
      spend: 3,
      rpm_limit: 60,
      tpm_limit: null,
      max_parallel_requests: 4,
      expires: "2027-01-01T00:00:00Z",
    },
    { token: digestOf("sk-bob"), key_alias: "bob", models: ["all-proxy-models"] },
    { token: digestOf("sk-bob2"), key_alias: "bob", models: [] },
    { token: digestOf("sk-old"), key_alias: "old", expires: "2020-01-01T00:00:00Z" },
    { token: digestOf("sk-blocked"), key_alias: "blocked", blocked: true },
    { token: "sk-plain", key_alias: "plain" },
  ],
};

test("synthetic: keys of LiteLLM keep their digests, scopes, limits and budgets", () => {
  const { keys, skipped } = readImport("litellm", JSON.stringify(LITELLM), UNLIMITED, NOW);
  expect(keys.map(({ entry }) => [entry.name, entry.path, entry.digests[0]!.sha256])).toEqual([
    ["alice-s-laptop", "/search", digestOf("sk-alice")],
    ["bob", "/", digestOf("sk-bob")],
    ["bob-2", "/", digestOf("sk-bob2")],
  ]);
  const [alice, bob] = keys;
  expect(alice!.entry).toMatchObject({
    scopes: { models: ["gpt-*", "claude-sonnet-5"] },
    expiresAt: Date.parse("2027-01-01T00:00:00Z"),
  });
  expect(alice!.budget).toEqual({ limit: 12_500_000_000, window: "month" });
  expect(alice!.rates).toEqual({ rpm: 60, concurrency: 4 });
  expect(alice!.notes).toEqual([
    "The budget of 30d begins with each calendar month.",
    "$3 that the key has spent are not carried over.",
  ]);
  expect(bob!.entry.scopes).toEqual({});
  expect(skipped).toEqual([
    { name: "old", why: "the key has expired." },
    { name: "blocked", why: "the key is blocked." },
    { name: "plain", why: "the row has no SHA-256 digest." },
  ]);
});

test("synthetic: keys of Bifrost keep their digests; an encrypted value without a digest is skipped", () => {
  const rows = [
    {
      name: "team a",
      value_hash: digestOf("sk-bf-1"),
      value: "gAAAA",
      encryption_status: "encrypted",
      team_id: "team-a",
      provider_configs: [{ provider: "openai", allowed_models: ["gpt-5.4"] }],
      budgets: [{ max_limit: 5, reset_duration: "12h" }],
      rate_limit: {
        request_max_limit: 10,
        request_reset_duration: "1m",
        token_max_limit: 9,
        token_reset_duration: "1h",
      },
    },
    { name: "plain", value: "sk-bf-2", provider_configs: [{ provider: "openai", allowed_models: ["*"] }] },
    { name: "lost", value: "gAAAA", encryption_status: "encrypted" },
    { name: "off", value: "sk-bf-3", is_active: false },
  ];
  const { keys, skipped } = readImport(
    "bifrost",
    rows.map((row) => JSON.stringify(row)).join("\n"),
    UNLIMITED,
    NOW,
  );
  expect(keys.map(({ entry }) => [entry.name, entry.path, entry.digests[0]!.sha256, entry.scopes])).toEqual([
    ["team-a", "/team-a", digestOf("sk-bf-1"), { providers: ["openai"], models: ["gpt-5.4"] }],
    ["plain", "/", digestOf("sk-bf-2"), { providers: ["openai"] }],
  ]);
  expect(keys[0]).toMatchObject({ budget: { limit: 5e9, window: { hours: 12 } }, rates: { rpm: 10 } });
  expect(keys[0]!.notes).toEqual(["The limit of 9 tokens is not for one minute and is not carried over."]);
  expect(skipped.map(({ name }) => name)).toEqual(["lost", "off"]);
  const config = { governance: { virtual_keys: rows } };
  expect(readImport("bifrost", JSON.stringify(config), UNLIMITED, NOW).keys).toHaveLength(2);
});

test("a file that is not JSON is refused with its line", () => {
  expect(() => readImport("litellm", `{"token": 1}\n{oops`, UNLIMITED, NOW)).toThrow(
    "line 2 of the file with the keys is not JSON",
  );
  expect(() => readImport("litellm", "", UNLIMITED, NOW)).toThrow("the file with the keys is empty");
});
