/** A session as pure code: which event waits for which hold, and what settles it. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../../core/error.ts";
import type { Usage } from "../../../core/events.ts";
import { LedgerRefusal } from "../../../core/refusal.ts";
import type { TurnSize } from "../../../gateway/sessions.ts";
import { Talk, type TalkOptions } from "../session/talk.ts";
import type { BookedTurn } from "../session/turns.ts";
import { typeOfClient, typeOfVendor } from "../../../kinds/realtime/events.ts";

interface Booked {
  size: TurnSize | undefined;
  end?: "complete" | "refused" | "cut";
  wasSent: boolean;
  usage?: Usage;
}

class Stage {
  readonly toClient: string[] = [];
  readonly toVendor: string[] = [];
  readonly turns: Booked[] = [];
  ended: [code: number, reason: string] | undefined;
  /** The hold of each turn waits for it. */
  gate: Promise<void> | undefined;
  refusal: GatewayError | undefined;
  readonly talk: Talk;

  constructor(more: Partial<TalkOptions> = {}) {
    const book = (size: TurnSize | undefined): BookedTurn => {
      const booked: Booked = { size, wasSent: false };
      this.turns.push(booked);
      const end = (how: NonNullable<Booked["end"]>) => {
        expect(booked.end).toBeUndefined();
        booked.end = how;
      };
      return {
        get isOver() {
          return booked.end !== undefined;
        },
        sent: () => void (booked.wasSent = true),
        began: () => void (booked.wasSent = true),
        complete: (usage) => {
          booked.usage = usage;
          end("complete");
        },
        refused: () => end("refused"),
        cut: () => end("cut"),
      };
    };
    this.talk = new Talk({
      books: {
        turn: async (size) => {
          await this.gate;
          if (this.refusal) throw this.refusal;
          return book(size);
        },
        unheld: () => book(undefined),
      },
      ends: {
        toClient: (event) => void this.toClient.push(event),
        toVendor: (event) => void this.toVendor.push(event),
        end: (code, reason) => void (this.ended = [code, reason]),
      },
      model: { asked: "openai/gpt-realtime", served: "gpt-realtime" },
      transcribes: false,
      allowsModel: () => true,
      allowsServers: true,
      ...more,
    });
  }

  async client(event: object): Promise<void> {
    await this.talk.fromClient(JSON.stringify(event));
  }

  vendor(event: object): void {
    this.talk.fromVendor(JSON.stringify(event));
  }

  get lastError(): { type: string; code: string; param: string | null; event_id: string | null } {
    return (JSON.parse(this.toClient.at(-1)!) as { error: Stage["lastError"] }).error;
  }
}

