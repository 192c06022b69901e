/** Joins the two connections of a session: frames pass in both directions, and neither side is read faster than the other reads. */
import { GatewayError } from "../../../core/error.ts";
import { Talk, type TalkOptions } from "./talk.ts";
import type { End, Listening } from "../../../core/socket.ts";

/** weir reads one side only while less than this waits for the other one. Bytes. */
export const MOST_WAITING = 1_048_576;
/** A client cannot be held back: one that sends so much more than the provider takes is cut off. Bytes. */
const MOST_QUEUED = 16 * MOST_WAITING;
/** How long the counts of an answer are waited for that was cancelled. Milliseconds. */
const COUNTS_MS = 2_000;

const NORMAL = 1000;
const INTERNAL = 1011;

export interface BridgeOptions extends Omit<TalkOptions, "ends"> {
  /** The session is over: its record can be written. @param error why it failed */
  ended(error?: GatewayError): void;
}

export class Bridge {
  /** What the connections tell. */
  readonly client: Listening;
  readonly vendor: Listening;
  readonly #options: BridgeOptions;
  readonly #talk: Talk;
  #toClient: End | undefined;
  #toVendor: End | undefined;
  /** Frames of the provider from before the client was connected. */
  #early: string[] | undefined = [];
  #isHeld = false;
  #isClientGone = false;
  #isOver = false;
  #error: GatewayError | undefined;
  #countsBy: Timer | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#talk = new Talk({
      ...options,
      ends: {
        toClient: (event) => this.#sendClient(event),
        toVendor: (event) => this.#sendVendor(event),
        end: (code, reason, error) => this.#end(code, reason, error),
      },
    });
    this.client = {
      frame: (text) => this.#fromClient(text),
      drained: () => this.#toVendor?.resume(),
      closed: () => this.#clientClosed(),
    };
    this.vendor = {
      frame: (text) => this.#fromVendor(text),
      drained: () => this.#resumeClient(),
      closed: (code, reason) => this.#vendorClosed(code, reason),
    };
  }

  /** The provider is connected. */
  connectVendor(end: End): void {
    this.#toVendor = end;
  }

  /** The client is connected. It gets what the provider has said until now. @param first an event for the provider in front of all others */
  connectClient(end: End, first?: string): void {
    this.#toClient = end;
    const early = this.#early ?? [];
    this.#early = undefined;
    if (first !== undefined) this.#sendVendor(first);
    for (const event of early) this.#talk.fromVendor(event);
    // The provider may have left in between.
    if (this.#isOver) end.close(INTERNAL, "The provider has ended the session.");
  }

  /** A rule of weir ends the session: the key was revoked, the time is over, weir stops. */
  refuse(error: GatewayError): void {
    this.#talk.refuse(error);
  }

  #fromClient(text: string): void {
    if (this.#talk.waiting + (this.#toVendor?.buffered ?? 0) > MOST_QUEUED) return this.refuse(tooFast());
    const pending = this.#talk.fromClient(text);
    if (!pending || this.#isHeld) return;
    this.#isHeld = true;
    this.#toClient?.pause();
    void pending.finally(() => {
      this.#isHeld = false;
      this.#resumeClient();
    });
  }

  #fromVendor(text: string): void {
    if (this.#early) this.#early.push(text);
    else this.#talk.fromVendor(text);
    if (this.#isClientGone && this.#talk.turns.running === 0) this.#close();
  }

  #sendClient(event: string): void {
    const end = this.#toClient;
    if (!end || this.#isClientGone) return;
    end.send(event);
    if (end.buffered > MOST_WAITING) this.#toVendor?.pause();
  }

  #sendVendor(event: string): void {
    const end = this.#toVendor;
    if (!end || this.#isOver) return;
    end.send(event);
    if (end.buffered > MOST_WAITING) this.#toClient?.pause();
  }

  #resumeClient(): void {
    if (!this.#isHeld && (this.#toVendor?.buffered ?? 0) <= MOST_WAITING) this.#toClient?.resume();
  }

  #clientClosed(): void {
    if (this.#isClientGone) return;
    this.#leave();
  }

  /** weir ends the session for the client at once, and for the provider when what runs is counted. */
  #end(code: number, reason: string, error: GatewayError | undefined): void {
    this.#error = error;
    // The connection may tell of its end at once.
    this.#isClientGone = true;
    this.#toClient?.close(code, reason);
    this.#leave();
  }

  #leave(): void {
    this.#isClientGone = true;
    this.#talk.left();
    // A provider that is not read would never say that it has stopped.
    this.#toVendor?.resume();
    if (this.#isOver) return;
    if (!this.#talk.cancel()) return this.#close();
    this.#countsBy = setTimeout(() => this.#close(), COUNTS_MS);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#toVendor?.close(NORMAL, "");
    this.#over(
      new GatewayError("cancelled", "The session ended before the provider had counted the answer."),
    );
  }

  #vendorClosed(code: number, reason: string): void {
    if (this.#isOver) return;
    const isWell = code === NORMAL;
    const error = isWell
      ? undefined
      : new GatewayError("upstream", "The provider has ended the session.", { code: "upstream_closed" });
    this.#error ??= error;
    this.#over(error ?? new GatewayError("upstream", "The provider ended the session during its answer."));
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#talk.left();
    this.#toClient?.close(passable(code), reason);
  }

  #over(left: GatewayError): void {
    this.#isOver = true;
    clearTimeout(this.#countsBy);
    this.#talk.turns.end(left);
    this.#options.ended(this.#error);
  }
}

function tooFast(): GatewayError {
  return new GatewayError("rate-limited", "The client sends faster than the provider reads.", {
    code: "session_too_fast",
  });
}

/** 1005, 1006 and 1015 are never sent (RFC 6455, 7.4.1). */
function passable(code: number): number {
  const isSent =
    (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
  return isSent ? code : INTERNAL;
}
