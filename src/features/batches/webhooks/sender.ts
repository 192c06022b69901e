/** Tells a receiver of the ends of batches, until it has taken them. */
import { endsWithin } from "../../../core/within.ts";
import { type Post, placeOf, post } from "../../../http/post.ts";
import { signatureHeaders } from "../../../http/signature.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import { batchEvents } from "../metrics.ts";
import type { Webhook } from "../section.ts";
import { type EndEvent, eventBody, eventId } from "./event.ts";
import { EventBook } from "./event-book.ts";

const MINUTE_MS = 60_000;
/** Before each repetition, some 50 hours in all: a receiver may be away for a weekend. Milliseconds. */
const PAUSES = [2_000, 10_000, ...[1, 5, 15, 30, 60, 120, 240, 480, 720, 1_440].map((n) => n * MINUTE_MS)];
/** How often weir looks for events, also those of other nodes that have ended. Milliseconds. */
const LOOK_MS = 2_000;
/** A request ends before. From then on, another node may send the event of one that has ended. Milliseconds. */
const TAKEN_MS = 30_000;
/** Time for requests that run when the process ends. Milliseconds. */
const CLOSE_MS = 2_000;
/** Requests at the same time. */
const AT_ONCE = 10;

export interface SenderOptions {
  readonly host: Pick<KeeperHost, "read" | "write" | "count" | "report">;
  readonly post?: Post;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class EventSender {
  readonly #host: SenderOptions["host"];
  readonly #book: EventBook;
  readonly #post: Post;
  readonly #now: () => number;
  #to: Webhook | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor({ host, post: given = post, now = Date.now }: SenderOptions) {
    this.#host = host;
    this.#book = new EventBook(host);
    this.#post = given;
    this.#now = now;
  }

  /** There is a receiver: batches that end from now on have events. */
  get isOn(): boolean {
    return this.#to !== undefined;
  }

  /** @param to undefined: events wait for another receiver */
  to(to: Webhook | undefined): void {
    this.#to = to;
    clearInterval(this.#looking);
    this.#looking = undefined;
    if (!to || this.#isClosed) return;
    this.#looking = setInterval(() => void this.look(), LOOK_MS);
    void this.look();
  }

  /** Sends what is due. Resolves when it has been sent, or put off. Never rejects: the store may be away, and events are in it. */
  look(): Promise<void> {
    return (this.#sending ??= this.#look()
      .catch(() => {})
      .finally(() => (this.#sending = undefined)));
  }

  /** Events that have not been delivered stay in the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.to(undefined);
    if (this.#sending) await endsWithin(this.#sending, CLOSE_MS);
  }

  async #look(): Promise<void> {
    while (this.#to) {
      const events = await this.#book.due(this.#now(), AT_ONCE);
      if (events.length === 0) return;
      await Promise.all(events.map((event) => this.#deliver(event)));
    }
  }

  async #deliver(found: EndEvent): Promise<void> {
    const to = this.#to;
    const event = to && (await this.#book.take(found, this.#now() + TAKEN_MS));
    if (!event) return;
    const { kind, why = "it fails", afterMs = 0 } = await this.#send(event, to);
    if (kind === "ok") {
      this.#host.count(batchEvents, ["delivered"], 1);
      return this.#book.remove(event);
    }
    const about = `the end of the batch ${event.id} (${event.type}) to ${placeOf(to.url)}`;
    // A receiver that refuses may be one that is being repaired.
    const pause = PAUSES[event.tries - 1];
    if (pause !== undefined) {
      if (event.tries === 1) this.#host.report(`batches: could not send ${about}: ${why}; weir tries again`);
      return this.#book.put(event, this.#now() + Math.max(pause, afterMs));
    }
    this.#host.count(batchEvents, ["lost"], 1);
    this.#host.report(`batches: did not deliver ${about}: ${why}`);
    return this.#book.remove(event);
  }

  #send(event: EndEvent, { url, secret }: Webhook): ReturnType<Post> {
    const body = eventBody(event);
    const at = Math.floor(this.#now() / 1000);
    const headers = { "content-type": "application/json", "user-agent": "weir" };
    return this.#post(url, { ...headers, ...signatureHeaders(eventId(event), at, body, secret) }, body);
  }
}