const USAGE = {
  ...{ total_tokens: 190, input_tokens: 120, output_tokens: 70 },
  input_token_details: {
    ...{ text_tokens: 40, audio_tokens: 60, image_tokens: 20, cached_tokens: 55 },
    cached_tokens_details: { text_tokens: 20, audio_tokens: 30, image_tokens: 5 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 40 },
};

function refusal(reason: "budget" | "rate"): LedgerRefusal {
  return new LedgerRefusal(reason === "budget" ? "quota" : "rate-limited", "No.", {
    reason,
    perTarget: false,
  });
}

test("an answer is held for, passed in order behind its hold, and settled by kinds of tokens", async () => {
  const stage = new Stage();
  const gate = Promise.withResolvers<void>();
  stage.gate = gate.promise;
  const asked = stage.client({ type: "response.create", response: { max_output_tokens: 300 } });
  const behind = stage.client({ type: "input_audio_buffer.clear" });
  expect(stage.toVendor).toEqual([]);
  gate.resolve();
  await Promise.all([asked, behind]);
  expect(stage.toVendor.map((event) => typeOfClient(event))).toEqual([
    "response.create",
    "input_audio_buffer.clear",
  ]);
  expect(stage.turns[0]!.size!.output).toBe(300);
  stage.vendor({ type: "response.created", response: { id: "resp_1" } });
  stage.vendor({ type: "response.done", response: { id: "resp_1", status: "completed", usage: USAGE } });
  expect(stage.turns).toMatchObject([{ end: "complete", wasSent: true }]);
  expect(stage.turns[0]!.usage).toMatchObject({
    ...{ input: 65, cacheRead: 55, cacheReadAudio: 30, audioIn: 30, imageIn: 15, output: 70, audioOut: 40 },
  });
  expect(stage.toClient).toHaveLength(2);
});

test("speech is held for before the provider answers by itself, and an answer without a hold is booked all the same", async () => {
  const stage = new Stage();
  stage.vendor({ type: "session.created", session: { max_output_tokens: 500 } });
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  expect(stage.turns).toMatchObject([{ size: { output: 500 }, wasSent: false }]);
  stage.vendor({ type: "response.created", response: { id: "a" } });
  stage.vendor({ type: "response.created", response: { id: "b" } });
  expect(stage.turns).toMatchObject([{ wasSent: true }, { size: undefined, wasSent: true }]);
  stage.vendor({ type: "response.done", response: { id: "b", usage: USAGE } });
  stage.vendor({ type: "response.done", response: { id: "a", status: "failed", usage: null } });
  expect(stage.turns).toMatchObject([{ end: "refused" }, { end: "complete" }]);
});

test("no hold is made for speech where the client asks for answers itself", async () => {
  const stage = new Stage();
  await stage.client({
    type: "session.update",
    session: { audio: { input: { turn_detection: { type: "server_vad", create_response: false } } } },
  });
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  expect(stage.turns).toEqual([]);
  await stage.client({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  expect(stage.turns).toEqual([]);
});

test("a transcription is held for and charged at its own model, by tokens or by seconds", async () => {
  const stage = new Stage({ transcribes: true });
  const transcription = { model: "whisper-1" };
  await stage.client({ type: "session.update", session: { audio: { input: { transcription } } } });
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  expect(stage.turns).toMatchObject([{ size: { model: "whisper-1", units: { second: 150 } } }]);
  const type = "conversation.item.input_audio_transcription.completed";
  stage.vendor({ type, usage: { type: "duration", seconds: 3.2 } });
  expect(stage.turns).toMatchObject([{ end: "complete", usage: { units: { second: 4 } } }]);
  stage.vendor({ type, usage: { type: "tokens", input_tokens: 9, output_tokens: 5, total_tokens: 14 } });
  expect(stage.turns[1]).toMatchObject({ end: "complete", size: undefined, usage: { input: 9, output: 5 } });
});

test("an exhausted budget is an error event, ends the session with 1008 and cancels what runs", async () => {
  const stage = new Stage();
  await stage.client({ type: "response.create" });
  stage.vendor({ type: "response.created", response: { id: "resp_1" } });
  stage.refusal = refusal("budget");
  await stage.client({ type: "response.create", event_id: "mine" });
  expect(stage.lastError).toMatchObject({
    type: "insufficient_quota",
    code: "budget_exceeded",
    event_id: "mine",
  });
  expect(stage.ended).toEqual([1008, "budget_exceeded"]);
  expect(stage.talk.cancel()).toBe(true);
  expect(JSON.parse(stage.toVendor.at(-1)!)).toEqual({ type: "response.cancel", response_id: "resp_1" });
  const told = stage.toClient.length;
  stage.vendor({ type: "response.done", response: { id: "resp_1", status: "cancelled", usage: USAGE } });
  expect(stage.turns).toMatchObject([{ end: "complete" }]);
  expect(stage.toClient).toHaveLength(told);
});

test("a rate limit refuses one answer, and the session goes on", async () => {
  const stage = new Stage();
  stage.refusal = refusal("rate");
  await stage.client({ type: "response.create" });
  expect(stage.lastError).toMatchObject({ type: "rate_limit_error" });
  expect([stage.ended, stage.toVendor]).toEqual([undefined, []]);
  stage.refusal = undefined;
  await stage.client({ type: "response.create" });
  expect(stage.toVendor).toHaveLength(1);
});

test("a provider's error for the event frees the hold, and errors for others do not", async () => {
  const stage = new Stage();
  await stage.client({ type: "response.create", event_id: "one" });
  stage.vendor({ type: "error", error: { code: "invalid_value", event_id: "other" } });
  expect(stage.turns[0]!.end).toBeUndefined();
  stage.vendor({
    type: "error",
    error: { code: "conversation_already_has_active_response", event_id: "one" },
  });
  expect(stage.turns[0]!.end).toBe("refused");
});

test("the model of a session cannot change, and is renamed for the provider", async () => {
  const stage = new Stage();
  await stage.client({ type: "session.update", session: { model: "gpt-other" } });
  expect(stage.toVendor).toEqual([]);
  expect(stage.lastError).toMatchObject({ code: "model_not_changeable", param: "session.model" });
  await stage.client({ type: "session.update", session: { model: "openai/gpt-realtime", voice: "x" } });
  expect(JSON.parse(stage.toVendor[0]!)).toMatchObject({ session: { model: "gpt-realtime", voice: "x" } });
});

test("tools of the provider need the permission of the key", async () => {
  const stage = new Stage({ allowsServers: false });
  const tools = [{ type: "mcp", server_label: "x", server_url: "https://tools.example/mcp" }];
  await stage.client({ type: "session.update", session: { tools } });
  await stage.client({ type: "response.create", response: { tools } });
  expect(stage.toVendor).toEqual([]);
  expect(stage.lastError).toMatchObject({ type: "permission_error", code: "server_tools_not_allowed" });
});

test("what runs at the end is assumed, and what was only held for is given back", async () => {
  const stage = new Stage();
  await stage.client({ type: "input_audio_buffer.append", audio: "AAAA" });
  await stage.client({ type: "response.create" });
  stage.talk.turns.end(new GatewayError("cancelled", "The client left."));
  expect(stage.turns).toMatchObject([
    { end: "cut", wasSent: false },
    { end: "cut", wasSent: true },
  ]);
});

test("a second type or an escape hides no event from weir", () => {
  const hidden = '{"type":"input_audio_buffer.append","audio":"AA","type":"response.create"}';
  expect(typeOfClient(hidden)).toBe("response.create");
  expect(typeOfClient(String.raw`{"type":"a","\u0074ype":"response.create"}`)).toBe("response.create");
  expect(typeOfClient('{"audio":"AAAA","type":"response.create"}')).toBe("response.create");
  expect(typeOfClient('{"event_id":"e","type":"response.create"}')).toBe("response.create");
  expect(typeOfClient("no event")).toBeUndefined();
  expect(typeOfVendor('{"response":{},"type":"response.done"}')).toBe("response.done");
});
