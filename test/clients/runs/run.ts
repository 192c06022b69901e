/**
 * Real agents do a job of ten tool calls under `weir record`, at three published servers of tools, and once more under `weir
 * replay`, where there is no network but a loopback interface, no provider and no program of a server.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheFolder, installPackages, NODE, nodeIn } from "../../conformance/mcp/install.ts";
import { PROGRAM } from "../../helpers/command.ts";
import { markdownTable } from "../../helpers/documents.ts";
import { freePort } from "../../helpers/serving.ts";
import { type Agent, AGENTS, installAgents } from "../mcp/agent-clients.ts";
import { startAgentProvider, type Step, stepsOf, TASK } from "../mcp/agent-job.ts";
import { writeFiles } from "../programs.ts";

const VERSION = "2026.8.31";
const NAMES = ["everything", "filesystem", "memory"] as const;
/** What an agent may take for its job, in milliseconds. */
const PATIENCE_MS = 240_000;
const ISOLATED = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "20" },
    only: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});
const [python = "python3"] = positionals;
const count = Number(options.runs);

type Runner = Pick<Agent, "name" | "version" | "model" | "run">;

const script = (name: string) => join(import.meta.dir, name);
const inPython = (name: string, version: string, file: string): Runner => ({
  ...{ name, version, model: "openai/gpt-5.5" },
  run: (url, task) => ({ command: [python, script(file), task, "openai/gpt-5.5", url] }),
});
/** Where the words of a command name the model. */
const MODEL_AT: Readonly<Record<string, number>> = { claude: 1, codex: 2 };
const RUNNERS: readonly Runner[] = [
  ...AGENTS.filter(({ name }) => name !== "Gemini CLI").map((agent) => ({
    ...agent,
    // `weir record` does not choose the model of a client.
    run: (url: string, task: string) => {
      const { command, ...rest } = agent.run(url, task);
      return { ...rest, command: command.toSpliced(MODEL_AT[command[0]!]!, 0, "--model", agent.model) };
    },
  })),
  inPython("openai-agents", "0.24.0", "agents_client.py"),
  inPython("pydantic-ai", "2.31.1", "pydantic_client.py"),
];

console.error("installs the servers and the clients");
const place = cacheFolder(`mcp servers ${VERSION}`);
await installPackages(place, [
  NODE,
  ...NAMES.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
]);
const path = await installAgents();

interface Ran {
  readonly code: number | string;
  /** Standard output. */
  readonly said: string;
  readonly err: string;
}

/** A home that is the same in both runs: agents tell models where they are. */
interface Place {
  readonly home: string;
  readonly port: number;
  readonly agent: Runner;
}

/** Runs weir with the agent, in an empty home. */
async function weir(
  { home, port, agent }: Place,
  { words, config, before = [] }: { words: readonly string[]; config: object; before?: readonly string[] },
): Promise<Ran> {
  const inside = join(home, "home");
  await rm(inside, { recursive: true, force: true });
  await mkdir(join(inside, "work"), { recursive: true });
  await mkdir(join(inside, "run"), { mode: 0o700 });
  const { command, files = {} } = agent.run(`http://127.0.0.1:${port}/mcp`, TASK);
  await writeFiles(inside, files);
  await Bun.write(join(home, "weir.yaml"), JSON.stringify(config));
  const weirWords = [...words, "--config", join(home, "weir.yaml"), "--port", String(port)];
  const child = Bun.spawn([...before, ...PROGRAM, ...weirWords, "--", ...command], {
    cwd: join(inside, "work"),
    env: {
      ...{ PATH: path, HOME: inside, TERM: "dumb", XDG_RUNTIME_DIR: join(inside, "run") },
      ...{ DISABLE_AUTOUPDATER: "1", NO_PROXY: "127.0.0.1,localhost", PYTHONUNBUFFERED: "1" },
      ...{ HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" },
    },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: PATIENCE_MS, killSignal: "SIGKILL" },
  });
  const [code, said, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: child.signalCode ?? code, said: said.trim(), err };
}

const allow = ["*"];

function configWith(url: string, files: string, program: (name: (typeof NAMES)[number]) => string[]): object {
  return {
    state: "none",
    providers: {
      anthropic: { baseUrl: url, apiKey: "key-of-the-model" },
      openai: { baseUrl: `${url}/v1`, apiKey: "key-of-the-model", speaks: "responses" },
    },
    tools: {
      pin: "off",
      servers: {
        everything: { command: program("everything"), allow },
        filesystem: { command: [...program("filesystem"), files], allow },
        memory: { command: program("memory"), env: { MEMORY_FILE_PATH: "{folder}/memory.jsonl" }, allow },
      },
    },
  };
}

const programOf = (name: string) => [
  nodeIn(place),
  join(place, "node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js"),
];

/** Records and replays one job. @returns what is wrong; undefined: nothing */
async function once(agent: Runner): Promise<string | undefined> {
  const home = await mkdtemp(join(tmpdir(), "weir-run-"));
  const files = join(home, "files");
  await mkdir(files);
  const mark = `mark-${crypto.randomUUID().slice(0, 8)}`;
  const steps: readonly Step[] = stepsOf(mark, files);
  const done = `All ten calls are done for ${mark}.`;
  const provider = startAgentProvider(steps, done);
  const port = freePort();
  const tape = join(home, "job.tape");
  const at = { home, port, agent };
  try {
    const recorded = await weir(at, {
      words: ["record", tape],
      config: configWith(provider.url, files, programOf),
    });
    const faults = provider.faults.join("; ");
    if (recorded.code !== 0 || !recorded.said.includes(done))
      return `recording ended with ${recorded.code}: ${recorded.said.slice(-500)} ${recorded.err.slice(-1500)} ${faults}`;
    if (provider.results() !== steps.length) return `${provider.results()} results: ${faults}`;
    provider.stop();
    await rm(files, { recursive: true });
    const replayed = await weir(at, {
      words: ["replay", tape],
      config: configWith("http://127.0.0.1:9", files, () => [join(home, "no-such-program")]),
      before: ISOLATED,
    });
    if (replayed.code !== 0 || replayed.said !== recorded.said)
      return `replay ended with ${replayed.code}: ${replayed.said.slice(-500)} ${replayed.err.slice(-3000)}`;
    if (options.verbose) console.error(recorded.err.slice(-200), replayed.err.slice(-300));
    return existsSync(files) ? "a tool ran in the replay" : undefined;
  } finally {
    provider.stop();
    await rm(home, { recursive: true, force: true });
  }
}

const rows: string[][] = [];
let failed = 0;
for (const agent of RUNNERS.filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()))) {
  let held = 0;
  const startedAt = performance.now();
  for (let run = 0; run < count; run++) {
    const fault = await once(agent);
    if (fault === undefined) held++;
    else console.error(`${agent.name} ${run + 1}: ${fault}`);
  }
  failed += count - held;
  const seconds = (performance.now() - startedAt) / 1000 / count;
  console.error(`${agent.name}: ${held} of ${count}`);
  rows.push([agent.name, agent.version, `${held} of ${count}`, seconds.toFixed(1)]);
}
console.log(markdownTable(["agent", "version", "same last message offline", "seconds for both"], rows));
process.exitCode = failed > 0 ? 1 : 0;
