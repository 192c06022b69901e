/** Sessions of `mock/realtime`: it repeats what was said last. Equal events get equal answers. */
import type { CallView, RealtimePeer, RealtimeSession } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

type Event = { readonly type?: unknown } & Readonly<Record<string, unknown>>;

/** Bytes of 16-bit samples at 24 kHz for one token of a user's audio, and of the model's. */
const HEARD_BYTES = 4_800;
const SPOKEN_BYTES = 2_400;
const BASE64_BYTES = 3 / 4;

/** `mock/realtime` talks; the models that fail, fail when a session is opened. */
export async function realtime(peer: RealtimePeer, call: CallView): Promise<RealtimeSession> {
  await behaveFor(peer.model, call);
  const session = new MockSession(peer);
  // The program has no session before it returns one.
  queueMicrotask(() => session.open());
  return session;
}

class MockSession implements RealtimeSession {
  readonly #peer: RealtimePeer;
  #session: Record<string, unknown>;
  #events = 0;
  #items = 0;
  #responses = 0;
  /** Tokens of the conversation so far, and those that the last response has read. */
  #text = 0;
  #audio = 0;
  #cached = { text: 0, audio: 0 };
  #last = "";
  /** Base64 of the audio that is not committed. Characters. */
  #buffered = 0;
  #isSpeech = false;
  #isClosed = false;

