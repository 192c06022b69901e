/** Reports a tool on the server's side in an answer whose format has no such thing. */
import type { CodecContext } from "../../core/context.ts";
import type { HostedStart } from "../../core/events.ts";

const WHAT = {
  call: "the call of a hosted tool",
  approval: "a request to allow the call of a hosted tool",
  list: "a list of hosted tools",
};

/** Reports that the answer leaves the block out. */
export function reportHosted({ kind, id, server, name }: HostedStart, context: CodecContext): void {
  const of = name === "" ? server : `${server}/${name}`;
  context.reportLoss(
    "dropped",
    `hosted-tool.${id}`,
    `an answer of this format cannot contain ${WHAT[kind]}: ${of}`,
  );
}
