/** `weir record FILE`: a gateway that also writes each call to a tape. */
import type { Context } from "../../cli/command.ts";
import { serveVariant } from "../../cli/serve.ts";
import { adjustForTape, describeTape, runTapeClient } from "./command.ts";
import { tapePart } from "./part.ts";
import { makeRecorder } from "./tapes.ts";

function recorded({ calls, messages }: ReturnType<typeof makeRecorder>): string {
  const tools = messages === 0 ? "" : ` and ${messages} ${messages === 1 ? "message" : "messages"} to tools`;
  return `${calls} ${calls === 1 ? "call" : "calls"}${tools} ${calls === 1 && messages === 0 ? "is" : "are"}`;
}

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { words, rest = [], cwd } = context;
  const [file = ""] = words;
  const tell = (sentence: string) => context.printError(`weir: ${sentence}`);
  let recorder: ReturnType<typeof makeRecorder> | undefined;
  return serveVariant(context, {
    adjust: (config) => adjustForTape(config, context),
    // The gateway of a client writes no log.
    workers: [
      tapePart(
        (tools) =>
          (recorder = makeRecorder(file, cwd, rest.length > 0 ? { ...tools, fault: tell } : tools)).tape,
      ),
    ],
    describe: (table, url) => describeTape(table, url, `calls are recorded on ${file}`, rest),
    ...(rest.length > 0 && {
      client: (url: string) =>
        runTapeClient(context, url, (code) => {
          context.printError(`weir: ${recorded(recorder!)} on the tape ${file}`);
          return code;
        }),
    }),
  });
}