  constructor(peer: RealtimePeer) {
    this.#peer = peer;
    this.#session = {
      ...{ type: "realtime", object: "realtime.session", id: "sess_mock", model: peer.model },
      ...{ output_modalities: ["audio"], instructions: "", tools: [], tool_choice: "auto" },
      max_output_tokens: "inf",
      audio: {
        input: {
          format: { type: "audio/pcm", rate: 24_000 },
          transcription: null,
          turn_detection: { type: "server_vad", create_response: true },
        },
        output: { format: { type: "audio/pcm", rate: 24_000 }, voice: "alloy", speed: 1 },
      },
    };
  }

  open(): void {
    this.#send("session.created", { session: this.#session });
  }

  receive(text: string): void {
    const event = JSON.parse(text) as Event;
    switch (event.type) {
      case "session.update":
        this.#session = merged(this.#session, event["session"] as Record<string, unknown>);
        return this.#send("session.updated", { session: this.#session });
      case "conversation.item.create":
        return this.#item(event["item"] as Record<string, unknown>);
      case "input_audio_buffer.append":
        return this.#hear(String(event["audio"]));
      case "input_audio_buffer.clear":
        this.#buffered = 0;
        return this.#send("input_audio_buffer.cleared", {});
      case "input_audio_buffer.commit":
        return this.#commit();
      case "response.create":
        return this.#respond((event["response"] ?? {}) as Record<string, unknown>);
      case "response.cancel":
        return this.#fault(
          "response_cancel_not_active",
          "Cancellation failed: no active response found",
          event,
        );
      default:
        return this.#fault("invalid_value", `Invalid value: '${String(event.type)}'.`, event);
    }
  }

  closed(): void {
    this.#isClosed = true;
  }

  #send(type: string, event: object): void {
    if (!this.#isClosed)
      this.#peer.send(JSON.stringify({ type, event_id: `event_${++this.#events}`, ...event }));
  }

  #fault(code: string, message: string, { event_id }: Event): void {
    this.#send("error", {
      error: { type: "invalid_request_error", code, message, param: null, event_id: event_id ?? null },
    });
  }

  #item(item: Record<string, unknown>): void {
    const made = { id: `item_${++this.#items}`, object: "realtime.item", status: "completed", ...item };
    const said = textsOf(item);
    this.#text += countTokens(said);
    if (item["role"] === "user") this.#last = said;
    this.#send("conversation.item.added", { previous_item_id: null, item: made });
    this.#send("conversation.item.done", { previous_item_id: null, item: made });
  }

  /** Speech ends with silence, which is zeros. */
  #hear(base64: string): void {
    const isSilent = /^A*=*$/.test(base64);
    this.#buffered += base64.length;
    if (!isSilent && !this.#isSpeech && this.#detects) {
      this.#isSpeech = true;
      this.#send("input_audio_buffer.speech_started", { audio_start_ms: 0, item_id: this.#nextItem });
    }
    if (!isSilent || !this.#isSpeech) return;
    this.#isSpeech = false;
    this.#send("input_audio_buffer.speech_stopped", { audio_end_ms: 0, item_id: this.#nextItem });
    this.#commit();
    if (this.#detection["create_response"] !== false) this.#respond({});
  }

  #commit(): void {
    const tokens = Math.ceil((this.#buffered * BASE64_BYTES) / HEARD_BYTES);
    this.#buffered = 0;
    this.#audio += tokens;
    this.#last = `${tokens} tokens of audio`;
    const id = `item_${++this.#items}`;
    this.#send("input_audio_buffer.committed", { previous_item_id: null, item_id: id });
    const model = this.#input["transcription"] as { model?: string } | null | undefined;
    if (!model) return;
    this.#send("conversation.item.input_audio_transcription.completed", {
      ...{ item_id: id, content_index: 0, transcript: this.#last },
      usage: usageOf(
        { audio: tokens, text: 0 },
        { audio: 0, text: 0 },
        { text: countTokens(this.#last), audio: 0 },
      ),
    });
  }

  #respond(asked: Record<string, unknown>): void {
    const modalities = (asked["output_modalities"] ?? this.#session["output_modalities"]) as string[];
    const limit = asked["max_output_tokens"] ?? this.#session["max_output_tokens"];
    const most = typeof limit === "number" ? limit : 4_096;
    const words = `You said: ${this.#last}`.split(/(?<= )/).slice(0, most);
    const speaks = modalities.includes("audio");
    const response = {
      object: "realtime.response",
      id: `resp_${++this.#responses}`,
      output_modalities: modalities,
    };
    const at = {
      response_id: response.id,
      item_id: `item_${++this.#items}`,
      output_index: 0,
      content_index: 0,
    };
    this.#send("response.created", {
      response: { ...response, status: "in_progress", output: [], usage: null },
    });
    for (const word of words) {
      this.#send(speaks ? "response.output_audio_transcript.delta" : "response.output_text.delta", {
        ...at,
        delta: word,
      });
      if (speaks) this.#send("response.output_audio.delta", { ...at, delta: TONE });
    }
    const said = words.join("");
    this.#send(speaks ? "response.output_audio.done" : "response.output_text.done", {
      ...at,
      ...(!speaks && { text: said }),
    });
    const spoken = speaks ? Math.min(words.length, most) : 0;
    const output = { text: Math.min(countTokens(said), most - spoken), audio: spoken };
    const usage = usageOf({ text: this.#text, audio: this.#audio }, this.#cached, output);
    this.#cached = { text: this.#text, audio: this.#audio };
    this.#text += output.text;
    this.#audio += output.audio;
    const content = [
      speaks ? { type: "output_audio", transcript: said } : { type: "output_text", text: said },
    ];
    const item = { id: at.item_id, type: "message", role: "assistant", status: "completed", content };
    this.#send("response.done", { response: { ...response, status: "completed", output: [item], usage } });
  }

  get #nextItem(): string {
    return `item_${this.#items + 1}`;
  }

  get #input(): Record<string, unknown> {
    return ((this.#session["audio"] as Record<string, unknown>)["input"] ?? {}) as Record<string, unknown>;
  }

  get #detection(): Record<string, unknown> {
    return (this.#input["turn_detection"] ?? {}) as Record<string, unknown>;
  }

  get #detects(): boolean {
    return this.#input["turn_detection"] !== null;
  }
}

/** A token of silence. */
const TONE = Buffer.alloc(SPOKEN_BYTES).toString("base64");

interface Tokens {
  text: number;
  audio: number;
}

function usageOf(input: Tokens, cached: Tokens, output: Tokens): object {
  return {
    total_tokens: input.text + input.audio + output.text + output.audio,
    input_tokens: input.text + input.audio,
    output_tokens: output.text + output.audio,
    input_token_details: {
      ...{ text_tokens: input.text, audio_tokens: input.audio, image_tokens: 0 },
      cached_tokens: cached.text + cached.audio,
      cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
}

function textsOf(item: Record<string, unknown>): string {
  const parts = (item["content"] ?? []) as { text?: string; transcript?: string }[];
  return [...parts.map(({ text, transcript }) => text ?? transcript ?? ""), item["output"] ?? ""].join("");
}

/** Objects merge, all else replaces. */
function merged(into: Record<string, unknown>, from: Record<string, unknown>): Record<string, unknown> {
  const isGroup = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = Object.entries(from).map(([name, value]) => [
    name,
    isGroup(value) && isGroup(into[name])
      ? merged(into[name] as Record<string, unknown>, value as Record<string, unknown>)
      : value,
  ]);
  return { ...into, ...(Object.fromEntries(entries) as Record<string, unknown>) };
}
