/** What is wrong in a plugin's declaration is said at load, and secrets in the wrong place are not repeated. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtIn } from "../../plugins/index.ts";
import { declarationFault } from "../../src/external-plugins/declaration.ts";
import { loadPlugins } from "../../src/external-plugins/discover.ts";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

const SECRET = "sk-live-canary-81c2f0a7d3";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-declaration-"));
  mkdirSync(join(folder, "plugins"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A provider as a plugin declares it, with some members changed. */
const provider = (members: string) =>
  `chatCompletions({ name: "acme", baseUrl: "https://acme.example/v1", ${members} })`;

const plugin = (members: string) =>
  `import { definePlugin, chatCompletions } from "weir";\nexport default definePlugin({ name: "acme", ${members} });`;

const WRONG: Record<string, [text: string, says: string]> = {
  "models-text": [
    plugin(`providers: [${provider(`models: "acme/*"`)}]`),
    'provider "acme": its models must be a list, not a text; write ["acme/*"]',
  ],
  "catalog-text": [
    plugin(`providers: [${provider(`catalog: "small"`)}]`),
    'its catalog must be a list, not a text; write ["small"]',
  ],
  "key-literal": [
    plugin(`providers: [${provider(`apiKey: "${SECRET}"`)}]`),
    'provider "acme": its apiKey must be the name of an environment variable',
  ],
  "plugin-member": [plugin(`provders: []`), "its provders is unknown, did you mean providers?"],
  "plugin-nonsense": [
    plugin(`colour: 1`),
    "its colour is unknown; the known ones are name, providers, formats, hooks",
  ],
  "provider-member": [
    plugin(`providers: [${provider(`baseURL: "https://a.example"`)}]`),
    'provider "acme": its baseURL is unknown, did you mean baseUrl?',
  ],
  "hook-name": [plugin(`hooks: { reqest() {} }`), "its hook reqest is unknown, did you mean request?"],
  "hook-of-no-kind": [
    plugin(`hooks: { guard() {} }`),
    "its hook guard is unknown; the known ones are admit, intercept, request, answer, observe, explain, done",
  ],
  "trait-name": [
    plugin(`providers: [${provider(`traits: { thinktag: true }`)}]`),
    "its trait thinktag is unknown, did you mean thinkTags?",
  ],
  "trait-value": [
    plugin(`providers: [${provider(`traits: { jsonSchema: "json_object" }`)}]`),
    'its trait jsonSchema must be "native" or "openapi" or "json-object" or "prompt"',
  ],
  "auth-word": [
    plugin(`providers: [${provider(`auth: "basic"`)}]`),
    'its auth must be "bearer", "x-api-key" or a function of the key',
  ],
  "headers-value": [
    plugin(`providers: [${provider(`headers: { "x-version": 3 }`)}]`),
    "its headers must be an object of texts",
  ],
  "paths-value": [
    plugin(`providers: [${provider(`speaks: { messages: { json: "/a", steam: "/b" } }`)}]`),
    'its speaks must be an object of formats, each with a path or with { json: "/…", stream: "/…", models: ["…"] }',
  ],
  "variable-member": [
    plugin(`providers: [${provider(`variables: { region: { evn: ["A"], describe: "x" } }`)}]`),
    "its variables.region evn is unknown, did you mean env?",
  ],
  "variable-without-description": [
    plugin(`providers: [${provider(`variables: { region: { default: "x" } }`)}]`),
    "its variables.region describe is missing",
  ],
  "variable-from-text": [
    plugin(`providers: [${provider(`variables: { region: { env: "REGION", describe: "x" } }`)}]`),
    "its variables.region env must be a list of environment variables",
  ],
  "credentials-flat": [
    plugin(`providers: [${provider(`credentials: ["ACME_ID", "ACME_SECRET"]`)}]`),
    "its credentials must be a list of sets, each a list of environment variables",
  ],
  "credentials-literal": [
    plugin(`providers: [${provider(`credentials: [["${SECRET}"]]`)}]`),
    "each of its credentials must be the name of an environment variable",
  ],
  "credentials-source": [
    plugin(`providers: [${provider(`credentials: [{ findd() {} }], authorize() {}`)}]`),
    "its source's findd is unknown, did you mean find?",
  ],
  "counting-incomplete": [
    plugin(`providers: [${provider(`counting: { "chat-completions": { path: "/count" } }`)}]`),
    "its counting.chat-completions request is missing",
  ],
  "model-traits": [
    plugin(`providers: [${provider(`modelTraits: [{ models: ["a*"], traits: { strict: true } }]`)}]`),
    "its trait strict is unknown",
  ],
  "envelope-member": [
    plugin(`providers: [${provider(`envelope: { "chat-completions": { withoutHeader: ["x-a"] } }`)}]`),
    "its envelope.chat-completions withoutHeader is unknown, did you mean withoutHeaders?",
  ],
  "authorize-value": [
    plugin(`providers: [${provider(`authorize: "bearer"`)}]`),
    "its authorize must be a function",
  ],
  "framing-value": [
    plugin(`providers: [${provider(`framing: { "chat-completions": "sse" }`)}]`),
    "its framing.chat-completions must be an object",
  ],
  "framing-member": [
    plugin(`providers: [${provider(`framing: { "chat-completions": { contentType: "x" } }`)}]`),
    "its framing.chat-completions reader is missing",
  ],
  "patch-value": [plugin(`providers: [${provider(`patch: {}`)}]`), "its patch must be a function"],
  "nameless-provider": [plugin(`providers: [{ generate() {} }]`), "provider number 1: its name is missing"],
  "format-member": [
    plugin(`formats: [{ id: "tongue", upstraem: {} }]`),
    'format "tongue": its upstraem is unknown, did you mean upstream?',
  ],
  "codec-incomplete": [
    plugin(
      `formats: [{ id: "tongue", upstream: { address: { requestHeaders: [], answerHeaders: [] }, codec: { encodeRequest() {} } } }]`,
    ),
    "its upstream.codec readStream is missing",
  ],
};

