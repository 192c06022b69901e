/** Finds out which era a server over HTTP speaks, and opens a connection to it. */
import { isObject } from "../../../core/json.ts";
import { NeedsUser } from "../auth/credential.ts";
import { answeredIn, CODE, isResponse } from "../wire/messages.ts";
import { type Era, MODERN } from "../wire/revisions.ts";
import type { ClientFacts, Connection, ConnectionEvents, ServerFacts } from "./connection.ts";
import { type HttpTarget, send } from "./http.ts";
import { LegacyHttp, NoEndpoint } from "./legacy-http.ts";
import { factsIn, ModernHttp, requestFor } from "./modern-http.ts";
import { openSse } from "./sse.ts";
import type { Verdicts } from "./verdicts.ts";

/** Codes that only a server of the modern era answers. */
const MODERN_CODES: readonly number[] = [CODE.headerMismatch, CODE.capability, CODE.version];

export interface OpenOptions {
  readonly target: HttpTarget;
  readonly era: Era | "auto";
  /** The era of the client: of a server that speaks both, weir uses this one, so that nothing is translated. */
  readonly preferred: Era;
  readonly client: ClientFacts;
  readonly events: ConnectionEvents;
  readonly stop: AbortSignal;
  /** What was found before. */
  readonly verdicts?: Pick<Verdicts, "get" | "set">;
}

/** @throws McpError if the server cannot be reached or refuses */
export async function openHttp(options: OpenOptions): Promise<Connection> {
  const { target, era, preferred, verdicts } = options;
  if (era !== "auto") return find(options);
  const question = { url: target.url, preferred };
  const known = verdicts?.get(question);
  // Else it is asked in this era first anyhow.
  const opened = known !== undefined && known !== preferred ? await openKnown(options, known) : undefined;
  const connection = opened ?? (await find(options));
  verdicts?.set(question, connection.era);
  return connection;
}

/** @returns undefined for a server that contradicts what is known of it */
async function openKnown(options: OpenOptions, known: Era): Promise<Connection | undefined> {
  const { target, client, events, stop } = options;
  if (known === "modern") {
    const facts = await discover(target, client, stop);
    return facts && new ModernHttp(target, facts, events);
  }
  try {
    return await LegacyHttp.open(target, client, events, stop);
  } catch (thrown) {
    if (stop.aborted || thrown instanceof NeedsUser) throw thrown;
    return thrown instanceof NoEndpoint ? openSse(options).catch(() => undefined) : undefined;
  }
}

async function find(options: OpenOptions): Promise<Connection> {
  const { target, era, preferred, client, events, stop } = options;
  const modern = async (): Promise<Connection | undefined> => {
    const facts = era === "legacy" ? undefined : await discover(target, client, stop);
    return facts && new ModernHttp(target, facts, events);
  };
  if (era === "modern") return (await modern()) ?? new ModernHttp(target, UNKNOWN, events);
  const first = preferred === "modern" ? await modern() : undefined;
  if (first) return first;
  try {
    return await LegacyHttp.open(target, client, events, stop);
  } catch (thrown) {
    const found = preferred === "modern" ? undefined : await modern();
    const older = !found && thrown instanceof NoEndpoint ? await openSse(options) : undefined;
    if (found ?? older) return (found ?? older)!;
    throw thrown;
  }
}

/** Facts of a modern server that does not describe itself. */
const UNKNOWN: ServerFacts = { version: MODERN, capabilities: { tools: {} }, info: {} };

/** @returns undefined for a server that is not modern */
async function discover(
  target: HttpTarget,
  client: ClientFacts,
  stop: AbortSignal,
): Promise<ServerFacts | undefined> {
  const asked = requestFor(0, "server/discover", {}, client);
  const reply = await send(target, { ...asked, stop });
  try {
    for await (const { message } of reply.messages()) {
      if (!message || !isResponse(message)) continue;
      const answered = answeredIn(message);
      if ("result" in answered) return factsIn(answered.result);
      const { code, data } = answered.error;
      // A server that knows other modern revisions only is not one that weir can speak with.
      const isModern =
        MODERN_CODES.includes(code) &&
        !(code === CODE.version && isObject(data) && !lists(data["supported"]));
      return isModern || (code === CODE.method && reply.status === 404) ? UNKNOWN : undefined;
    }
  } catch {
    // What answers like this is no modern server.
  }
  return undefined;
}

function lists(versions: unknown): boolean {
  return Array.isArray(versions) && versions.includes(MODERN);
}
