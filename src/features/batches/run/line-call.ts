/** One try of a line: a call of its caller, without a client. */
import { isBackground, mostInBackground } from "../../../core/background.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Call } from "../../../core/call.ts";
import { HELD_BEFORE } from "../../../core/ledger.ts";
import type { Target } from "../../../core/provider.ts";
import type { RefusalReason } from "../../../core/refusal.ts";
import type { Principal } from "../../../core/principal.ts";
import { NO_USAGE, type Usage } from "../../../core/events.ts";
import { within } from "../../../core/within.ts";
import { type Carrier, carrierOf } from "../../../gateway/lanes/carrier.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { batchId, batchLine, type Line, onBooked } from "../columns.ts";
import { targetOf } from "./traffic.ts";

/** The record of a call is written with its answer; one that is late was lost with the process. Milliseconds. */
const BOOKED_MS = 30_000;

/** As servers log a client that went away. */
const CLOSED = 499;

export interface LineCall {
  readonly url: string;
  /** The exact bytes of the line. */
  readonly body: Uint8Array;
  readonly principal: Principal | undefined;
  readonly address: string;
  /** Id of the batch. */
  readonly batch: string;
  readonly line: Line;
  readonly signal: AbortSignal;
  /** Brings the request to a batch of its provider. */
  readonly carrier?: Carrier;
  /** A process that has ended had begun the line. */
  readonly before?: "lost" | "goes on";
}

export interface LineAnswer {
  readonly status: number;
  /** Id of the call. */
  readonly id: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly usage: Usage;
  /** Nano-dollars. */
  readonly cost: number;
  /** Why a rule of the gateway refused the call. */
  readonly refused?: RefusalReason;
  /** Who was asked last: see {@link targetOf}. */
  readonly target?: string;
  /** How many lines may be in flight there; absent: it has no limit. */
  readonly room?: number;
}

/** @throws what ends the call before it has an answer */
export async function askLine(host: Pick<WorkerHost, "call">, call: LineCall): Promise<LineAnswer> {
  const { url, body, principal, address, batch, line, signal, carrier, before } = call;
  const request = new Request(`http://localhost${url}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body as Uint8Array<ArrayBuffer>,
    signal,
  });
  const booked = Promise.withResolvers<{ cost: number; usage: Usage }>();
  let made: Call | undefined;
  const { status, headers, bytes } = await answered(
    host.call(request, {
      principal,
      address,
      begins(begun) {
        made = begun;
        batchId.set(begun, batch);
        batchLine.set(begun, line);
        isBackground.set(begun, true);
        if (carrier) carrierOf.set(begun, carrier);
        if (before) HELD_BEFORE.set(begun, before);
        onBooked.set(begun, (cost) => booked.resolve({ cost, usage: begun.attempt?.usage ?? NO_USAGE }));
      },
    }),
    signal,
  );
  const late = () => new GatewayError("internal", "The record of a line was not written.");
  const { cost, usage } = await within(booked.promise, BOOKED_MS, late);
  const { id = "", refused, attempt } = made ?? {};
  return {
    ...{ status, id, headers, body: bytes, usage, cost },
    ...(refused && { refused }),
    ...(attempt && placeAt(attempt.target)),
  };
}

function placeAt(target: Target): Pick<LineAnswer, "target" | "room"> {
  const { concurrency } = target.deployment;
  return {
    target: targetOf(target),
    ...(concurrency !== undefined && { room: mostInBackground(concurrency) }),
  };
}

/** A call that the signal ended has an empty answer. */
async function answered(
  call: Promise<Response>,
  signal: AbortSignal,
): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  try {
    const answer = await call;
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, bytes };
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    return { status: CLOSED, headers: new Headers(), bytes: new Uint8Array() };
  }
}
