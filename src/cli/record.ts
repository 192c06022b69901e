/** `weir record FILE`: a gateway that also writes each call to a tape. */
import { type Command, SERVE_FLAGS } from "./command.ts";
import { serveVariant } from "./serve.ts";
import { adjustForTape, describeTape, runTapeClient, TAPE_FILE } from "./tape-command.ts";

export const record: Command = {
  name: "record",
  summary:
    "start the gateway and write its calls to a tape, for weir replay; with COMMAND, run a client and end with it",
  words: [TAPE_FILE],
  rest: "COMMAND",
  flags: SERVE_FLAGS,
  async run(context) {
    const { words, rest = [], cwd } = context;
    const [file = ""] = words;
    const { makeRecorder } = await import("../tape/index.ts");
    const tell = (sentence: string) => context.printError(`weir: ${sentence}`);
    let recorder: ReturnType<typeof makeRecorder> | undefined;
    return serveVariant(context, {
      adjust: (config) => adjustForTape(config, context),
      // The gateway of a client writes no log.
      tape: (tools) =>
        (recorder = makeRecorder(file, cwd, rest.length > 0 ? { ...tools, fault: tell } : tools)).tape,
      describe: (table, url) => describeTape(table, url, `calls are recorded on ${file}`, rest),
      ...(rest.length > 0 && {
        client: (url: string) =>
          runTapeClient(context, url, (code) => {
            const { calls } = recorder!;
            context.printError(`weir: ${calls} ${calls === 1 ? "call is" : "calls are"} on the tape ${file}`);
            return code;
          }),
      }),
    });
  },
};
