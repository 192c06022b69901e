/** The requests to a program that run, under ids of weir's own. */
import type { JsonObject } from "../../../../core/json.ts";
import type { Answered, McpError } from "../../wire/messages.ts";
import { reaches } from "../../wire/revisions.ts";
import type { Outgoing } from "../connection.ts";
import { Progress } from "../progress.ts";

/** Requests of servers, and the capability of a client that answers them. */
export const CLIENT_METHODS: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Whose a request is, and what it hears besides its answer. Neither: part of the handshake. */
export interface Purpose {
  readonly outgoing?: Outgoing;
  readonly opened?: () => void;
}

export interface Running {
  readonly id: number;
  readonly method: string;
  /** Whose it is; undefined: weir's own. */
  readonly outgoing: Outgoing | undefined;
  readonly progress: Progress;
  /** The server listens. */
  readonly opened: (() => void) | undefined;
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

  add(method: string, { outgoing, opened }: Purpose, settle: Running["settle"]): Running {
    const id = ++this.#made;
    const progress = new Progress(outgoing?.params ?? {}, id);
    const running = { id, method, outgoing, opened, progress, settle };
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
    const own = running?.progress.isFor(params) ? running.progress.read(params) : undefined;
    if (own) running?.outgoing?.notify("notifications/progress", own);
  }

  /** A log message. A program that logs does not say for which request either. */
  tellLog(params: JsonObject): void {
    const wants = ({ client: { logLevel } }: Outgoing) =>
      logLevel === undefined || reaches(params["level"], logLevel);
    this.#newest(wants, true)?.notify("notifications/message", params);
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
