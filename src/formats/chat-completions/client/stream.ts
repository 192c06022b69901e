/** Canonical events → chunks of a streamed answer. */
import type { Call } from "../../../core/call.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeUsage } from "../usage.ts";
import { checkCalls } from "../../shared/tool-input.ts";
import { envelope, incomplete } from "./answer.ts";
import { DeltaWriter } from "./deltas.ts";

/** The order: role, deltas, one finish, usage for those who asked, `[DONE]`. @throws GatewayError on a cut answer. */
export async function* encodeStream(events: AsyncIterable<ChatEvent>, call: Call): AsyncGenerator<Frame> {
  const writer = new DeltaWriter(call);
  const includeUsage = call.request?.style.includeUsage === true;
  let chunk = new ChunkWriter("", call, includeUsage);
  for await (const event of events) {
    if (event.type === "message-start") chunk = new ChunkWriter(event.id, call, includeUsage);
    for (const delta of writer.write(event)) yield chunk.delta(delta);
    if (event.type !== "message-end") continue;
    checkCalls(writer.brokenCalls, event.reason);
    for (const delta of writer.refusal(event.reason)) yield chunk.delta(delta);
    yield chunk.finish({ ...writer.end(event.reason) });
    if (includeUsage) yield chunk.usage(encodeUsage(event.usage));
    yield { data: "[DONE]" };
    return;
  }
  throw incomplete();
}

/** Writes chunks. Their head is the same in all of them and is written once. */
class ChunkWriter {
  readonly #head: string;
  readonly #tail: string;

  constructor(id: string, call: Call, includeUsage: boolean) {
    this.#head = JSON.stringify(envelope("chat.completion.chunk", id, call)).slice(0, -1);
    this.#tail = includeUsage ? ',"usage":null}' : "}";
  }

  delta(delta: JsonObject): Frame {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":null}`;
    return { data: `${this.#head},"choices":[${choice}]${this.#tail}` };
  }

  finish(end: JsonObject): Frame {
    const choice = JSON.stringify({ index: 0, delta: {}, ...end });
    return { data: `${this.#head},"choices":[${choice}]${this.#tail}` };
  }

  usage(usage: JsonObject): Frame {
    return { data: `${this.#head},"choices":[],"usage":${JSON.stringify(usage)}}` };
  }
}
