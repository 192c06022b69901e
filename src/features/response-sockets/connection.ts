/** One connection: requests of a lane are answered one after another, those of several lanes side by side. */
import { GatewayError } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { End, Listening } from "../../core/socket.ts";
import { WARNINGS } from "../../core/loss-list.ts";
import { readFrames } from "../../stream/sse.ts";
import { type Asked, bodyOf, inputOf, readAsked, streamIdOf } from "./asked.ts";
import { errorFrame, errorOf, frameOf, isLast, refusalOf, warmUpOf } from "./events.ts";
import { type Kept, Memory } from "./kept.ts";

/** weir reads the answer only while less than this waits for the client. Bytes. */
const MOST_WAITING = 1_048_576;
/** Requests of a connection that run or wait. */
const MOST_REQUESTS = 16;
/** The vendor's code for a service that restarts (RFC 6455, registry of close codes). */
const RESTART = 1012;

export interface ConnectionOptions {
  /** Answers `POST /v1/responses` with the credential of the connection. @throws GatewayError */
  ask(body: Uint8Array, signal: AbortSignal): Promise<Response>;
  closed(): void;
}

export class Connection implements Listening {
  readonly #options: ConnectionOptions;
  readonly #end: End;
  readonly #memory = new Memory();
  /** The last request of each lane. */
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #gone = new AbortController();
  #requests = 0;
  #isDraining = false;
  #drained = Promise.withResolvers<void>();

  constructor(options: ConnectionOptions, end: End) {
    this.#options = options;
    this.#end = end;
  }

  frame(text: string): void {
    const streamId = streamIdOf(text);
    try {
      if (this.#isDraining) throw stopping();
      if (this.#requests >= MOST_REQUESTS) throw tooMany();
      this.#enqueue(readAsked(text));
    } catch (thrown) {
      this.#send(errorFrame(errorOf(thrown), streamId));
    }
  }

  drained(): void {
    this.#drained.resolve();
    this.#drained = Promise.withResolvers();
  }

  closed(): void {
    this.#gone.abort(new GatewayError("cancelled", "The client closed the connection."));
    this.#drained.resolve();
    this.#options.closed();
  }

  /** Answers what was asked for, and closes the connection. */
  drain(): void {
    this.#isDraining = true;
    if (this.#requests === 0) this.#end.close(RESTART, "weir stops; connect again.");
  }

  #enqueue(asked: Asked): void {
    const lane = asked.streamId ?? "";
    this.#requests++;
    const before = this.#lanes.get(lane) ?? Promise.resolve();
    const running = before.then(() => this.#answer(asked));
    this.#lanes.set(lane, running);
    void running.then(() => {
      if (this.#lanes.get(lane) === running) this.#lanes.delete(lane);
      this.#requests--;
      if (this.#isDraining) this.drain();
    });
  }

  async #answer(asked: Asked): Promise<void> {
    const { streamId, json } = asked;
    try {
      if (this.#gone.signal.aborted) return;
      const kept = this.#memory.get(json["previous_response_id"]);
      if (asked.isWarmUp) return this.#warmUp(asked, kept);
      const answer = await this.#options.ask(bodyOf(asked, kept), this.#gone.signal);
      if (answer.status !== 200 || !answer.body) {
        const refusal = refusalOf(answer.status, answer.headers, await answer.text());
        return this.#send(errorFrame(refusal, streamId));
      }
      const warnings = answer.headers.get(WARNINGS);
      if (warnings !== null) this.#send(frameOf(warned(warnings), streamId));
      await this.#pass(answer.body, asked, kept);
    } catch (thrown) {
      if (!this.#gone.signal.aborted) this.#send(errorFrame(errorOf(thrown), streamId));
    }
  }

  async #pass(body: ReadableStream<Uint8Array>, asked: Asked, kept: Kept | undefined): Promise<void> {
    for await (const frame of readFrames(body)) {
      if (!frame.data.startsWith("{")) continue;
      // Before the client has it, and may continue it.
      if (frame.event === "response.completed") this.#keep(frame.data, asked, kept);
      this.#send(frameOf(frame, asked.streamId));
      if (isLast(frame.event)) return;
      while (this.#end.buffered > MOST_WAITING && !this.#gone.signal.aborted) await this.#drained.promise;
      if (this.#gone.signal.aborted) return;
    }
    throw new GatewayError("upstream", "The response ended without its last event.", {
      code: "upstream_incomplete",
    });
  }

  /** Remembers a response that is kept nowhere else. */
  #keep(data: string, asked: Asked, kept: Kept | undefined): void {
    if (asked.json["store"] !== false) return;
    const event = parseJson(data);
    const response = isObject(event) ? event["response"] : undefined;
    if (!isObject(response) || typeof response["id"] !== "string") return;
    const output = Array.isArray(response["output"]) ? response["output"] : [];
    // Reasoning whose content the client did not ask for is not continued by anyone.
    const items = output.filter(
      (item) => !isObject(item) || item["type"] !== "reasoning" || item["encrypted_content"],
    );
    this.#memory.add(
      response["id"],
      continued(
        asked,
        kept,
        items.map((item) => JSON.stringify(item)),
      ),
    );
  }

  /** No provider is asked, and nothing is charged. */
  #warmUp(asked: Asked, kept: Kept | undefined): void {
    const id = `resp_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#memory.add(id, continued(asked, kept, []));
    for (const frame of warmUpOf(id, asked.json["model"] ?? null)) this.#send(frameOf(frame, asked.streamId));
  }

  #send(frame: string): void {
    if (!this.#gone.signal.aborted) this.#end.send(frame);
  }
}

function continued(asked: Asked, kept: Kept | undefined, output: readonly string[]): Kept {
  const previous = asked.json["previous_response_id"];
  const before = kept ? kept.before : typeof previous === "string" ? previous : undefined;
  const items = [...(kept?.items ?? []), ...inputOf(asked), ...output];
  return { items, ...(before !== undefined && { before }) };
}

/** What got lost: a header has no place on a connection. */
function warned(warnings: string) {
  const event = "weir.warnings";
  return { event, data: JSON.stringify({ type: event, warnings }) };
}

function stopping(): GatewayError {
  return new GatewayError("overloaded", "weir stops; connect again.", { code: "shutting_down" });
}

function tooMany(): GatewayError {
  return new GatewayError(
    "rate-limited",
    `The connection has ${MOST_REQUESTS} requests that run or wait, which is the most.`,
    { code: "too_many_requests" },
  );
}
