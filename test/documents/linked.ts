/**
 * What the blocks of the documents need that README.md links, directly or by way of another document: files, settings and
 * stand-ins. A block that cannot run in a test stands in `CHECKED`, with the reason.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMANDS } from "../helpers/commands.ts";
import { parse } from "../../src/cli/parse.ts";
import { type Block, DOCUMENTS, proseOf, readDocument, ROOT } from "../helpers/documents.ts";
import type { Newcomer } from "./newcomer.ts";

/** Where the stand-ins of a test listen. Base URLs without a path. */
export interface StandIns {
  /** weir itself, whose mock answers the models that the documents name, in any format. */
  vendor: string;
  /** LiteLLM, as far as it lists its keys. */
  litellm: string;
}

export interface Scene {
  /** What the reader has before the first block: files, variables, answers of hosts. */
  prepare?(newcomer: Newcomer, standIns: StandIns): void;
  /** A text of each `yaml` block of the document from which the reader's weir.yaml is made. */
  config?: readonly string[];
  /** Texts of the blocks, and what stands for them here. */
  replace?(standIns: StandIns): Record<string, string>;
  /** A text of a block, and what the terminal shows after it. */
  shows?: readonly (readonly [holding: string, shown: RegExp])[];
}

const KEY = "sk-something-long-0123456789";

const fixture = (path: string) => readFileSync(join(ROOT, "src/features/import/test/fixtures", path), "utf8");

/** The program's file is empty: the newcomer's python and node are stand-ins. */
const askFiles = (newcomer: Newcomer) => {
  for (const name of ["ask.py", "ask.js"]) newcomer.write(name, "");
};

/** A document that is not listed here needs nothing. */
export const SCENES: Readonly<Record<string, Scene>> = {
  "src/cli/README.md": {
    prepare(newcomer, { vendor }) {
      askFiles(newcomer);
      for (const name of ["OPENAI", "OLLAMA"]) newcomer.set(`${name}_BASE_URL`, `${vendor}/v1`);
      newcomer.set("ANTHROPIC_BASE_URL", vendor);
      for (const name of ["OPENAI", "ANTHROPIC"]) newcomer.set(`${name}_API_KEY`, KEY);
      // The image, as far as its gateway takes the variables that docker passes on and would listen for others.
      newcomer.program("docker", [
        `[ "$1 $2 $4 $5" = "run -p -e WEIR_API_KEYS" ] || exit 1`,
        `exec env -i HOME="$HOME" PATH="$PATH" WEIR_API_KEYS="$WEIR_API_KEYS" WEIR_HOST=0.0.0.0 weir check --offline`,
      ]);
      newcomer.installSdks();
      newcomer.write(
        "hello.test.ts",
        `import { expect, test } from "bun:test"; import OpenAI from "openai";
         test("it answers", async () => {
           const answer = await new OpenAI().responses.create({ model: "mock/echo", input: "Say hello" });
           expect(answer.output_text).toContain("hello");
         });`,
      );
    },
    shows: [
      ["weir keys create alice", /^The books hold\.$/m],
      ["weir replay", /1 pass[^]*1 pass/],
      ["weir drill", /20 faults: /],
      ["docker run", /^app:[0-9a-f]{48}$/m],
      ["weir explain", /"path": "temperature"/],
    ],
  },
  "src/config/README.md": {
    config: ['"claude-*"', "gemini-*"],
    prepare(newcomer, { vendor }) {
      newcomer.set("ANTHROPIC_API_KEY", KEY);
      newcomer.set("ANTHROPIC_BASE_URL", vendor);
      newcomer.set("OLLAMA_BASE_URL", `${vendor}/v1`);
      newcomer.write("chat.py", "");
    },
  },
  "src/features/drill/README.md": {
    prepare: askFiles,
    shows: [
      ["--only cut,stall", /20 faults: [^]*2 faults: /],
      ["--junit", /20 faults: /],
    ],
  },
  "src/features/exec/README.md": {
    prepare(newcomer, { vendor }) {
      for (const name of ["OPENAI", "OLLAMA"]) newcomer.set(`${name}_BASE_URL`, `${vendor}/v1`);
      newcomer.set("ANTHROPIC_BASE_URL", vendor);
      for (const name of ["OPENAI", "ANTHROPIC"]) newcomer.set(`${name}_API_KEY`, KEY);
    },
    shows: [["weir exec -- claude", /Explain this folder/]],
  },
  "src/gateway/README.md": { config: ["127.0.0.1:1/v1"] },
  "src/features/import/README.md": {
    prepare(newcomer) {
      newcomer.write("config.yaml", fixture("litellm/with-keys.yaml"));
      newcomer.write("config.json", fixture("bifrost/one-provider.json"));
      newcomer.write("portkey.json", fixture("portkey/single.json"));
      newcomer.set("LITELLM_MASTER_KEY", "sk-litellm-0123456789");
      const folder = join(newcomer.home, ".claude-code-router");
      mkdirSync(folder);
      const database = new Database(join(folder, "config.sqlite"));
      database.run("CREATE TABLE app_config (key TEXT PRIMARY KEY, value_json TEXT, updated_at TEXT)");
      database.run(
        "CREATE TABLE api_keys (name TEXT, encrypted_key TEXT, encryption TEXT, expires_at TEXT, limits_json TEXT)",
      );
      database.run("INSERT INTO app_config VALUES ('default', ?, '')", [fixture("ccr/one-host.json")]);
      database.close();
    },
    replace: ({ litellm }) => ({ "http://localhost:4000": litellm }),
    shows: [["--keys", /sha256|keys/]],
  },
  "src/features/probe/README.md": {
    prepare(newcomer, { vendor }) {
      newcomer.set("ACME_KEY", KEY);
      newcomer.set("GROQ_API_KEY", KEY);
      newcomer.set("GROQ_BASE_URL", `${vendor}/v1`);
    },
    replace: ({ vendor }) => ({ "https://api.acme.example": vendor }),
    shows: [["weir probe", /llama-3\.3-70b-versatile/]],
  },
  "src/features/rehearse/README.md": {
    config: ["state: ./state"],
    shows: [
      [
        "weir rehearse",
        /3 calls: 0 the same, 3 changed[^]*target +3 +--explain 1 +mock\/mock\/echo -> mock\/mock\/chat/,
      ],
    ],
  },
  "src/features/tools/README.md": {
    prepare: (newcomer) => newcomer.set("GITHUB_TOKEN", "ghp_0123456789"),
    config: ["github:", "cost: true"],
    shows: [
      ["weir tools pins", /github +unknown +0 .*\nnothing of github waits/s],
      ["weir tools diet", /never used in 1 call since .*\n +send_mail +1 +89 +\$0\.000267\n/s],
    ],
  },
  "test/clients/README.md": { shows: [["weir drill", /20 faults: /]] },
};

