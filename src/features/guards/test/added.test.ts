/** Keys and clients add guards to their calls, and turn none off. */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { makeFolder, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { loadConfig } from "../../../config/load.ts";
import { check } from "../check.ts";
import { addedGuards } from "../key-options.ts";
import { guardsSection } from "../section.ts";

setDefaultTimeout(60_000);

let weir: RunningGateway;
const EMAIL = "anna@example.com";

beforeAll(async () => {
  weir = await startGateway({
    config: {
      keys: [
        { name: "plain", key: "weir-key-plain-0001" },
        { name: "careful", key: "weir-key-careful-01", guards: ["pii"] },
        { name: "lost", key: "weir-key-lost-00001", guards: ["gone"] },
      ],
      guards: {
        pii: { find: ["email"], do: "mask", keys: [] },
        other: { find: ["email"], do: "mask", keys: [], models: ["openai/*"] },
        cards: { find: ["card"], do: "block", on: ["input"] },
      },
      log: { format: "json" },
    },
  });
});
afterAll(() => weir.stop());

async function ask(key: string, headers: Record<string, string> = {}, content = `Write to ${EMAIL}`) {
  const response = await fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer weir-key-${key}`, ...headers },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content }] }),
  });
  const body = (await response.json()) as JsonObject;
  return {
    status: response.status,
    guards: response.headers.get("x-weir-guards"),
    warnings: response.headers.get("x-weir-warnings"),
    text: JSON.stringify(body),
    error: body["error"] as JsonObject | undefined,
  };
}

test("a guard with no keys looks at the calls alone that ask for it", async () => {
  const plain = await ask("plain-0001");
  expect([plain.status, plain.guards, plain.text.includes(EMAIL)]).toEqual([200, "cards=passed", true]);
  const careful = await ask("careful-01");
  expect([careful.guards, careful.text.includes(EMAIL)]).toEqual(["pii=masked:1, cards=passed", false]);
  const added = await ask("plain-0001", { "x-weir-guards-add": " pii , cards" });
  expect([added.guards, added.text.includes(EMAIL)]).toEqual(["pii=masked:1, cards=passed", false]);
});

test("a guard that is added still looks at its own models alone", async () => {
  expect((await ask("plain-0001", { "x-weir-guards-add": "other" })).guards).toBe("cards=passed");
});

test("nothing turns a guard off, and a client that tries is told", async () => {
  for (const header of ["x-weir-guards", "x-weir-guards-remove"]) {
    const tried = await ask("careful-01", { [header]: header === "x-weir-guards" ? "off" : "pii, cards" });
    expect([tried.status, tried.guards]).toEqual([200, "pii=masked:1, cards=passed"]);
    expect(tried.warnings).toContain(header);
    const blocked = await ask("plain-0001", { [header]: "off" }, "4111 1111 1111 1111");
    expect([blocked.status, blocked.guards]).toEqual([400, "cards=blocked:1"]);
  }
  // A header cannot replace what the key adds.
  expect((await ask("careful-01", { "x-weir-guards-add": "" })).guards).toBe("pii=masked:1, cards=passed");
});

test("a name that no guard has is an error, and a key that needs one has no calls", async () => {
  const unknown = await ask("plain-0001", { "x-weir-guards-add": "pii, nosuch" });
  expect([unknown.status, unknown.error!["code"]]).toEqual([400, "unknown_guard"]);
  expect(unknown.error!["message"]).toContain('names the guard "nosuch", which this gateway does not have');
  const lost = await ask("lost-00001");
  expect([lost.status, lost.error!["code"]]).toEqual([503, "guard_unavailable"]);
});

test("a key that another key makes has its guards, too", () => {
  const words = (scopes: object) => addedGuards.excess(scopes, { guards: ["pii"] });
  expect([words({ guards: ["cards", "pii"] }), words({ guards: ["pii"] })]).toEqual([undefined, undefined]);
  for (const scopes of [{}, { guards: [] }, { guards: ["cards"] }])
    expect(words(scopes)).toContain("guards must have those of the key that makes it: pii");
});

test("the flag of the command reads names", () => {
  expect(addedGuards.read("pii, cards")).toEqual(["pii", "cards"]);
  expect(() => addedGuards.read("pii,,")).toThrow("must be names of guards");
});

test("weir check names keys whose guards do not exist", async () => {
  const sections = [guardsSection, addedGuards];
  const keys = [
    { name: "a", key: "weir-key-plain-0001", guards: ["pii"] },
    { name: "b", key: "weir-key-plain-0002", guards: ["pii", "gone"] },
  ];
  const written = { keys, guards: { pii: { find: ["email"], do: "mask", keys: [] } } };
  const folder = await makeFolder({ config: written });
  const { config } = loadConfig({ flags: {}, env: {}, cwd: folder, sections });
  const catalog = { known: async () => undefined, list: async () => [] };
  const found = await check({ config, catalog } as unknown as Parameters<typeof check>[0]);
  expect(found).toEqual([
    { severity: "fault", message: 'the key b needs the guard "gone", which is not in guards.' },
  ]);
  await rm(folder, { recursive: true });
});

test("a secret of tokens that could be guessed is refused, and none is shown", async () => {
  const load = async (secret: string) => {
    const folder = await makeFolder({
      config: { guards: { secret, pii: { find: ["email"], do: "mask" } } },
    });
    try {
      return loadConfig({ flags: {}, env: {}, cwd: folder, sections: [guardsSection] }).config;
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  expect(load("too-short")).rejects.toThrow("must have at least 16 characters");
  expect(JSON.stringify(await load("long-enough-canary"))).not.toContain("canary");
});
