/** One call of a look: through the gateway as a client's, with a tap on what goes to the provider and comes back. */
import type { Call } from "../../../core/call.ts";
import { isBackground } from "../../../core/background.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Usage } from "../../../core/events.ts";
import type { Target } from "../../../core/provider.ts";
import type { Prepared } from "../../../gateway/lanes/lane.ts";
import { type WireTap, wireTap } from "../../../gateway/lanes/wire.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { sha256 } from "../observation.ts";
import { PATH } from "./request.ts";

/** Longest time of a call. Milliseconds. */
const CALL_MS = 60_000;
/** Most of an answer that is read. Bytes. */
const MOST_READ = 1_000_000;

export interface Asked {
  /** weir's status for the client. */
  readonly status: number;
  /** What the provider answered; absent: weir sent nothing, or nothing came back. */
  readonly wire?: {
    readonly status: number;
    /** Names of its headers. */
    readonly headers: readonly string[];
    readonly text: string;
    /** Milliseconds from sending to the first byte and to the last one. */
    readonly firstByteMs: number;
    readonly lastByteMs: number;
  };
  /** Hash of what weir sent. */
  readonly request?: string;
  readonly target?: Target;
  /** Names of the headers that weir sent. */
  readonly sentHeaders: readonly string[];
  readonly usage?: Usage;
  /** Text of the answer. */
  readonly text: string;
  /** Nano-dollars. */
  readonly cost: number;
  /** Why it has no answer. */
  readonly fault?: string;
}

/** Sees the last attempt of a call. */
class LookTap implements WireTap {
  prepared: Prepared | undefined;
  status: number | undefined;
  headers: string[] = [];
  #pieces: Uint8Array[] = [];
  #size = 0;
  #sentAt = 0;
  firstAt: number | undefined;
  lastAt: number | undefined;

  sent(prepared: Prepared): void {
    this.prepared = prepared;
    this.status = this.firstAt = this.lastAt = undefined;
    this.#pieces = [];
    this.#size = 0;
    this.#sentAt = performance.now();
  }

  head({ status, headers }: Parameters<WireTap["head"]>[0]): void {
    this.status = status;
    this.headers = [];
    headers.forEach((_, name) => this.headers.push(name));
  }

  piece(bytes: Uint8Array): void {
    this.lastAt = performance.now();
    this.firstAt ??= this.lastAt;
    if (this.#size > MOST_READ) return;
    // The bytes belong to the connection.
    this.#pieces.push(bytes.slice());
    this.#size += bytes.length;
  }

  get wire(): Asked["wire"] | undefined {
    const { status, headers, firstAt = 0, lastAt = 0 } = this;
    if (status === undefined) return undefined;
    const text = Buffer.concat(this.#pieces).toString();
    return { status, headers, text, firstByteMs: firstAt - this.#sentAt, lastByteMs: lastAt - this.#sentAt };
  }

  /** The same request has the same hash: values of headers are credentials and tokens, and do not count. */
  get request(): string | undefined {
    if (!this.prepared) return undefined;
    const { method = "POST", url, headers, body } = this.prepared;
    const head = `${method} ${url}\n${Object.keys(headers).sort().join("\n")}\n\n`;
    return sha256(Buffer.concat([Buffer.from(head), ...body]));
  }
}

export type AskHost = Pick<WorkerHost, "call" | "hide" | "ledger">;

/** Asks as a client. It does not throw: a fault is a part of what a look sees. */
export async function ask(host: AskHost, body: JsonObject, principal: Principal | undefined): Promise<Asked> {
  const tap = new LookTap();
  const request = new Request(`http://localhost${PATH}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_MS),
  });
  let made: Call | undefined;
  const said = await answered(
    host.call(request, {
      principal,
      address: "127.0.0.1",
      begins(call) {
        made = call;
        wireTap.set(call, tap);
        isBackground.set(call, true);
      },
    }),
  );
  const cost = made ? await costOf(made, host) : 0;
  const { wire, request: hash, prepared } = tap;
  const usage = made?.attempt?.usage;
  return {
    ...{ status: said.status, text: textOf(said.text), cost },
    sentHeaders: Object.keys(prepared?.headers ?? {}),
    ...(wire && { wire: { ...wire, text: host.hide(wire.text) } }),
    ...(hash !== undefined && { request: hash }),
    ...(prepared && { target: prepared.target }),
    ...(usage && { usage }),
    ...(said.status >= 400 && { fault: faultOf(said) }),
  };
}

/** Longest wait for the record of a call. Milliseconds. */
const BOOKED_MS = 10_000;

/** What a call was charged, once it has ended. */
async function costOf(call: Call, { ledger }: AskHost): Promise<number> {
  const until = performance.now() + BOOKED_MS;
  while (call.outcome === undefined && performance.now() < until) await Bun.sleep(1);
  return ledger.charged?.(call.attempts) ?? 0;
}

async function answered(call: Promise<Response>): Promise<{ status: number; text: string }> {
  try {
    const answer = await call;
    return { status: answer.status, text: await answer.text() };
  } catch (thrown) {
    return { status: 499, text: String(thrown) };
  }
}

function textOf(body: string): string {
  const answer = parseJson(body);
  const [choice] = isObject(answer) && Array.isArray(answer["choices"]) ? answer["choices"] : [];
  const message = isObject(choice) ? choice["message"] : undefined;
  const text = isObject(message) ? message["content"] : undefined;
  return typeof text === "string" ? text : "";
}

/** Length of a fault. UTF-16 units. */
const MOST_FAULT = 200;

function faultOf({ status, text }: { status: number; text: string }): string {
  const body = parseJson(text);
  const error = isObject(body) ? body["error"] : undefined;
  const message = isObject(error) ? error["message"] : undefined;
  return `${status}: ${typeof message === "string" ? message : text}`.slice(0, MOST_FAULT);
}