export interface Checked {
  document: string;
  language: string;
  /** A text of the block; absent: all blocks of the language. */
  holding?: string;
  /** Why the block does not run here. */
  why: string;
}

const OF_THE_CLONE = "works on the clone of weir for minutes, and is no command for users";

/** Blocks that do not run. What can be checked of them is: see `checkBlock`. */
export const CHECKED: readonly Checked[] = [
  ...[
    [".github/CONTRIBUTING.md", "install --frozen-lockfile"],
    [".github/CONTRIBUTING.md", "run check"],
    [".github/CONTRIBUTING.md", "run test"],
    [".github/CONTRIBUTING.md", "run nightly"],
    [".github/CONTRIBUTING.md", "run release --all"],
    ["src/cli/README.md", "run build"],
    ["test/bench/README.md", "run bench"],
    ["test/bench/README.md", "runtime/server.ts"],
    ["test/bench/README.md", "runtime/request.ts"],
    ["test/bench/README.md", "runtime/response.ts"],
    ["test/bench/README.md", "runtime/stream.ts"],
    ["test/bench/README.md", "runtime/tokens.ts"],
    ["test/clients/README.md", "judge/run.ts"],
    ["test/clients/README.md", "job/run.ts"],
    ["test/clients/README.md", "mcp/run.ts"],
    ["test/clients/README.md", "crash-run.ts"],
    ["test/conformance/README.md", "run conformance"],
    ["test/faults/README.md", "run faults"],
    ["test/faults/README.md", "run soak"],
    ["test/faults/README.md", "stored-chains.ts"],
  ].map(([document, holding]) => ({
    ...{ document: document!, language: "sh", holding: holding!, why: OF_THE_CLONE },
  })),
  ...[
    "clients/llama.sh",
    "clients/ollama.sh",
    "clients/batches.sh",
    "clients/conversations.sh",
    "clients/kinds.sh",
    "clients/realtime.sh",
    "clients/runs.sh",
    "openapi/run.sh",
  ].map((script) => ({
    document: script.startsWith("clients") ? "test/clients/README.md" : "test/openapi/README.md",
    ...{ language: "sh", holding: `test/${script}`, why: "installs programs of others from a registry" },
  })),
  {
    ...{ document: "src/cli/README.md", language: "sh", holding: "install.sh" },
    why: "needs a release; test/delivery/install.test.ts runs the script on one",
  },
  {
    ...{ document: "src/cli/README.md", language: "sh", holding: "weir upgrade" },
    why: "needs another version; test/cli/upgrade.slow.test.ts replaces gateways",
  },
  {
    ...{ document: "src/cli/README.md", language: "sh", holding: "docker buildx" },
    why: "needs docker; test/delivery/image.slow.test.ts makes the image",
  },
  {
    ...{ document: "src/cli/README.md", language: "", holding: "uses: OWNER/weir" },
    why: "is a step of GitHub Actions; test/delivery/action.test.ts runs the action",
  },
  {
    ...{ document: "src/cli/README.md", language: "ini" },
    why: "needs systemd; test/readme.test.ts has it verified",
  },
  ...["sh", "yml", "sql"].map((language) => ({
    ...{ document: ".github/deploy/kubernetes.md", language },
    why: "needs a cluster; test/deploy/kubernetes-page.slow.test.ts runs it with stand-ins, test/deploy/rolling.slow.test.ts the SQL",
  })),
  ...["sh", "ini"].map((language) => ({
    ...{ document: ".github/deploy/systemd.md", language },
    why: "needs systemd; test/readme.test.ts has the unit verified",
  })),
  {
    ...{ document: ".github/deploy/compose.md", language: "sh" },
    why: "needs docker; test/deploy/compose.test.ts makes the secrets and loads the config",
  },
  {
    ...{ document: ".github/deploy/proxies.md", language: "sh" },
    why: "needs root; test/deploy/proxies.slow.test.ts runs nginx and Caddy with the files",
  },
  ...["nginx", "caddy"].map((language) => ({
    ...{ document: ".github/deploy/proxies.md", language },
    why: "is a part of a file of the proxy; a test of identity signs in through nginx with it",
  })),
  {
    ...{ document: "src/cli/clients/README.md", language: "python" },
    why: "needs large packages; test/clients/tools.sh installs them and runs it",
  },
  ...["sh", "text"].map((language) => ({
    ...{ document: "src/features/runs/README.md", language },
    why: "needs an agent and a model that follow a script; a test of runs brings them, runs it and compares",
  })),
  {
    ...{ document: "src/config/README.md", language: "toml" },
    why: "is a file of Codex; the tests of weir exec run Codex itself",
  },
  ...[
    ["src/formats/README.md", "", "prompt_tokens"],
    ["src/features/traces/README.md", "", "POST /v1/messages"],
    ["src/features/alerts/README.md", "json", ""],
  ].map(([document, language, holding]) => ({
    ...{ document: document!, language: language!, holding: holding!, why: "is what weir sends or counts" },
  })),
];

