/** The requests to a program that run, under ids of weir's own. */
import type { Json, JsonObject } from "../../../../core/json.ts";
import { type Answered, isId, type McpError } from "../../wire/messages.ts";
import { metaOf, reaches, withMeta } from "../../wire/revisions.ts";
import type { Outgoing } from "../connection.ts";

/** Requests of servers, and the capability of a client that answers them. */
export const CLIENT_METHODS: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

export interface Running {
  readonly id: number;
  readonly method: string;
  /** Whose it is; undefined: weir's own. */
  readonly outgoing: Outgoing | undefined;
  /** The client's token for progress; the server has the id in its place. */
  readonly token: Json | undefined;
  /** The highest progress so far. */
  progress: number;
  readonly settle: (outcome: Answered | McpError) => void;
}

export class RunningRequests {
  readonly #running = new Map<number, Running>();
  /** Those of clients. */
  #ofClients = 0;
  #made = 0;
  /** Calls of several callers share the program. */
  readonly #isMixed: boolean;

  /** @param isMixed what could belong to several callers belongs to none then */
  constructor(isMixed: boolean) {
    this.#isMixed = isMixed;
  }

  get ofClients(): number {
    return this.#ofClients;
  }

  add(method: string, outgoing: Outgoing | undefined, settle: Running["settle"]): Running {
    const token = metaOf(outgoing?.params)["progressToken"];
    const running = { id: ++this.#made, method, outgoing, token, progress: -Infinity, settle };
    this.#running.set(running.id, running);
    if (outgoing) this.#ofClients++;
    return running;
  }

  /** @returns undefined if nothing runs under an id */
  get(id: unknown): Running | undefined {
    return typeof id === "number" ? this.#running.get(id) : undefined;
  }

  /** @returns undefined if it has ended before */
  end(id: unknown): Running | undefined {
    const running = this.get(id);
    if (!running) return undefined;
    this.#running.delete(running.id);
    if (running.outgoing) this.#ofClients--;
    return running;
  }

  endAll(): Running[] {
    return [...this.#running.keys()].flatMap((id) => this.end(id) ?? []);
  }

  /** The request that the server's wish for the client can belong to: a program does not say which. */
  inNeedOf(capability: string): Outgoing | undefined {
    return this.#newest(({ client }) => client.capabilities[capability] !== undefined);
  }

  /** Progress with a token that is known and a value that does not go back. */
  tellProgress(params: JsonObject): void {
    const running = this.get(params["progressToken"]);
    if (!running?.outgoing || !isId(running.token)) return;
    // By its text: a number that JavaScript cannot hold is no number of JavaScript.
    const progress = Number(JSON.stringify(params["progress"] ?? null));
    if (!(progress >= running.progress)) return;
    running.progress = progress;
    running.outgoing.notify("notifications/progress", { ...params, progressToken: running.token });
  }

  /** A log message, for a request whose client wants it. */
  tellLog(params: JsonObject): void {
    const level = params["level"];
    this.#newest(
      ({ client }) => client.logLevel !== undefined && reaches(level, client.logLevel),
      true,
    )?.notify("notifications/message", params);
  }

  /** @param isStrict also one that runs alone must fit */
  #newest(fits: (outgoing: Outgoing) => boolean, isStrict = false): Outgoing | undefined {
    const all = Array.from(this.#running.values(), ({ outgoing }) => outgoing).filter(
      (one) => one !== undefined,
    );
    if (all.length === 1 && !isStrict) return all[0];
    if (all.length > 1 && this.#isMixed) return undefined;
    return all.findLast(fits);
  }
}

/** Parameters with the id in place of the client's token for progress. */
export function ownToken({ id, token }: Running, params: JsonObject): JsonObject {
  return token === undefined ? params : withMeta(params, { progressToken: isId(token) ? id : undefined });
}
