/** Reads what a request asks of tools that weir runs, before anything of it is decoded. */
import type { HostedCodec } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Edited, Entry } from "../../../gateway/seams.ts";
import { scanBody } from "../../../stream/scan.ts";
import { mayHold } from "../../../stream/spelling.ts";
import { permitted } from "./permitted.ts";
import {
  type Asked,
  type OfferedByModel,
  offeredTo,
  readHeader,
  sortServers,
  TOOLS_HEADER,
} from "./references.ts";

export interface ReadJob extends Asked {
  /** The words of the client's format; absent if it has none. */
  readonly codec: HostedCodec | undefined;
  /** Paths of servers that are none of weir's. */
  readonly foreign: readonly string[];
  /** Members of the request that weir takes out, as the client wrote them. */
  readonly written: JsonObject;
  /** The request without them; absent: as it came. */
  readonly edited?: Edited;
}

/**
 * Most requests say nothing of tools that weir runs, and are not parsed for that.
 * @param offered to models whose clients name no servers
 * @returns undefined if the request names no servers @throws GatewayError `invalid-request`, and as
 * {@link permitted}
 */
export function readJob(
  incoming: Pick<Entry, "call" | "format" | "bytes" | "body">,
  offered: OfferedByModel,
): ReadJob | undefined {
  const { call, format, bytes } = incoming;
  const codec = format.client.beside.hosted;
  const header = call.headers.get(TOOLS_HEADER);
  const ask = codec && mayHold(bytes, codec.mark) ? codec.asked(incoming.body) : undefined;
  if (!ask) {
    const wanted = header === null ? offeredTo(call.model, offered) : readHeader(header);
    const references = permitted(wanted, call.principal);
    return references.length > 0 ? { codec, references, foreign: [], written: {} } : undefined;
  }
  const named = readHeader(header ?? "");
  const { references, foreign } = sortServers(ask.servers, call.headers.get("host") ?? "");
  return {
    codec,
    references: permitted([...references, ...named], call.principal),
    foreign,
    written: changed(incoming.body, ask.rest),
    edited: editedTo(ask.rest),
    ...(ask.choice && { choice: ask.choice }),
    ...(ask.most !== undefined && { most: ask.most }),
  };
}

function changed(body: JsonObject, rest: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => rest[name] !== value));
}

/** No body that weir has accepted nests deeper. */
const MAX_DEPTH = 1_000;

function editedTo(body: JsonObject): Edited {
  const bytes = Buffer.from(JSON.stringify(body));
  const { members } = scanBody(bytes, MAX_DEPTH);
  return { bytes, body, spanOf: (name) => members.get(name) };
}
