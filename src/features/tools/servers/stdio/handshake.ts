/** Which era a program speaks, and what it says about itself (revision 2026-07-28, stdio: backward compatibility). */
import { isObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { limitText, printable } from "../../../../core/printable.ts";
import { type Answered, CODE, type RpcError } from "../../wire/messages.ts";
import { type Era, LEGACY, LEGACY_NEWEST, META, MODERN } from "../../wire/revisions.ts";
import { type ClientFacts, namedInfo, type ServerFacts } from "../connection.ts";
import { unreachable } from "../http.ts";
import { factsIn } from "../modern-http.ts";

/** What finding it out takes. */
export interface Opening {
  /** `auto` asks; another one is not doubted. */
  readonly era: "auto" | Era;
  /** The era of the client: of a program that speaks both, weir uses this one, so that nothing is translated. */
  readonly preferred: Era;
  readonly client: ClientFacts;
  /** Longest time for the answer to the question which era it is; a program may be silent. Milliseconds. */
  readonly probeMs: number;
  /** Longest time for all of it. Milliseconds. */
  readonly startMs: number;
}

/** Requests of weir's own. */
export interface Asker {
  /** Name of the server. */
  readonly server: string;
  /** @returns undefined without an answer in time; then the answer may come later @throws McpError if the program ends */
  ask(request: OwnRequest): Promise<Answered | undefined>;
  notify(method: string): void;
}

export interface OwnRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Longest time. Milliseconds. */
  readonly ms: number;
  /** The answer, also when it comes too late. */
  readonly hear?: (answered: Answered) => void;
}

export interface Opened {
  readonly era: Era;
  readonly facts: ServerFacts;
}

/** @throws McpError 1002 if weir and the program have no revision in common, or it is silent */
export async function open(asker: Asker, opening: Opening): Promise<Opened> {
  const { era, preferred, client, probeMs, startMs } = opening;
  const { server } = asker;
  if (era === "legacy") return accepted(server, await initialize(asker, client, startMs));
  let found: Found | undefined;
  const discover = (ms: number) =>
    asker.ask({
      ...{ method: "server/discover", params: { _meta: modernMeta(client) }, ms },
      hear: (answered) => (found = foundIn(answered)),
    });
  const isModernFirst = era === "modern" || preferred === "modern";
  if (isModernFirst) await discover(era === "modern" ? startMs : probeMs);
  if (found?.opened) return found.opened;
  if (found?.refusal !== undefined) throw unreachable(server, found.refusal);
  if (era === "modern")
    throw unreachable(server, found ? `it does not speak revision ${MODERN}` : silence(startMs));
  const answered = await initialize(asker, client, startMs);
  // A program that started slowly may answer both questions now, or only the second one so far.
  if ("code" in answered && !found && (!isModernFirst || answered.code === CODE.version))
    await discover(startMs);
  return "code" in answered && found?.opened ? found.opened : accepted(server, answered);
}

function accepted(server: string, answered: Opened | RpcError): Opened {
  if ("code" in answered) throw unreachable(server, `it refused: ${quoted(answered.message)}`);
  return answered;
}

function silence(ms: number): string {
  return `it did not answer in ${ms} ms`;
}

/** `_meta` of a request in the modern era. */
export function modernMeta({ info, capabilities, logLevel }: ClientFacts): JsonObject {
  return {
    [META.version]: MODERN,
    ...(Object.keys(info).length > 0 && { [META.client]: info }),
    [META.capabilities]: capabilities,
    [META.logLevel]: logLevel,
  };
}

/** What the answer to `server/discover` means: neither member for a program of the legacy era. */
interface Found {
  readonly opened?: Opened;
  readonly refusal?: string;
}

function foundIn(answered: Answered): Found {
  if ("error" in answered) return foundInError(answered.error);
  // Go servers answer although they want the handshake: without the revision.
  const facts = factsIn(answered.result);
  return facts ? { opened: { era: "modern", facts } } : {};
}

function foundInError({ code, data }: RpcError): Found {
  if (code !== CODE.version || !isObject(data) || !Array.isArray(data["supported"])) return {};
  const supported = data["supported"].filter((one) => typeof one === "string");
  // It may know the handshake of an earlier revision.
  if (supported.length === 0 || supported.some((one) => one <= MODERN)) return {};
  return { refusal: `it speaks only the revisions ${quoted(supported.join(", "))}` };
}

async function initialize(asker: Asker, client: ClientFacts, startMs: number): Promise<Opened | RpcError> {
  const { server } = asker;
  const answered = await asker.ask({
    method: "initialize",
    params: {
      ...{ protocolVersion: LEGACY_NEWEST, capabilities: client.capabilities, clientInfo: namedInfo(client) },
    },
    ms: startMs,
  });
  if (!answered) throw unreachable(server, silence(startMs));
  if ("error" in answered) return answered.error;
  const { protocolVersion, capabilities, serverInfo, instructions } = answered.result;
  if (!isLegacy(protocolVersion))
    throw unreachable(
      server,
      `it wants the revision ${quoted(JSON.stringify(protocolVersion) ?? "nothing")}`,
    );
  asker.notify("notifications/initialized");
  const facts = {
    version: protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    info: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === "string" && { instructions }),
  };
  return { era: "legacy", facts };
}

/** Revisions before those that weir serves have the same messages over stdio. */
function isLegacy(version: Json | undefined): version is string {
  return typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) && version <= LEGACY[0];
}

/** Words of a server in a sentence of weir. */
function quoted(text: string): string {
  return limitText(printable(text), 200);
}
