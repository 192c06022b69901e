/**
 * Lets Claude Code and Codex do the job once at a fake provider and records it, then once more from the tape alone, and then
 * with another prompt, which the tape must refuse. Prints what came of it. FOLDER holds the installed clients.
 *
 *     npx -y bun@1.4.5 test/clients/job/tape.ts FOLDER
 */
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TapeStage } from "../../helpers/tape.ts";
import { markdownTable } from "../../helpers/documents.ts";
import { runProgram, writeFiles } from "../programs.ts";
import { CLIENTS, type JobClient } from "./clients.ts";
import { DONE, FILES, jobProvider, TASK } from "./provider.ts";
import { MODEL, TARGETS } from "./targets.ts";

/** What a client may take for the job. Milliseconds. */
const PATIENCE_MS = 120_000;

const installed = resolve(process.argv[2] ?? ".");

const rows: string[][] = [];
for (const client of CLIENTS.filter(({ name }) => name === "Claude Code" || name === "Codex"))
  for (const start of TARGETS.slice(0, 3)) {
    const target = start();
    const stage = await TapeStage.make();
    const home = join(stage.folder, "home");
    const folder = join(home, "work");
    const provider = jobProvider(target.format, folder);
    target.play(provider);
    const config = {
      ...target.config,
      aliases: Object.fromEntries([MODEL, "gpt-5.4-nano", "claude-*"].map((name) => [name, target.alias])),
      retries: { attempts: 1 },
    };
    const job = (url: string, task = TASK) => doJob(client, { home, folder, url, task });
    const recorded = await stage.record((url) => job(url), { config, env: target.env });
    target.stop();
    const { length } = stage.entries;
    const replayed = await stage.replay(async (url, replaying) => {
      const outcome = await job(url);
      return `${outcome}, ${replaying.misses.length} missed, ${replaying.unused()} of ${length} unused${replaying.misses[0] ? `\n${replaying.misses[0]}` : ""}`;
    });
    const changed = await stage.replay(async (url, { misses }) => {
      await job(url, TASK.replace("Run the test", "Then run it"));
      return misses.find((text) => text.includes("Then run it")) ?? misses[0] ?? "no miss (!)";
    });
    if (process.env["VERBOSE"]) console.error(changed);
    rows.push([
      client.name,
      target.name,
      `${recorded}, ${provider.report.turns} of 4 turns`,
      replayed,
      changed.includes("Then run it") ? "refused with a diff" : changed.slice(0, 100),
    ]);
    console.error(rows.at(-1)!.join(" | "));
    await stage.remove();
  }
console.log(markdownTable(["client", "provider", "recorded", "replayed", "another prompt"], rows));

async function doJob(
  client: JobClient,
  { home, folder, url, task }: { home: string; folder: string; url: string; task: string },
): Promise<string> {
  await rm(home, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFiles(folder, FILES);
  const { files = {}, ...program } = client.run({ installed, folder, url, model: client.model ?? MODEL });
  await writeFiles(home, files);
  const command = program.command.map((word) => (word === TASK ? task : word));
  const ran = await runProgram({ ...program, command }, { home, cwd: folder, patience: PATIENCE_MS });
  return ran.code === 0 && ran.said.includes(DONE) ? "done" : `${ran.code}: ${ran.said.slice(-300)}`;
}