test("an unknown or wrong member of a plugin is an error at load, with what was probably meant", async () => {
  const dir = join(folder, "plugins");
  for (const [name, [text]] of Object.entries(WRONG)) writeFileSync(join(dir, `${name}.ts`), text);
  const { plugins, broken } = await loadPlugins({ dir, allow: [], loadMs: 60_000 });
  expect(plugins).toEqual([]);
  for (const [name, [, says]] of Object.entries(WRONG)) {
    const found = broken.find(({ file }) => file.endsWith(`/${name}.ts`));
    expect([name, found?.message]).toEqual([name, expect.stringContaining(says)]);
  }
  expect(JSON.stringify(broken)).not.toContain(SECRET);
  for (const name of Object.keys(WRONG)) rmSync(join(dir, `${name}.ts`));
});

test("a literal apiKey in a plugin is refused by weir check and not printed", async () => {
  const file = join(folder, "plugins", "acme.ts");
  writeFileSync(file, WRONG["key-literal"]![0]);
  for (const args of [
    ["check", "--offline"],
    ["check", "--offline", "--json"],
    ["plugin", "list"],
    ["models"],
  ]) {
    const { out, err } = await runCommand(args, { cwd: folder });
    expect(out + err).not.toContain(SECRET);
  }
  const { code, err } = await runCommand(["check", "--offline"], { cwd: folder });
  expect([code, err]).toEqual([1, expect.stringContaining("the name of an environment variable")]);
  rmSync(file);
});

test("the built-in plugins keep the rules of dropped ones", () => {
  expect(builtIn.map(declarationFault)).toEqual(builtIn.map(() => undefined));
});

test("a secret in the wrong place of the config is not echoed", async () => {
  const rows: [yaml: string, says: string][] = [
    [`keys: ${SECRET}`, "keys must be a list, but is a text"],
    [`keys: { alice: ${SECRET} }`, "keys must be a list, but is a map"],
    [`keys: [{ "alice:${SECRET}": 1 }]`, "name is missing"],
    [`keys: [{ name: alice, ${SECRET}: x }]`, "unknown option"],
    [`keys: [{ name: alice, kye: ${SECRET} }]`, "unknown option kye, did you mean key?"],
    [`keys: [{ name: alice, sha256: ${SECRET} }]`, "sha256 must be 64 hexadecimal digits"],
    [`providers: ${SECRET}`, "providers must be a map of names to values, but is a text"],
    [`providers: { openai: ${SECRET} }`, "openai must be a group of options, but is a text"],
    [`providers: { openai: { apikey: ${SECRET} } }`, "unknown option apikey, did you mean apiKey?"],
    [`providers: { openai: { apiKey: [${SECRET}] } }`, "apiKey must be a text, but is a list"],
    [`providers: { openai: { headers: "authorization: ${SECRET}" } }`, "headers must be a map"],
    [`providers: { openai: { deployments: ${SECRET} } }`, "deployments must be a list"],
  ];
  for (const [yaml, says] of rows) {
    writeFileSync(join(folder, "wrong.yaml"), `${yaml}\n`);
    const { code, out, err } = await runCommand(["--config", "wrong.yaml", "check", "--offline"], {
      cwd: folder,
    });
    expect([yaml, code, err]).toEqual([yaml, 78, expect.stringContaining(says)]);
    expect([yaml, out + err]).not.toEqual([yaml, expect.stringContaining(SECRET)]);
  }
});
