/**
 * Real clients do a job of ten tool calls through `weir exec` and `/mcp`, at three published servers: two are programs, one is
 * reached by HTTP. Each client speaks its own format to the model.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheFolder, installPackages, NODE, nodeIn } from "../../conformance/mcp/install.ts";
import { listening } from "../../conformance/mcp/references.ts";
import { PROGRAM } from "../../helpers/command.ts";
import { markdownTable, ROOT, withPart } from "../../helpers/documents.ts";
import { startGateway, TARGET } from "../../helpers/gateway.ts";
import { freePort } from "../../helpers/serving.ts";
import { type Ran, runProgram, writeFiles } from "../programs.ts";
import { type Agent, AGENTS, installAgents } from "./agent-clients.ts";
import { DONE, startAgentProvider, stepsOf, TASK } from "./agent-job.ts";
import { startListener } from "./listener.ts";

const README = "test/clients/README.md";
const VERSION = "2026.8.31";
const NAMES = ["everything", "filesystem", "memory"] as const;
const KEY = "key-of-the-agent-0123456789";
/** What a client may take for its job, in milliseconds. */
const PATIENCE_MS = 120_000;

const { values: options } = parseArgs({
  options: { only: { type: "string", default: "" }, verbose: { type: "boolean", default: false } },
});

console.error("installs the servers and the clients");
const place = cacheFolder(`mcp servers ${VERSION}`);
await installPackages(place, [
  NODE,
  ...NAMES.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
]);
const path = await installAgents();

const rows: string[][] = [];
let failed = 0;
const everything = await serveEverything();
try {
  for (const agent of AGENTS.filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()))) {
    const { row, isDone } = await work(agent);
    console.error(row.join(" | "));
    rows.push(row);
    if (!isDone) failed++;
  }
} finally {
  everything.stop();
}
const table = markdownTable(
  ["client", "version", "calls done", "calls in the books", "speaks to `/mcp`", "ends with", "seconds"],
  rows,
);
console.log(table);
if (rows.length === AGENTS.length) await Bun.write(join(ROOT, README), withPart(README, "mcp-agents", table));
process.exitCode = failed > 0 ? 1 : 0;

function commandOf(name: (typeof NAMES)[number]): string[] {
  return [
    nodeIn(place),
    join(place, "node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js"),
  ];
}

/** The server that speaks HTTP by itself. */
async function serveEverything(): Promise<{ url: string; stop(): void }> {
  const port = freePort();
  const child = Bun.spawn([...commandOf("everything"), "streamableHttp"], {
    env: { PORT: String(port) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await listening(url);
  return { url, stop: () => child.kill() };
}

/** Lets one client do the job, with a gateway, an empty home and a model of its own. */
async function work(agent: Agent): Promise<{ row: string[]; isDone: boolean }> {
  const home = await mkdtemp(join(tmpdir(), "weir-mcp-agent-"));
  const files = join(home, "files");
  await mkdir(files);
  const mark = `mark-${crypto.randomUUID().slice(0, 8)}`;
  const steps = stepsOf(mark, files);
  await using ends = new AsyncDisposableStack();
  ends.defer(() => rm(home, { recursive: true, force: true }));
  const provider = startAgentProvider(steps);
  ends.defer(() => provider.stop());
  const gateway = await startGateway({
    config: { providers: providersAt(provider.url), tools: { servers: serversFor(files) } },
    env: { WEIR_API_KEYS: `agent:${KEY}` },
    target: TARGET === "source" ? "process" : TARGET,
  });
  ends.defer(() => gateway.stop());
  const listener = startListener(gateway.url);
  ends.defer(() => listener.stop());
  const ran = await runAgent(agent, listener.url, home);
  const booked = gateway.log.filter((line) => /"provider":"mcp".*"status":200/.test(line)).length;
  const file = join(files, `${mark}.txt`);
  const isDone =
    ran.code === 0 &&
    ran.said.includes(DONE) &&
    existsSync(file) &&
    readFileSync(file, "utf8") === `second ${mark}\n` &&
    [provider.results(), booked].every((count) => count === steps.length);
  if (options.verbose || !isDone)
    console.error(ran.said.slice(-3_000), provider.faults, listener.seen, gateway.log.slice(-30));
  const row = [
    agent.name,
    agent.version,
    `${provider.results()} of ${steps.length}`,
    `${booked}`,
    listener.revisions().join(", ") || "nothing",
    isDone ? "done" : `${ran.code} (!)`,
    ran.seconds.toFixed(1),
  ];
  return { row, isDone };
}

/** @param url of the gateway */
async function runAgent(agent: Agent, url: string, home: string): Promise<Ran> {
  const folder = join(home, "work");
  const { command, files = {} } = agent.run(`${url}/mcp`, TASK);
  await mkdir(folder);
  await writeFiles(home, files);
  return runProgram(
    {
      command: [...PROGRAM, "exec", "--url", url, "--model", agent.model, "--", ...command],
      env: { PATH: path, WEIR_API_KEY: KEY, XDG_RUNTIME_DIR: join(home, "run"), DISABLE_AUTOUPDATER: "1" },
    },
    { home, cwd: folder, patience: PATIENCE_MS },
  );
}

function providersAt(url: string): object {
  return {
    anthropic: { baseUrl: url, apiKey: "key-of-the-model" },
    openai: { baseUrl: `${url}/v1`, apiKey: "key-of-the-model", speaks: "responses" },
    gemini: { baseUrl: url, apiKey: "key-of-the-model" },
  };
}

function serversFor(files: string): object {
  const allow = ["*"];
  return {
    everything: { url: everything.url, allow },
    filesystem: { command: [...commandOf("filesystem"), files], allow },
    memory: { command: commandOf("memory"), env: { MEMORY_FILE_PATH: "{folder}/memory.jsonl" }, allow },
  };
}
