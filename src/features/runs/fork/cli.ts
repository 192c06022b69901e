/** `weir fork RUN --at N --model MODEL`: a gateway that answers from a tape up to a call, and then goes on by itself. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Context, configOptions, UsageError } from "../../../cli/command.ts";
import { ANY_KEY, pointClient } from "../../../cli/clients/index.ts";
import { runClient } from "../../../cli/run-client.ts";
import { serveVariant } from "../../../cli/serve.ts";
import { readConfig } from "../../../config/load.ts";
import type { Config } from "../../../config/schema.ts";
import { VERSION } from "../../../process/version.ts";
import { readRun } from "../../../tapes/file.ts";
import { tapeFile } from "../../../tapes/kept.ts";
import { RULES, type Rule } from "../flags.ts";
import { keepRun, newRun, stateFolder } from "../home.ts";
import { forkPart, type ForkReport } from "./part.ts";

/** Exit code if the client succeeded although the tape lacked a request before the fork. */
const EXIT_MISSED = 1;

/** What the flags say. */
interface Wanted {
  readonly at: number;
  readonly model: string;
  readonly tools: Rule;
}

/** @throws UsageError */
function wantedOf({ flags }: Context): Wanted {
  const { "--at": at, "--model": model, "--tools": tools = "readonly" } = flags;
  if (typeof at !== "string" || !/^[1-9]\d*$/.test(at))
    throw new UsageError("weir fork requires --at N, the number of a call; weir runs RUN lists them");
  if (typeof model !== "string") throw new UsageError("weir fork requires --model MODEL");
  const rule = RULES.find((one) => one === tools);
  if (!rule) throw new UsageError(`--tools can be ${RULES.join(", ")}`);
  return { at: Number(at), model, tools: rule };
}

/** @returns the exit code @throws UsageError @throws Error with one sentence */
export async function run(context: Context): Promise<number> {
  const wanted = wantedOf(context);
  const { words, flags, rest = [], cwd, env, printError } = context;
  const [parent = ""] = words;
  const { config } = await readConfig(configOptions(context));
  const state = () => stateFolder(config, env);
  const file = resolve(cwd, parent);
  const tape = tapeFile(parent, file, state);
  const { entries } = readRun(tape, VERSION);
  const last = entries.at(-1)?.call ?? 0;
  if (wanted.at > last)
    throw new Error(`${parent} has ${last} entries, so that nothing can go on from ${wanted.at}`);
  const out = flags["--out"];
  const made = typeof out === "string" ? { id: out, path: resolve(cwd, out) } : newRun(state());
  if (made.path === tape) throw new UsageError("--out must name another file than RUN");
  const fork = { parent: parentOf(parent, file, typeof out === "string" ? undefined : state()), ...wanted };
  const isOwn = rest.length > 0;
  const report: ForkReport = { misses: 0, taped: 0, live: 0 };
  const part = forkPart({
    entries,
    fork,
    path: made.path,
    name: parent,
    report,
    onMiss: printError,
    ...(isOwn && { onLost: printError }),
  });
  const about = `${wanted.at - 1} of ${last} entries of ${parent} answer, then ${wanted.model}; tools: ${wanted.tools}; the fork is ${made.id}`;
  return serveVariant(context, {
    adjust: (read) => alone(read, flags, isOwn),
    workers: [part],
    describe: (table, url) =>
      isOwn ? `weir: ${about}; weir listens on ${url}` : `${table}\n  fork: ${about}`,
    ...(isOwn && {
      client: (url: string) => {
        const client = runClient(
          pointClient(rest, { url, key: env["WEIR_API_KEY"] ?? ANY_KEY }, env),
          context,
        );
        return {
          ...client,
          exited: client.exited.then((code) => {
            printError(`weir: ${sentence(report, made.id)}`);
            return code === 0 && (report.misses > 0 || report.live === 0) ? EXIT_MISSED : code;
          }),
        };
      },
    }),
  });
}

/** How the fork names its parent. @param folder in which the parent is kept as well; undefined: nowhere */
function parentOf(word: string, file: string, folder: string | undefined): string {
  if (!existsSync(file)) return word;
  return folder === undefined ? file : keepRun(folder, file);
}

function sentence({ taped, live, misses }: ForkReport, id: string): string {
  if (misses > 0)
    return `${misses} ${misses === 1 ? "request was" : "requests were"} not on the tape before the fork; ${id} has what was asked`;
  if (live === 0) return `the client did not come to the fork: nothing went on from the tape in ${id}`;
  return `the fork ${id} has ${taped} answers of the tape and ${live} of its own; weir runs ${id} shows it beside others`;
}

/** One process, because the order of calls counts. For a client of its own it takes a free port and keeps its log to itself. */
function alone(config: Config, flags: Context["flags"], isOwn: boolean): Config {
  const port = isOwn && flags["--port"] === undefined ? 0 : config.port;
  const level = isOwn && flags["--log-level"] === undefined ? "silent" : config.log.level;
  return { ...config, workers: 1, port, log: { ...config.log, level } };
}
