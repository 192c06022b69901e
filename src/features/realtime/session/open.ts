/** Opens the provider's side of a session, and joins it with the client's. */
import type { Attempt } from "../../../core/call.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { Session, SessionAddress } from "../../../gateway/sessions.ts";
import { DIALECT } from "../../../kinds/realtime/index.ts";
import { MinuteMeter } from "./minutes.ts";
import { Bridge } from "./bridge.ts";
import type { End, Listening } from "../../../core/socket.ts";
import { openProgram } from "./program.ts";

/** What a client asks for when it opens a session. */
export interface Wanted {
  readonly principal: Principal | undefined;
  readonly model: string;
  /** The session has no answers, only transcriptions. */
  readonly transcribes: boolean;
  readonly headers: Headers;
  /** Path of the route. */
  readonly path: string;
  readonly mostMs: number;
  /** Settings with which it begins, for a client secret. */
  readonly settings: JsonObject | undefined;
}

/** Connects to a host. @throws GatewayError if it does not take the session */
export type Dial = (address: SessionAddress, attempt: Attempt, listening: Listening) => Promise<End>;

/** An open session, whose client is not connected yet. */
export interface OpenTalk {
  readonly client: Listening;
  connect(end: End): void;
  /** The client has left before it was connected. */
  abandon(): void;
}

/** @throws GatewayError if no provider takes the session, or the caller may not have it */
export async function openTalk(
  host: WorkerHost,
  wanted: Wanted,
  dial: Dial,
  ended: () => void,
): Promise<OpenTalk> {
  const { principal, model, transcribes, headers, path, mostMs, settings } = wanted;
  let joined: Joined | undefined;
  const session = await host.session({
    ...{ kind: "realtime", dialect: DIALECT, model, principal, headers, mostMs },
    route: { method: "GET", path, operation: "realtime" },
    connect: async (attempt, address) => {
      joined = new Joined();
      const at = addressOf(address, attempt.target.model, transcribes);
      const isProgram = attempt.target.lane === "generated";
      joined.end = isProgram ? await openProgram(attempt, joined.late) : await dial(at, attempt, joined.late);
    },
  });
  const bridge = bridgeOf(session, { principal, transcribes }, ended);
  joined!.late.to(bridge.vendor);
  bridge.connectVendor(joined!.end!);
  session.call.stop.addEventListener("abort", () => bridge.refuse(session.call.stop.reason!));
  const first = settings && JSON.stringify({ type: "session.update", session: settings });
  return {
    client: bridge.client,
    connect: (end) => bridge.connectClient(end, first),
    abandon: () => bridge.client.closed(1006, ""),
  };
}

/** One target: its events wait until the session is joined. */
class Joined {
  readonly late = new LateListening();
  end: End | undefined;
}

class LateListening implements Listening {
  #to: Listening | undefined;
  readonly #waiting: ((to: Listening) => void)[] = [];

  to(listening: Listening): void {
    this.#to = listening;
    for (const tell of this.#waiting.splice(0)) tell(listening);
  }

  frame(text: string): void {
    this.#tell((to) => to.frame(text));
  }

  drained(): void {
    this.#tell((to) => to.drained());
  }

  closed(code: number, reason: string): void {
    this.#tell((to) => to.closed(code, reason));
  }

  #tell(tell: (to: Listening) => void): void {
    if (this.#to) tell(this.#to);
    else this.#waiting.push(tell);
  }
}

function addressOf({ url, headers }: SessionAddress, model: string, transcribes: boolean): SessionAddress {
  if (url === "") return { url, headers };
  const at = new URL(url);
  if (transcribes) at.searchParams.set("intent", "transcription");
  else at.searchParams.set("model", model);
  return { url: at.href, headers };
}

function bridgeOf(
  session: Session,
  { principal, transcribes }: Pick<Wanted, "principal" | "transcribes">,
  ended: () => void,
): Bridge {
  const { call, target } = session;
  const minutes = new MinuteMeter(session, (error) => bridge.refuse(error));
  const bridge: Bridge = new Bridge({
    books: session,
    model: { asked: call.model, served: target.model },
    transcribes,
    allowsModel: (model) =>
      principal === undefined || principal.options.allowsModel([model, `${target.provider.name}/${model}`]),
    allowsServers: principal?.options.scopes["serverTools"] !== false,
    ended: (error) => {
      minutes.stop();
      session.end(error);
      ended();
    },
  });
  minutes.start();
  return bridge;
}
