/** The era of a server over HTTP is found out once, also for the next start. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../../../test/helpers/serving.ts";
import { openHttp } from "../servers/open-http.ts";
import { Verdicts } from "../servers/verdicts.ts";
import type { McpError } from "../wire/messages.ts";
import { LegacyClient, ModernClient, textOf } from "./support/clients.ts";
import { fakeServer, text } from "./support/servers.ts";

setDefaultTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const folderFor = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "weir-eras-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const tools = { echo: () => text("echoed") };
const serverOf = (era: "modern" | "legacy") => {
  const server = fakeServer(era, tools);
  cleanups.push(() => server.stop());
  return server;
};
const times = (seen: string[], method: string) => seen.filter((one) => one === method).length;

test("a gateway that starts again asks no server for an era that it does not speak", async () => {
  const [legacy, modern] = [serverOf("legacy"), serverOf("modern")];
  const servers = { old: { url: legacy.url, allow: ["*"] }, new: { url: modern.url, allow: ["*"] } };
  const state = join(folderFor(), "state");
  const config = JSON.stringify({ state, tools: { pin: "off", servers } });
  // Each server is asked by a client of the other era.
  const ask = async (url: string) => {
    expect(textOf(await new ModernClient({ url: `${url}/mcp/old` }).call("echo"))).toBe("echoed");
    const client = await LegacyClient.open({ url: `${url}/mcp/new` });
    expect(textOf(await client.call("echo"))).toBe("echoed");
  };
  for (let start = 0; start < 3; start++) {
    const gateway = await serve({ workers: 1, config });
    try {
      await ask(gateway.url);
    } finally {
      await gateway.end();
    }
    expect([times(legacy.seen, "server/discover"), times(modern.seen, "initialize")]).toEqual([1, 1]);
  }
});

test("a server that contradicts is found out again, and what cannot be reached proves nothing", async () => {
  const verdicts = new Verdicts(undefined, () => {});
  const open = (url: string) =>
    openHttp({
      target: {
        name: "one",
        url,
        credential: { headers: () => Promise.resolve({}), refused: () => Promise.resolve(false) },
      },
      ...{ era: "auto", preferred: "modern", verdicts, stop: AbortSignal.timeout(10_000) },
      client: { capabilities: {}, info: {} },
      events: { notified: () => {}, ended: () => {} },
    } as Parameters<typeof openHttp>[0]);
  const modern = serverOf("modern");
  verdicts.set({ url: modern.url, preferred: "modern" }, "legacy");
  expect((await open(modern.url)).era).toBe("modern");
  expect(verdicts.get({ url: modern.url, preferred: "modern" })).toBe("modern");
  const away = "http://127.0.0.1:9/mcp";
  verdicts.set({ url: away, preferred: "modern" }, "legacy");
  expect(await open(away).catch((thrown: McpError) => thrown.code)).toBe(1002);
  expect(verdicts.get({ url: away, preferred: "modern" })).toBe("legacy");
});

const QUESTION = { url: "https://mcp.example/?token=secret", preferred: "modern" as const };
const LATER = { ...QUESTION, preferred: "legacy" as const };

test("verdicts are kept by the client's era, in a file without secrets for this user alone", () => {
  const folder = folderFor();
  const first = new Verdicts(folder, () => {});
  expect(first.get(QUESTION)).toBeUndefined();
  first.set(QUESTION, "modern");
  first.set(QUESTION, "legacy");
  const next = new Verdicts(folder, () => {});
  expect([next.get(QUESTION), next.get(LATER)]).toEqual(["legacy", undefined]);
  const file = join(folder, "eras.json");
  expect(readFileSync(file, "utf8")).not.toMatch(/example|secret/);
  expect([readdirSync(folder), statSync(file).mode & 0o077]).toEqual([["eras.json"], 0]);
});

test.each([
  ["no JSON", "{"],
  ["another value", "[]"],
  ["an unknown era", '{"a":{"era":"older","at":1}}'],
  ["no time", '{"a":{"era":"modern"}}'],
])("a damaged file is ignored with one line: %s", (_, words) => {
  const folder = folderFor();
  writeFileSync(join(folder, "eras.json"), words);
  const said: string[] = [];
  const verdicts = new Verdicts(folder, (sentence) => said.push(sentence));
  expect([verdicts.get(QUESTION), verdicts.get(LATER)]).toEqual([undefined, undefined]);
  verdicts.set(QUESTION, "legacy");
  expect(said).toEqual([expect.stringContaining("eras.json is ignored")]);
  expect(new Verdicts(folder, () => {}).get(QUESTION)).toBe("legacy");
});

test("a verdict ends after a day, and one of a later time does not count", () => {
  const folder = folderFor();
  new Verdicts(folder, () => {}).set(QUESTION, "legacy");
  const file = join(folder, "eras.json");
  const written = JSON.parse(readFileSync(file, "utf8")) as Record<string, { at: number }>;
  const [[key, verdict]] = Object.entries(written) as [[string, { at: number }]];
  for (const shift of [-86_400_001, 60_000]) {
    writeFileSync(file, JSON.stringify({ [key]: { ...verdict, at: verdict.at + shift } }));
    expect(new Verdicts(folder, () => {}).get(QUESTION)).toBeUndefined();
  }
});

test("a folder that cannot be written is no fault of a call", () => {
  const folder = folderFor();
  mkdirSync(join(folder, "eras.json"));
  const said: string[] = [];
  const verdicts = new Verdicts(folder, (sentence) => said.push(sentence));
  verdicts.set(QUESTION, "legacy");
  expect([verdicts.get(QUESTION), said.length]).toEqual(["legacy", 2]);
});
