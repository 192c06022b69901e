/**
 * Lets Claude Code and Codex do the job once at a fake provider under `weir record`, and then under `weir replay` in a network
 * namespace that has only a loopback interface: the bytes of all answers must be the same. Then with another prompt, which the
 * tape must refuse. FOLDER holds the installed clients; `WEIR_TARGET=binary` runs the compiled binary.
 *
 *     npx -y bun@1.4.5 src/features/tape/test/job.ts FOLDER [CLIENT [PROVIDER]]
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readTape } from "../../../tapes/file.ts";
import { VERSION } from "../../../process/version.ts";
import { PROGRAM } from "../../../../test/helpers/command.ts";
import { markdownTable } from "../../../../test/helpers/documents.ts";
import { type Ran, runProgram, writeFiles } from "../../../../test/clients/programs.ts";
import { CLIENTS, type JobClient } from "../../../../test/clients/job/clients.ts";
import { DONE, FILES, jobProvider, TASK } from "../../../../test/clients/job/provider.ts";
import { type JobTarget, MODEL, TARGETS } from "../../../../test/clients/job/targets.ts";

/** What a client may take for the job. Milliseconds. */
const PATIENCE_MS = 120_000;
/** Where the client finds the witness, in its files too. */
const PORT = 19_347;
const ISOLATED = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];

const [installed = ".", only, format = ""] = process.argv.slice(2);
const wanted = only === undefined ? ["Claude Code", "Codex"] : [only];

interface Job extends Ran {
  /** What the witness has noted: path, status, length and digest of each answer. */
  answers: string[];
}

const rows: string[][] = [];
for (const client of CLIENTS.filter(({ name }) => wanted.includes(name)))
  for (const start of TARGETS.slice(0, 3)) {
    const stage = await mkdtemp(join(tmpdir(), "weir-job-tape-"));
    const target = start();
    if (!target.name.startsWith(format)) {
      target.stop();
      continue;
    }
    try {
      rows.push([client.name, target.name, ...(await compare(client, target, stage))]);
      console.error(rows.at(-1)!.join(" | "));
    } finally {
      target.stop();
      await rm(stage, { recursive: true, force: true });
    }
  }
console.log(
  markdownTable(["client", "provider", "recorded", "replayed without network", "another prompt"], rows),
);

async function compare(client: JobClient, target: JobTarget, stage: string): Promise<string[]> {
  const folder = join(stage, "home/work");
  const provider = jobProvider(target.format, folder);
  target.play(provider);
  const config = {
    ...target.config,
    aliases: Object.fromEntries([MODEL, "gpt-5.4-nano", "claude-*"].map((name) => [name, target.alias])),
    retries: { attempts: 1 },
  };
  await Bun.write(join(stage, "weir.yaml"), JSON.stringify(config));
  const recorded = await doJob(client, stage, ["record", "--config", join(stage, "weir.yaml")], {
    env: target.env,
  });
  const calls = readTape(join(stage, "job.tape"), VERSION).length;
  const replayed = await doJob(client, stage, ["replay"], { isIsolated: true });
  const same = Bun.deepEquals(recorded.answers, replayed.answers);
  const changed = await doJob(client, stage, ["replay"], {
    isIsolated: true,
    task: TASK.replace("Run the test", "Then run it"),
  });
  const diff = /^-.*Run the test\.?$[^]*^\+.*Then run it\.?$/m.exec(changed.said);
  return [
    `${outcome(recorded)}, ${provider.report.turns} of 4 turns, ${calls} calls`,
    `${outcome(replayed)}, ${same ? `${replayed.answers.length} answers with the same bytes` : "other bytes (!)"}`,
    diff && changed.code !== 0
      ? `exit code ${changed.code}, shown as a diff`
      : `(!) ${changed.said.slice(-300)}`,
  ];
}

async function doJob(
  client: JobClient,
  stage: string,
  weir: readonly string[],
  {
    env = {},
    isIsolated = false,
    task = TASK,
  }: { env?: Record<string, string>; isIsolated?: boolean; task?: string },
): Promise<Job> {
  const home = join(stage, "home");
  const folder = join(home, "work");
  await rm(home, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFiles(folder, FILES);
  const url = `http://127.0.0.1:${PORT}`;
  const { files = {}, ...program } = client.run({
    ...{ installed: resolve(installed), folder, url },
    model: client.model ?? MODEL,
  });
  await writeFiles(home, files);
  // weir takes the addresses of providers from variables that clients read too.
  const variables = Object.entries(program.env ?? {}).map(([name, value]) => `${name}=${value}`);
  const words = ["env", ...variables, ...program.command.map((word) => (word === TASK ? task : word))];
  const noted = join(stage, "answers.json");
  const witness = [process.execPath, join(import.meta.dir, "witness.ts"), String(PORT), noted];
  const [word = "", ...flags] = weir;
  const command = [...PROGRAM, word, join(stage, "job.tape"), ...flags, "--", ...witness, ...words];
  const ran = await runProgram(
    { command: isIsolated ? [...ISOLATED, ...command] : command, env },
    { home, cwd: folder, patience: PATIENCE_MS },
  );
  return { ...ran, answers: (await Bun.file(noted).json()) as string[] };
}

function outcome({ code, said }: Ran): string {
  return code === 0 && said.includes(DONE) ? "done" : `${code}: ${said.slice(-300)} (!)`;
}
