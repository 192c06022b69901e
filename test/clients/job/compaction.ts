/**
 * Lets Codex, with a provider named OpenAI, compact a conversation through weir and go on: compaction.ts FOLDER, where
 * run.ts has installed the clients. Such a Codex demands exactly one `compaction` item, or gives up.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../helpers/gateway.ts";
import { runProgram, writeFiles } from "../programs.ts";
import { CODEX_OPTIONS, codexProgram } from "./clients.ts";
import { startJudge } from "./judge.ts";

const PATIENCE_MS = 60_000;
const model = "gpt-5.5";

const gateway = await startGateway({ target: "source", config: { aliases: { [model]: "mock/chat" } } });
const judge = startJudge(gateway.url);
const home = await mkdtemp(join(tmpdir(), "weir-compaction-"));
const folder = join(home, "work");
const place = { installed: join(process.argv[2] ?? "", "npm"), folder, url: judge.url, model };
const codes: (number | string)[] = [];
for (const words of [["Say hello."], ["resume", "--last", "Say it again."]]) {
  const asked = ["exec", ...CODEX_OPTIONS, ...words];
  const { files = {}, ...program } = codexProgram(place, "OpenAI", asked, [
    "model_auto_compact_token_limit = 200",
  ]);
  await writeFiles(home, files);
  await writeFiles(folder, { "a.txt": "a" });
  codes.push((await runProgram(program, { home, cwd: folder, patience: PATIENCE_MS })).code);
}
const faults = await judge.stop();
await gateway.stop();
await rm(home, { recursive: true, force: true });
const [, trigger, next] = judge.asked;
const isRight =
  codes.every((code) => code === 0) &&
  faults.length === 0 &&
  trigger?.endsWith("compaction_trigger") === true &&
  next?.includes("compaction message") === true;
console.log({ codes, faults, asked: judge.asked });
console.log(
  isRight ? "Codex compacted the conversation and went on." : "Codex did not compact, or not rightly.",
);
process.exit(isRight ? 0 : 1);
