/**
 * Lets real clients do a job of four turns at a fake of each provider, and prints how they fared.
 * The README beside the folder says how to run it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { markdownTable } from "../../helpers/documents.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { install, type Installer, runProgram, versionOf, writeFiles } from "../programs.ts";
import { ALSO, CLIENTS, type JobClient } from "./clients.ts";
import { startJudge } from "./judge.ts";
import { DONE, FILES, jobProvider } from "./provider.ts";
import { type JobTarget, MODEL, TARGETS } from "./targets.ts";

/** What a client may take for the job. Milliseconds. */
const PATIENCE_MS = 120_000;

/** opencode asks it for a title of the conversation. */
const SMALL_MODEL = "gpt-5.4-nano";

/** Models that clients of one vendor ask for beside the one they are told. */
const VENDOR_MODELS = ["claude-*", "gemini-*"];

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
    for (const start of TARGETS) {
      const target = start();
      const wanted = options.direct ? (client.speaks ?? "responses") : options.format;
      if (!wanted || target.name.startsWith(wanted)) {
        const row = [client.name, version, target.name, ...(await run(client, target))];
        console.error(row.join(" | "));
        rows.push(row);
      }
      target.stop();
    }
  }
  console.log(
    markdownTable(
      ["client", "version", "provider", "turns", "reasoning", "ends with", "seconds", "faults"],
      rows,
    ),
  );
} finally {
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
async function run(client: JobClient, target: JobTarget): Promise<string[]> {
  const home = await mkdtemp(join(tmpdir(), "weir-job-home-"));
  const folder = join(home, "work");
  await writeFiles(folder, FILES);
  const provider = jobProvider(target.format, folder);
  const paths = new Set<string>();
  target.play({
    ...provider,
    answer(body, path) {
      paths.add(path);
      return provider.answer(body, path);
    },
  });
  const gateway = await startGateway({
    target: "source",
    config: {
      ...target.config,
      aliases: Object.fromEntries([MODEL, SMALL_MODEL, ...VENDOR_MODELS].map((name) => [name, target.alias])),
      retries: { attempts: 1 },
    },
    env: target.env,
  });
  const judge = startJudge(options.direct ? target.upstream.url : gateway.url);
  const { files = {}, ...program } = client.run({
    installed: folderOf(client.installer),
    ...{ folder, url: client.usesSockets ? gateway.url : judge.url, model: client.model ?? MODEL },
  });
  await writeFiles(home, files);
  const ran = await runProgram(program, { home, cwd: folder, patience: PATIENCE_MS });
  const faults = [...provider.report.faults, ...target.faults(), ...(await judge.stop())];
  await gateway.stop();
  await rm(home, { recursive: true, force: true });
  const isDone = ran.said.includes(DONE);
  if (options.verbose)
    console.error(`--- ${client.name}, ${target.name} (${[...paths].join(", ")})\n${ran.said.trim()}\n---`);
  return [
    `${provider.report.turns} of 4`,
    `${provider.report.reasoning} of 3`,
    ran.code === 0 && isDone ? "done" : `${ran.code}, ${isDone ? "done" : "not done"} (!)`,
    ran.seconds.toFixed(1),
    [...new Set(faults)].join("; ") || "none",
  ];
}
