/** Real traffic of many vendors through the translation: nothing of what was said may be lost on the way. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { parseFrames } from "../../../src/stream/sse.ts";
import { checkEvents, textOf } from "../../helpers/describe-events.ts";
import {
  answerBytes,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../../helpers/recordings.ts";
import {
  client,
  clientCall,
  encode,
  messageOf,
  requestContext,
  writeAnswer,
  readFrames,
  readBody,
  stream,
  upstream,
} from "./make.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const list = recordings({ api: "chat" });
const answers = list.filter(({ response }) => response.status === 200);

/** What a recorded answer says, put together without the codec. */
interface Told {
  text: string;
  calls: { name: string; input: string }[];
}

function tell(bodies: readonly JsonObject[], streamed: boolean): Told {
  const told: Told = { text: "", calls: [] };
  const byIndex = new Map<string, Told["calls"][number]>();
  for (const { choices } of bodies) {
    for (const [place, choice] of objects(choices).entries()) {
      const said = sayingOf(choice, streamed);
      told.text += contentText(said.content);
      const legacy: JsonObject[] = isObject(said.function_call)
        ? [{ index: 0, function: said.function_call }]
        : [];
      for (const [at, call] of [...objects(said.tool_calls), ...legacy].entries()) {
        const key = `${place}:${String(call.index ?? `${at}${String(call.id)}`)}`;
        const { name, input } = callIn(call);
        const known = byIndex.get(key) ?? { name: "", input: "" };
        if (!byIndex.has(key)) {
          byIndex.set(key, known);
          told.calls.push(known);
        }
        known.name ||= name;
        known.input += input;
      }
    }
  }
  return told;
}

/** A chunk says it in its delta, an answer in its message; Perplexity has both in each. */
function sayingOf({ delta, message }: JsonObject, streamed: boolean): JsonObject {
  const [first, second] = streamed ? [delta, message] : [message, delta];
  return isObject(first) ? first : isObject(second) ? second : {};
}

function callIn(call: JsonObject): { name: string; input: string } {
  const body = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {};
  const input = body.arguments ?? body.input ?? "";
  return {
    name: typeof body.name === "string" ? body.name : "",
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objects(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

/** Bodies of a recorded answer: its chunks, or the one JSON. */
function bodiesOf(recording: Recording): JsonObject[] {
  if (recording.framing !== "sse") return [JSON.parse(answerBytes(recording).toString()) as JsonObject];
  const frames = parseFrames(answerBytes(recording)).filter(({ data }) => data.trim() !== "[DONE]");
  return frames.map(({ data }) => JSON.parse(data) as JsonObject);
}

function eventsOf(recording: Recording): ChatEvent[] {
  const call = requestContext({ provider: recording.vendor });
  const bytes = answerBytes(recording);
  if (recording.framing === "sse") return readFrames(parseFrames(bytes), call);
  return readBody(JSON.parse(bytes.toString()) as JsonObject, call);
}

/** Cut off by the limit: its last call is left out on purpose. More choices than one are never asked for in a translation. */
const isWhole = ({ tags, response }: Recording) =>
  !tags.includes("truncated") &&
  !tags.includes("n_choices") &&
  !/"native_finish_reason":\s*"(?:length|max_output_tokens)"/.test(response.body ?? "");
const hasError = (recording: Recording) => recording.tags.some((tag) => tag.startsWith("error_"));

describe.skipIf(!haveRecordings)("recorded answers", () => {
  test("each says after decoding, and to a client of this format, what it said before", () => {
    const faults: string[] = [];
    let read = 0;
    for (const recording of answers) {
      if (hasError(recording)) continue;
      read++;
      const events = eventsOf(recording);
      checkEvents(events);
      const told = tell(bodiesOf(recording), recording.framing === "sse");
      const message = messageOf(writeAnswer(events, clientCall()));
      if (textOf(events).trim() !== told.text.trim())
        faults.push(`${recording.vendor} ${recording.id}: text`);
      if (String(message.content ?? "").trim() !== told.text.trim())
        faults.push(`${recording.vendor} ${recording.id}: content`);
      const calls = objects(message.tool_calls).map(callIn);
      const named = told.calls.filter(({ name }) => name !== "");
      const same =
        calls.length === named.length &&
        calls.every(({ name, input }, at) => name === named[at]!.name && sameInput(input, named[at]!.input));
      if (isWhole(recording) && !same) faults.push(`${recording.vendor} ${recording.id}: calls`);
    }
    expect(faults).toEqual([]);
    expect(read).toBeGreaterThan(800);
  });

  test("an error with status 200, whole or in mid-stream, is an error", () => {
    const failed = answers.filter(hasError);
    expect(failed.length).toBeGreaterThan(2);
    for (const recording of failed) expect(() => eventsOf(recording)).toThrow(GatewayError);
  });
});

function sameInput(written: string, told: string): boolean {
  return written === told || JSON.stringify(parsed(written)) === JSON.stringify(parsed(told || "{}"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describe.skipIf(!haveRecordings)("recorded errors", () => {
  test("each keeps the class of its status, has a sentence and no address", () => {
    const failed = list.filter(({ response }) => response.status >= 400);
    expect(failed.length).toBeGreaterThan(30);
    for (const { response, id } of failed) {
      const error = upstream.codec.decodeError(
        response.status,
        new Headers(response.headers),
        response.body ?? "",
      );
      const ours = [401, 402, 403].includes(response.status);
      expect({ id, status: error.status }).toEqual({
        id,
        status: ours || response.status === 500 ? 502 : response.status,
      });
      expect(error.message).toMatch(/\S/);
      expect(error.message).not.toMatch(/https?:\/\/|sk-/);
    }
  });
});

describe.skipIf(!haveRecordings)("recorded requests", () => {
  const sent = list.flatMap(({ request, response, id }) =>
    request?.body && response.status === 200 ? [{ id, body: request.body as JsonObject }] : [],
  );

  test("each that a vendor took is accepted, and goes out again with every text, call and tool", () => {
    let rewritten = 0;
    for (const { body } of sent) {
      const whole = { ...body, model: "m" };
      client.request.checkRequest(whole);
      const request = client.codec.decodeRequest(whole, requestContext({ format: "chat-completions" }));
      if (["n", "logprobs", "modalities"].some((name) => body[name] != null)) continue;
      const { body: written } = encode(request, { format: "chat-completions", traits: { files: true } });
      const text = JSON.stringify(written);
      for (const said of textsOf(body.messages)) expect(text).toContain(JSON.stringify(said).slice(1, -1));
      for (const tool of [
        ...objects(body.tools),
        ...objects(body.functions).map((declared) => ({ function: declared })),
      ])
        if (isObject(tool.function)) expect(text).toContain(JSON.stringify(tool.function.name));
      rewritten++;
    }
    expect(rewritten).toBeGreaterThan(500);
  });
});

/** All texts of a conversation that say something. */
function textsOf(messages: Json | undefined): string[] {
  return objects(messages).flatMap(({ content }) => {
    const texts =
      typeof content === "string"
        ? [content]
        : objects(content).map(({ text }) => (typeof text === "string" ? text : ""));
    return texts.filter((text) => /\S/.test(text));
  });
}
