/** Servers of tools in requests. Answers have no words for tools that ran. */
import type { HostedCodec } from "../../../core/format.ts";
import { MARK, readServers } from "../../shared/hosted-servers.ts";

export const hosted: HostedCodec = {
  mark: MARK,
  asked: (body) => readServers(body, false),
  past: () => undefined,
  shows: () => [],
  unfinished: "length",
};
