/** `weir replay FILE`: a gateway that answers from a tape alone. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { configOptions, type Context, UsageError } from "../../cli/command.ts";
import { serveVariant } from "../../cli/serve.ts";
import { readConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { cutNetwork } from "../../gateway/lanes/transport.ts";
import { stateHome } from "../../run/home.ts";
import { tapeFile } from "../../tapes/kept.ts";
import { adjustForTape, describeTape, runTapeClient } from "./command.ts";
import { TIMINGS } from "./flags.ts";
import { tapePart } from "./part.ts";
import { makePlayer } from "./tapes.ts";

/** Exit code if the client succeeded although the tape lacked a call. */
const EXIT_MISSED = 1;

function answering({ size, messages }: ReturnType<typeof makePlayer>, file: string): string {
  if (messages > 0)
    return `${size - messages} calls and ${messages} messages to tools of ${file} answer, no provider and no server does`;
  return size === 1
    ? `1 call of ${file} answers, no provider does`
    : `${size} calls of ${file} answer, no provider does`;
}

/**
 * Sections of other features that would tell others of a replayed call, or serve tools in place of the tape. A build may be
 * without them.
 */
const SILENT = { alerts: [], traces: {}, tools: { servers: {} } };

/** A replayed call costs nothing and belongs in no books and traces: a gateway of the same state folder may run beside it. */
function withoutBooks(config: Config): Config {
  const off = { state: "none", store: undefined, admin: "off", ...SILENT } as const;
  return { ...config, ...off };
}

/** The file of a tape, or that of a kept one with this id. The config is read only for an id. */
async function tapeAt(context: Context, word: string): Promise<string> {
  const path = resolve(context.cwd, word);
  if (existsSync(path)) return word;
  const { config } = await readConfig(configOptions(context));
  return tapeFile(word, path, () => {
    const home = stateHome(config, context.env);
    return home.kind === "folder" ? home.folder : undefined;
  });
}

/** @returns the exit code @throws UsageError */
export async function run(context: Context): Promise<number> {
  const { words, flags, rest = [], cwd, printError } = context;
  const [file = ""] = words;
  const timing = flags["--timing"] ?? "cut";
  if (typeof timing !== "string" || !TIMINGS.includes(timing))
    throw new UsageError(`--timing can be ${TIMINGS.join(" or ")}`);
  const path = await tapeAt(context, file);
  const player = makePlayer(path, cwd, { keepsTime: timing === "kept", onMiss: printError });
  cutNetwork("weir replay sends no requests");
  const { size } = player;
  return serveVariant(context, {
    adjust: (config) => withoutBooks(adjustForTape(config, context)),
    workers: [tapePart((tools) => player.open(tools))],
    describe: (table, url) => describeTape(table, url, answering(player, file), rest),
    ...(rest.length > 0 && {
      client: (url: string) =>
        runTapeClient(context, url, (code) => {
          const { misses, unused } = player;
          if (misses > 0)
            printError(
              `weir: ${misses} ${misses === 1 ? "request was" : "requests were"} not on the tape ${file}`,
            );
          else if (unused > 0)
            printError(`weir: ${unused} of ${size} calls of the tape ${file} were not asked for`);
          return code === 0 && misses > 0 ? EXIT_MISSED : code;
        }),
    }),
  });
}