/** The documents that one gets to from README.md by links, in the order in which they are met. */
export function linkedDocuments(): readonly string[] {
  const reached = new Set(["README.md"]);
  for (const path of reached)
    for (const [, target] of proseOf(path).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g)) {
      const file = join(dirname(path), target!);
      if (!/^https?:/.test(target!) && DOCUMENTS.includes(file)) reached.add(file);
    }
  return [...reached].filter((path) => path !== "README.md");
}

/** The row of a block that does not run. */
export function rowOf(document: string, { language, code }: Block): Checked | undefined {
  return CHECKED.find(
    (row) => row.document === document && row.language === language && code.includes(row.holding ?? ""),
  );
}

/** What can be known of a block without running it. @returns what is wrong with it */
export function checkBlock({ language, code }: Block, why: string): string[] {
  const wrong = [...why.matchAll(/\btest\/[\w./-]+\.(?:ts|sh)\b/g)]
    .filter(([file]) => !existsSync(join(ROOT, file)))
    .map(([file]) => `${file} is not there`);
  if (language === "toml") Bun.TOML.parse(code);
  else if (language === "json") JSON.parse(code);
  else if (language === "yml" || code.includes("uses: ")) Bun.YAML.parse(code);
  else if (language === "ini") wrong.push(...wrongCommands(code.replaceAll(/^Exec\w+=/gm, "")));
  else if (language === "python" && !code.includes("127.0.0.1:9347")) wrong.push("it does not ask weir");
  else if (language === "sh") wrong.push(...wrongCommands(code), ...wrongShell(code));
  return wrong;
}

/** Commands of weir that its command line does not take. */
function wrongCommands(code: string): string[] {
  return [...code.matchAll(/^(?:\S+\/)?weir (.*)$/gm)].flatMap(([line, words]) => {
    try {
      parse(words!.trim().split(/\s+/), COMMANDS);
      return [];
    } catch (cause) {
      return [`${line}: ${String(cause)}`];
    }
  });
}

/** Scripts, files and flags that a block names and that are not there, and what `sh` cannot read. */
function wrongShell(code: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const named = [...code.matchAll(/\brun ([a-z]+)/g)].map(([, name]) => name!);
  const files = [...code.matchAll(/(?:^|\s)((?:test|src|\.github)\/[\w./-]+)/gm)].map(([, file]) => file!);
  const install = code.includes("install.sh") ? readDocument(".github/install.sh") : undefined;
  const flags = install ? [...code.matchAll(/ (--[a-z]+)/g)].map(([, flag]) => flag!) : [];
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-n", "-c", code]);
  return [
    ...named.filter((name) => !Object.hasOwn(scripts, name)).map((name) => `there is no script ${name}`),
    ...files.filter((file) => !existsSync(join(ROOT, file))).map((file) => `${file} is not there`),
    ...flags.filter((flag) => !install!.includes(`  ${flag} `)).map((flag) => `install.sh has no ${flag}`),
    ...(exitCode === 0 ? [] : [stderr.toString()]),
  ];
}
