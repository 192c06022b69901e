/** `weir import`: what it writes where, what it says, and its exit codes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "../report.ts";
import { runCommand } from "../../../../test/helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

const SECRET = "sk-ant-canary-0123456789";
let folder: string;
const weir = (...args: string[]) => runCommand(["import", ...args], { cwd: folder });
const pathOf = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-import-cli-"));
  writeFileSync(
    pathOf("config.yaml"),
    `model_list:
  - model_name: claude
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_key: ${SECRET}
  - model_name: gpt
    litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY }
litellm_settings:
  callbacks: [langfuse]
`,
  );
  writeFileSync(pathOf("plain.json"), JSON.stringify({ provider: "openai", api_key: SECRET }));
  writeFileSync(pathOf("broken.yaml"), "model_list:\n  - model_name: a\n   litellm_params: {\n");
  writeFileSync(pathOf("broken.json"), '{\n  // a comment\n  "Providers": [\n    { "name": "a", }\n  ,]\n');
  writeFileSync(pathOf("twice.json"), '{\n  "Providers": [],\n  "Providers": []\n}\n');
  writeFileSync(pathOf("other.yaml"), "services:\n  web: {}\n");
  writeFileSync(pathOf("empty.json"), "");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("prints weir.yaml to standard output, and the report to standard error", async () => {
  const { code, out, err } = await weir("litellm", "config.yaml");
  expect(code).toBe(0);
  expect(out).toStartWith("# Written by: weir import litellm config.yaml\n");
  expect(Bun.YAML.parse(out)).toMatchObject({
    aliases: { claude: "anthropic/claude-sonnet-4-5", gpt: "openai/gpt-5" },
  });
  expect(err).toContain("no counterpart: 1\n");
  expect(err).toContain('config.yaml:9 litellm_settings.callbacks[0] = "langfuse": ');
  expect(err).toContain(
    "\n  export ANTHROPIC_API_KEY=…  # the value of model_list[0].litellm_params.api_key, config.yaml:5\n",
  );
  expect(err).toContain("\n  OPENAI_API_KEY\n");
});

test("shows a secret of the source nowhere, and writes it to the file of --env alone, for its owner only", async () => {
  const args = ["litellm", "config.yaml", "--out", "shown.yaml", "--env", "weir.env"];
  const { out, err } = await weir(...args, "--json");
  expect(out + err + readFileSync(pathOf("shown.yaml"), "utf8")).not.toContain(SECRET);
  expect(readFileSync(pathOf("weir.env"), "utf8")).toBe(`ANTHROPIC_API_KEY='${SECRET}'\n`);
  expect(statSync(pathOf("weir.env")).mode & 0o777).toBe(0o600);
});

test("does not replace a file without --force, and then writes neither file", async () => {
  writeFileSync(pathOf("mine.yaml"), "port: 1\n");
  const refused = await weir("litellm", "config.yaml", "--out", "mine.yaml", "--env", "new.env");
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining("mine.yaml already exists; weir wrote nothing"),
  ]);
  expect([readFileSync(pathOf("mine.yaml"), "utf8"), existsSync(pathOf("new.env"))]).toEqual([
    "port: 1\n",
    false,
  ]);
  expect((await weir("litellm", "config.yaml", "--out", "mine.yaml", "--force")).code).toBe(0);
  expect(readFileSync(pathOf("mine.yaml"), "utf8")).toContain("anthropic");
});

test("with --strict what has no counterpart is exit code 1, and nothing else is", async () => {
  expect((await weir("litellm", "config.yaml", "--strict")).code).toBe(1);
  expect((await weir("portkey", "plain.json", "--strict")).code).toBe(0);
});

test("of a key that is set twice the last one counts, as for the other gateways, and a note says so", async () => {
  const { code, err } = await weir("ccr", "twice.json");
  expect([code, err]).toEqual([
    0,
    expect.stringContaining("twice.json:3: Providers is set twice (at Providers); the last one counts.\n"),
  ]);
});

test("the database of claude-code-router is read, without a change to it", async () => {
  const file = pathOf("config.sqlite");
  const database = new Database(file);
  database.run("PRAGMA journal_mode = WAL");
  database.run(
    "CREATE TABLE app_config (key TEXT PRIMARY KEY, value_json TEXT NOT NULL, updated_at TEXT NOT NULL)",
  );
  database.run(
    "CREATE TABLE api_keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, encrypted_key TEXT NOT NULL, encryption TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL, limits_json TEXT NOT NULL)",
  );
  const provider = (name: string, baseUrl: string, type: string, models: string[]) => ({
    ...{ name, api_base_url: baseUrl, api_key: SECRET, models },
    capabilities: [{ type, baseUrl }],
  });
  const settings = {
    ...{ HOST: "127.0.0.1", PORT: 3456, theme: "dark" },
    Providers: [
      provider("Kimi", "https://api.moonshot.cn/v1", "openai_chat_completions", ["kimi-k2"]),
      provider("zai", "https://api.z.ai/api/anthropic", "anthropic_messages", ["glm-4.6"]),
    ],
    Router: {
      rules: [
        {
          ...{ type: "condition", enabled: true },
          condition: { left: "request.body.model", operator: "starts-with", right: "claude-" },
          rewrites: [{ key: "request.body.model", operation: "set", value: "zai/glm-4.6" }],
        },
      ],
      fallback: { mode: "model-chain", models: ["Kimi/kimi-k2"], retryCount: 1 },
    },
  };
  database.run("INSERT INTO app_config VALUES ('default', ?, '')", [JSON.stringify(settings)]);
  database.run(
    "INSERT INTO api_keys VALUES ('1', 'Laptop', 'ccr-secret-key-1', 'plain', '', '', '{\"rpm\":60}')",
  );
  const { code, out, err } = await weir("ccr", "config.sqlite", "--json");
  database.close();
  const { config, changed, none } = JSON.parse(out) as Report;
  expect([code, err, config.includes("ccr-secret-key-1")]).toEqual([0, "", false]);
  expect(Bun.YAML.parse(config)).toMatchObject({
    keys: [{ name: "ccr-laptop", rpm: 60 }],
    aliases: {
      "Kimi,kimi-k2": "moonshot/kimi-k2",
      "zai,glm-4.6": "zai/glm-4.6",
      "claude-*": "zai/glm-4.6",
      "ccr-fallback-1": "moonshot/kimi-k2",
    },
    fallbacks: { "*": ["ccr-fallback-1"] },
    providers: { zai: { speaks: "messages", baseUrl: "https://api.z.ai/api/anthropic" } },
  });
  expect([...changed, ...none].map(({ path }) => path)).not.toContain("Providers[1].capabilities[0].baseUrl");
  const { err: older } = await weir("ccr", "twice.json");
  rmSync(file);
  expect(older).toContain(
    "twice.json is that of an earlier version: the settings are in config.sqlite beside it.",
  );
});

test("included files are imported, too, and what would keep weir from starting is left out and told", async () => {
  writeFileSync(
    pathOf("main.yaml"),
    `include: [more.yaml, gone.yaml]
model_list:
  - model_name: nameless
    litellm_params: { model: azure/, api_key: os.environ/K }
  - model_name: half-price
    litellm_params: { model: openai/gpt-5, api_key: os.environ/K, input_cost_per_token: 0.000001 }
  - model_name: gold
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/K, input_cost_per_token: 5, output_cost_per_token: 7 }
  - model_name: nowhere
    litellm_params: { model: openai/x, api_key: os.environ/K, api_base: "not a url" }
  - model_name: literal
    litellm_params: { model: openai/x, api_key: os.environ/K, api_base: "https://host.example/\${ACCOUNT}/v1" }
`,
  );
  writeFileSync(
    pathOf("more.yaml"),
    "model_list:\n  - model_name: more\n    litellm_params: { model: anthropic/claude-opus-5-5, api_key: os.environ/A }\n",
  );
  const { code, out } = await weir("litellm", "main.yaml", "--json");
  const { config, none, taken, remarks, faults } = JSON.parse(out) as Report;
  expect([code, faults]).toEqual([0, []]);
  expect(Bun.YAML.parse(config)).toMatchObject({
    aliases: { more: "anthropic/claude-opus-5-5", "half-price": "openai/gpt-5", gold: "openai/gpt-4o" },
  });
  expect(config).not.toMatch(/^  (nameless|nowhere):|^prices:/m);
  expect(taken).toContainEqual(
    expect.objectContaining({ path: "model_list[5].model_name", at: "more.yaml:2" }),
  );
  const paths = none.map(({ path }) => path);
  for (const lost of ["include[1]", "model_list[0].model_name", "model_list[3].litellm_params.api_base"])
    expect(paths).toContain(lost);
  expect(remarks.join()).toContain("providers.host, aliases.nowhere left out: baseUrl is not a URL");
});

test("--json prints the config and each leaf with its fate", async () => {
  const { out } = await weir("litellm", "config.yaml", "--json");
  const report = JSON.parse(out) as Report;
  expect(report.config).toContain("providers:");
  expect(report.none).toEqual([
    expect.objectContaining({
      fate: "none",
      path: "litellm_settings.callbacks[0]",
      at: "config.yaml:9",
      value: '"langfuse"',
    }),
  ]);
  expect(report.variables).toEqual([
    {
      name: "ANTHROPIC_API_KEY",
      kind: "secret",
      at: "config.yaml:5",
      path: "model_list[0].litellm_params.api_key",
    },
    { name: "OPENAI_API_KEY", kind: "secret" },
  ]);
  expect([report.taken.length, report.faults]).toEqual([6, []]);
});

test("a broken file, and one that is no config of the source, is one sentence with the position", async () => {
  const rows: [args: string[], code: number, says: string | RegExp][] = [
    [["litellm", "broken.yaml"], 78, /^weir: broken\.yaml:3: not valid YAML \(.+\)\.\n$/],
    [["ccr", "broken.json"], 78, /^weir: broken\.json:[456]: not valid JSON \(.+\)\.\n$/],
    [
      ["litellm", "other.yaml"],
      1,
      /^weir: other\.yaml:1: this is no config of LiteLLM: it has none of model_list, .+\.\n$/,
    ],
    [
      ["bifrost", "plain.json"],
      1,
      "weir: plain.json:1: this is no config of Bifrost: it has neither providers nor governance.\n",
    ],
    [["portkey", "other.yaml"], 1, /^weir: other\.yaml:1: this is no config of Portkey: .+\.\n$/],
    [
      ["ccr", "plain.json"],
      1,
      "weir: plain.json:1: this is no config of claude-code-router: it has no Providers.\n",
    ],
    [["portkey", "empty.json"], 78, "weir: empty.json:1: the file is empty.\n"],
    [["portkey", "absent.json"], 78, /^weir: absent\.json: the config file cannot be read \(.+\)\.\n$/],
    [
      ["oneapi", "plain.json"],
      2,
      'weir: weir imports the configs of litellm, bifrost, ccr, portkey, not of "oneapi"',
    ],
    [
      ["ccr", "plain.json", "--keys", "plain.json"],
      2,
      "weir: --keys is for LiteLLM, whose keys are in its database",
    ],
    [["litellm", "config.yaml", "--out", "no/such/weir.yaml"], 1, "weir: the folder no/such does not exist"],
  ];
  for (const [args, code, says] of rows) {
    const ran = await weir(...args);
    expect([args, ran.code, ran.out]).toEqual([args, code, ""]);
    if (typeof says === "string") expect(ran.err).toStartWith(says);
    else expect(ran.err).toMatch(says);
  }
});
