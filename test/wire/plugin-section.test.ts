/** Options of plugins: checked by the schema that the plugin brings, with file and line. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { startGateway } from "../helpers/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-plugin-section-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Refuses calls whose model is not in a list, and says a word of its options in the error. */
const GATE = `import { definePlugin, invalidRequest } from "weir";

export default definePlugin({
  name: "gate",
  section: {
    schema: {
      type: "object",
      properties: {
        models: { type: "array", items: { type: "string" }, default: ["mock/chat"] },
        word: { type: "string", minLength: 3, default: "closed" },
        most: { type: "integer", minimum: 1 },
      },
    },
    configure({ models, word, most }) {
      if (most === 99) return undefined;
      return {
        hooks: {
          admit(call) {
            if (!models.includes(call.model)) throw invalidRequest("the gate is " + word);
          },
        },
      };
    },
  },
});
`;

async function show(plugins: string, files: Record<string, string> = { "gate.ts": GATE }) {
  rmSync(join(folder, "plugins"), { recursive: true, force: true });
  mkdirSync(join(folder, "plugins"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "plugins", name), text);
  writeFileSync(join(folder, "weir.yaml"), `port: 0\n${plugins}`);
  const { code, out, err } = await runCommand(["plugin", "list"], { cwd: folder });
  return { code, text: out + err };
}

async function ask(url: string, model: string) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  return { status: response.status, text: await response.text() };
}

const GATED = { plugins: { "gate.ts": GATE } };

test("a plugin gets its options with the defaults of its schema, and those of the file", async () => {
  const standard = await startGateway(GATED);
  expect((await ask(standard.url, "mock/chat")).status).toBe(200);
  expect(await ask(standard.url, "mock/echo")).toMatchObject({
    status: 400,
    text: expect.stringContaining("the gate is closed"),
  });
  await standard.stop();
  const set = await startGateway({
    ...GATED,
    env: { THE_WORD: "shut" },
    config: { plugins: { gate: { models: ["mock/echo"], word: "${THE_WORD}" } } },
  });
  expect((await ask(set.url, "mock/echo")).status).toBe(200);
  expect((await ask(set.url, "mock/chat")).text).toContain("the gate is shut");
  await set.stop();
  const off = await startGateway({ ...GATED, config: { plugins: { gate: { most: 99 } } } });
  expect((await ask(off.url, "mock/echo")).status).toBe(200);
  await off.stop();
});

test.each([
  ["plugins:\n  gate: { wort: x }\n", "weir.yaml:3: unknown option wort, did you mean word?"],
  ["plugins:\n  gate:\n    most: none\n", "weir.yaml:4: most must be an integer"],
  ["plugins:\n  gate: { word: ab }\n", "weir.yaml:3: word must be"],
  ["plugins:\n  gaet: { word: abc }\n", "weir.yaml:3: there is no plugin named gaet, did you mean gate?"],
  ["plugins:\n  openai: { word: abc }\n", "weir.yaml:3: the plugin openai has no options"],
  ["plugins:\n  dri: x\n", "weir.yaml:3: unknown option dri, did you mean dir?"],
  ["plugins:\n  gate: 5\n", "weir.yaml:3: unknown option gate; options of a plugin are a group"],
])("the error of a mistake names file and line: %j", async (yaml, sentence) => {
  expect(await show(yaml)).toMatchObject({ code: 78, text: expect.stringContaining(sentence) });
});

test.each([
  [
    '{ type: "object", properties: { a: { type: "string", format: "uri" } } }',
    "the keyword format, which weir does not check",
  ],
  [
    '{ type: "object", properties: { a: { type: "text" } } }',
    "schema.properties.a.type must be one of string, number",
  ],
])("a schema that weir cannot check is a fault of the plugin: %s", async (schema, clause) => {
  const text = `import { definePlugin } from "weir";
export default definePlugin({ name: "odd", section: { schema: ${schema}, configure: () => undefined } });`;
  expect((await show("", { "odd.ts": text })).text).toContain(clause);
});

test("texts of options are secrets to all but the plugin", async () => {
  writeFileSync(join(folder, "weir.yaml"), "plugins:\n  gate: { word: canary-5521 }\n");
  const { out, err } = await runCommand(["config", "show", "--json"], { cwd: folder });
  expect(out + err).not.toContain("canary-5521");
});
