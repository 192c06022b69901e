/** A vendor of sessions for tests: it has a script, and keeps the bytes that it got, and its own bill. */
import type { Server, ServerWebSocket } from "bun";

export interface VendorUsage {
  text: number;
  audio: number;
  image: number;
  cachedText: number;
  cachedAudio: number;
  outText: number;
  outAudio: number;
}

/** Pico-dollars a token, as gpt-realtime has them. */
const PRICES: Readonly<Record<keyof VendorUsage, bigint>> = {
  ...{ text: 4_000_000n, audio: 32_000_000n, image: 5_000_000n },
  ...{ cachedText: 400_000n, cachedAudio: 400_000n, outText: 16_000_000n, outAudio: 64_000_000n },
};

export interface VendorSession {
  /** Path and query with which it was opened, and its headers. */
  url: string;
  headers: Headers;
  /** Frames as they came. */
  got: string[];
  send(frame: string): void;
  close(code?: number, reason?: string): void;
  /** Bytes that weir has not taken. */
  waiting(): number;
  closed?: [code: number, reason: string];
}

export interface Vendor {
  url: string;
  sessions: VendorSession[];
  /** Of all answers, in nano-dollars, each rounded as weir rounds. */
  bill: number;
  /** Answers a frame in place of the usual answers. @returns whether it did */
  script: ((event: Record<string, unknown>, session: VendorSession) => boolean) | undefined;
  /** Status in place of a session. */
  refuses: number | undefined;
  answer(session: VendorSession, id: string, usage: VendorUsage): void;
  stop(): void;
}

export function startVendor(): Vendor {
  let responses = 0;
  const vendor: Vendor = {
    ...{ url: "", sessions: [], bill: 0, script: undefined, refuses: undefined },
    answer(session, id, usage) {
      session.send(
        JSON.stringify({
          type: "response.done",
          response: { id, status: "completed", usage: wireOf(usage) },
        }),
      );
      vendor.bill += nanoOf(usage);
    },
    stop: () => void server.stop(true),
  };
  const server: Server<{ session: VendorSession }> = Bun.serve<{ session: VendorSession }>({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, own) {
      if (vendor.refuses !== undefined)
        return Response.json(
          { error: { message: "the vendor's own words", type: "x" } },
          { status: vendor.refuses, headers: { "retry-after": "7" } },
        );
      const url = new URL(request.url);
      const session = {
        url: url.pathname + url.search,
        headers: request.headers,
        got: [],
      } as unknown as VendorSession;
      return own.upgrade(request, { data: { session } }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      maxPayloadLength: 32 * 1_048_576,
      backpressureLimit: 256 * 1_048_576,
      open(socket: ServerWebSocket<{ session: VendorSession }>) {
        const { session } = socket.data;
        session.send = (frame) => void socket.send(frame);
        session.waiting = () => socket.getBufferedAmount();
        session.close = (code, reason) => socket.close(code, reason);
        vendor.sessions.push(session);
        session.send(
          JSON.stringify({
            type: "session.created",
            event_id: "e0",
            session: { type: "realtime", max_output_tokens: 200 },
          }),
        );
      },
      message(socket, frame) {
        const { session } = socket.data;
        const text = String(frame);
        session.got.push(text);
        const event = JSON.parse(text) as Record<string, unknown>;
        if (vendor.script?.(event, session)) return;
        if (event["type"] !== "response.create") return;
        const id = `resp_${++responses}`;
        session.send(JSON.stringify({ type: "response.created", response: { id } }));
        session.send(JSON.stringify({ type: "response.output_audio.delta", response_id: id, delta: "AAAA" }));
        vendor.answer(session, id, usageNumber(responses));
      },
      close(socket, code, reason) {
        socket.data.session.closed = [code, reason];
      },
    },
  });
  vendor.url = `http://127.0.0.1:${server.port}`;
  return vendor;
}

/** Counts that differ from answer to answer, with parts from the cache. */
function usageNumber(number: number): VendorUsage {
  return {
    ...{ text: 11 * number, audio: 37 + 3 * number, image: number % 3 },
    ...{ cachedText: 64 * (number % 5), cachedAudio: 128 * (number % 4) },
    ...{ outText: 7 + (number % 11), outAudio: 23 * (number % 7) },
  };
}

function wireOf({ text, audio, image, cachedText, cachedAudio, outText, outAudio }: VendorUsage): object {
  const cached = cachedText + cachedAudio;
  const input = text + audio + image + cached;
  return {
    ...{ input_tokens: input, output_tokens: outText + outAudio, total_tokens: input + outText + outAudio },
    input_token_details: {
      ...{ text_tokens: text + cachedText, audio_tokens: audio + cachedAudio, image_tokens: image },
      cached_tokens: cached,
      cached_tokens_details: { text_tokens: cachedText, audio_tokens: cachedAudio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: outText, audio_tokens: outAudio },
  };
}

function nanoOf(usage: VendorUsage): number {
  const names = Object.keys(PRICES) as (keyof VendorUsage)[];
  const pico = names.reduce((sum, name) => sum + BigInt(usage[name]) * PRICES[name], 0n);
  return Number((pico + 500n) / 1000n);
}
