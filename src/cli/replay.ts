/** `weir replay FILE`: a gateway that answers from a tape alone. */
import type { Config } from "../config/schema.ts";
import { type Command, SERVE_FLAGS, UsageError } from "./command.ts";
import { serveVariant } from "./serve.ts";
import { adjustForTape, describeTape, runTapeClient, TAPE_FILE } from "./tape-command.ts";

const TIMINGS = ["cut", "kept"];

/** Exit code if the client succeeded although the tape lacked a call. */
const EXIT_MISSED = 1;

function answering(size: number, file: string): string {
  return size === 1
    ? `1 call of ${file} answers, no provider does`
    : `${size} calls of ${file} answer, no provider does`;
}

/** A replayed call costs nothing and belongs in no books and traces: a gateway of the same state folder may run beside it. */
function withoutBooks(config: Config): Config {
  const traces = { ...config.traces, to: undefined };
  return { ...config, state: "none", store: undefined, admin: "off", traces, alerts: [] };
}

export const replay: Command = {
  name: "replay",
  summary:
    "start a gateway that answers from a tape and calls no provider; with COMMAND, run a client and end with it",
  words: [TAPE_FILE],
  rest: "COMMAND",
  flags: [
    ...SERVE_FLAGS,
    {
      name: "--timing",
      value: "TIMING",
      help: "cut: answers come at once; kept: they take as long as when they were recorded (default cut)",
      completes: TIMINGS,
    },
  ],
  async run(context) {
    const { words, flags, rest = [], cwd, printError } = context;
    const [file = ""] = words;
    const timing = flags["--timing"] ?? "cut";
    if (typeof timing !== "string" || !TIMINGS.includes(timing))
      throw new UsageError(`--timing can be ${TIMINGS.join(" or ")}`);
    const { makePlayer } = await import("../tape/index.ts");
    const { cutNetwork } = await import("../gateway/lanes/transport.ts");
    const player = makePlayer(file, cwd, { keepsTime: timing === "kept", onMiss: printError });
    cutNetwork("weir replay sends no requests");
    const { size } = player;
    return serveVariant(context, {
      adjust: (config) => withoutBooks(adjustForTape(config, context)),
      tape: (tools) => player.open(tools),
      describe: (table, url) => describeTape(table, url, answering(size, file), rest),
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
  },
};
