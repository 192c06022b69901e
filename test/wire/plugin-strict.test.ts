/** A gateway does not serve without a plugin that may decide about its calls. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { startWeir } from "../../src/run/weir.ts";
import { environmentIn } from "../helpers/environment.ts";
import { startGateway } from "../helpers/gateway.ts";
import { until } from "../helpers/upstream.ts";
import { makeStage } from "../helpers/places.ts";

const { gateway } = makeStage((options) => startGateway({ ...options, target: "source" }));

const HEAD = 'import { definePlugin, chatCompletions } from "weir";\n';
const host = (more: string) => `providers: [{ name: "acme", baseUrl: "https://acme.example/v1", ${more} }]`;
const exported = (members: string) => `${HEAD}export default definePlugin({ name: "acme", ${members} });`;

const broken: [what: string, text: string, says: string][] = [
  ["does not parse", "export default {", "end of file"],
  ["throws", 'throw new Error("at the top");', "at the top"],
  ["has no default export", "export const hooks = {};", "has no default export"],
  ["misspells a hook", exported("hooks: { onRequest() {} }"), "did you mean request?"],
  ["misspells its hooks", exported("hook: { request() {} }"), "its hook is unknown"],
  ["has a hook that is no function", exported("hooks: { admit: true }"), "its hook admit must be a function"],
  [
    "has a hook beside a wrong provider",
    exported(`${host("")}, hooks: { answer: (events) => events }`),
    "it must speak a format",
  ],
];
const harmless: [what: string, text: string, says: string][] = [
  ["has a wrong provider", exported(host("")), "it must speak a format"],
  [
    "has a wrong address",
    exported('providers: [chatCompletions({ name: "acme", baseUrl: "htps://acme" })]'),
    'acme.ts: provider "acme": its baseUrl must begin with',
  ],
  ["only looks on", exported("hooks: { done: 3 }"), "its hook done must be a function"],
];

for (const [what, text, says] of broken) {
  test(`a plugin that ${what} stops the start`, async () => {
    const started = gateway({}, { plugins: { "acme.ts": text } });
    await expect(started).rejects.toThrow(says);
    await expect(started).rejects.toThrow("plugins.strict: false");
  });
  test(`a plugin that ${what} is left out where the config says so`, async () => {
    const running = await gateway({ plugins: { strict: false } }, { plugins: { "acme.ts": text } });
    await until(
      () => running.log.some((line) => line.includes("plugin not loaded: ")),
      10_000,
      () => "the log names no plugin",
    );
    expect((await fetch(`${running.url}/health`)).status).toBe(200);
  });
}

for (const [what, text, says] of harmless)
  test(`a plugin that ${what} is left out, and strict stops the start`, async () => {
    const plugins = { "acme.ts": text };
    const running = await gateway({}, { plugins });
    const messages = () => running.log.map((line) => (JSON.parse(line) as { message?: string }).message);
    await until(
      () => messages().some((line) => line?.includes(says)),
      10_000,
      () => `the log does not say ${says}`,
    );
    await expect(gateway({ plugins: { strict: true } }, { plugins })).rejects.toThrow("plugins.strict: ");
  });

test("a reload with such a plugin is refused, and the old one stays", async () => {
  const plugins = { "acme.ts": exported('hooks: { admit(call) { call.addHeader("x-acme", "1"); } }') };
  const { folder } = await gateway({}, { plugins });
  const read = () => loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
  const weir = await startWeir({ ...read(), env: {}, write: () => {} });
  try {
    writeFileSync(join(folder, "plugins/acme.ts"), "export default {");
    await expect(weir.reload({ ...read(), env: {} })).rejects.toThrow("plugins.strict: false");
    expect(weir.parts.plugins.some(({ plugin }) => plugin.name === "acme")).toBe(true);
  } finally {
    await weir.stop();
  }
});

test("an export that weir does not have is named with the one that was meant", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  try {
    mkdirSync(join(folder, "plugins"));
    writeFileSync(
      join(folder, "plugins/acme.ts"),
      `import { chatCompletion } from "weir"; export default chatCompletion({});`,
    );
    const main = join(import.meta.dir, "../../src/main.ts");
    const command = [process.execPath, main, "plugin", "list"];
    const { stderr } = Bun.spawnSync(command, {
      cwd: folder,
      env: environmentIn(folder),
    });
    expect(stderr.toString()).toContain("did you mean chatCompletions?");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
