/**
 * Lets real clients do a job of four turns over `/v1/responses`, at a provider of each format, and prints how they fared.
 * The README beside the folder says how to run it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { markdownTable } from "../../helpers/documents.ts";
import { startGateway, UPSTREAM_KEYS } from "../../helpers/gateway.ts";
import { json, startUpstream } from "../../helpers/upstream.ts";
import { install, type Installer, runProgram, versionOf, writeFiles } from "../programs.ts";
import { ALSO, CLIENTS, type JobClient } from "./clients.ts";
import { startJudge } from "./judge.ts";
import { DONE, FILES, jobProvider } from "./provider.ts";

/** What a client may take for the job. Milliseconds. */
const PATIENCE_MS = 120_000;

/** The name that the clients ask for; some choose their tools by it. */
const MODEL = "gpt-5.5";

/** opencode asks it for a title of the conversation. */
const SMALL_MODEL = "gpt-5.4-nano";

interface Target {
  /** Format of the provider. */
  format: string;
  provider: Record<string, unknown>;
  /** What the model's name stands for. */
  alias: string;
}

const upstream = startUpstream(json({}));

const TARGETS: readonly Target[] = [
  {
    format: "responses",
    provider: { openai: { baseUrl: `${upstream.url}/v1`, apiKey: UPSTREAM_KEYS.openai } },
    alias: `openai/${MODEL}`,
  },
  {
    format: "chat-completions",
    provider: { host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: [MODEL] } },
    alias: `host/${MODEL}`,
  },
  {
    format: "messages",
    provider: { anthropic: { baseUrl: upstream.url, apiKey: UPSTREAM_KEYS.anthropic } },
    alias: "anthropic/claude-opus-4-6",
  },
];

const { values: options } = parseArgs({
  options: {
    folder: { type: "string" },
    only: { type: "string" },
    format: { type: "string" },
    direct: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const place = options.folder ?? (await mkdtemp(join(tmpdir(), "weir-job-")));

try {
  const asked = CLIENTS.filter(({ name }) => name.toLowerCase().includes((options.only ?? "").toLowerCase()));
  const rows: string[][] = [];
  for (const client of asked) {
    const version = await installClient(client);
    for (const target of TARGETS) {
      const format = options.direct ? "responses" : options.format;
      if (format && format !== target.format) continue;
      const row = [client.name, version, target.format, ...(await run(client, target))];
      console.error(row.join(" | "));
      rows.push(row);
    }
  }
  console.log(
    markdownTable(
      ["client", "version", "provider", "turns", "reasoning", "ends with", "seconds", "faults"],
      rows,
    ),
  );
} finally {
  upstream.stop();
  if (!options.folder) await rm(place, { recursive: true, force: true });
}

async function installClient(client: JobClient): Promise<string> {
  const { installer } = client;
  const packages = CLIENTS.filter((other) => other.installer === installer).map((other) => other.package);
  await install(installer, folderOf(installer), [...new Set([...ALSO[installer], ...packages])]);
  return versionOf(installer, folderOf(installer), client.package);
}

function folderOf(installer: Installer): string {
  return join(place, installer);
}

/** Runs a client once. @returns turns, turns whose reasoning came back, how it ended, seconds, faults */
async function run(client: JobClient, target: Target): Promise<string[]> {
  const home = await mkdtemp(join(tmpdir(), "weir-job-home-"));
  const folder = join(home, "work");
  await writeFiles(folder, FILES);
  const provider = jobProvider(target.format, folder);
  const paths = new Set<string>();
  upstream.answer(({ path, body }) => {
    paths.add(path);
    const parsed = parseJson(body.toString("utf8"));
    return isObject(parsed) ? provider.answer(parsed) : json({}, 404);
  });
  const gateway = await startGateway({
    target: "source",
    config: {
      providers: target.provider,
      aliases: { [MODEL]: target.alias, [SMALL_MODEL]: target.alias },
      retries: { attempts: 1 },
    },
  });
  const judge = startJudge(options.direct ? upstream.url : gateway.url);
  const { files = {}, ...program } = client.run({
    installed: folderOf(client.installer),
    ...{ folder, url: judge.url, model: MODEL },
  });
  await writeFiles(home, files);
  const ran = await runProgram(program, { home, cwd: folder, patience: PATIENCE_MS });
  const faults = [...provider.report.faults, ...(await judge.stop())];
  await gateway.stop();
  await rm(home, { recursive: true, force: true });
  const isDone = ran.said.includes(DONE);
  if (options.verbose)
    console.error(`--- ${client.name}, ${target.format} (${[...paths].join(", ")})\n${ran.said.trim()}\n---`);
  return [
    `${provider.report.turns} of 4`,
    `${provider.report.reasoning} of 3`,
    ran.code === 0 && isDone ? "done" : `${ran.code}, ${isDone ? "done" : "not done"} (!)`,
    ran.seconds.toFixed(1),
    [...new Set(faults)].join("; ") || "none",
  ];
}
