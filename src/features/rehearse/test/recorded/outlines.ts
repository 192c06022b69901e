/** Outlines of recorded requests, for rehearsals of many calls: each request to its own model and to others. */
import { Call } from "../../../../core/call.ts";
import type { ClientCodec, Format } from "../../../../core/format.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { interactionsFormat } from "../../../../formats/gemini/interactions/index.ts";
import { CLIENT_FORMATS } from "../../../../../test/helpers/foresee.ts";
import { type Recording, recordings, vendorsOf } from "../../../../../test/helpers/recordings.ts";
import { type Outline, OutlineMaker } from "../../outline/outline.ts";

type ClientFormat = Format & { client: ClientCodec };

export const FORMATS: readonly ClientFormat[] = [...Object.values(CLIENT_FORMATS), interactionsFormat];

/** Client formats of the recordings, by their API. */
const FORMAT_OF: Readonly<Record<string, string>> = {
  chat: "chat-completions",
  messages: "messages",
  bedrock_invoke: "messages",
  responses: "responses",
  gemini: "gemini",
  gemini_interactions: "interactions",
  ollama: "ollama",
};

/** Providers of weir whose recordings have another name. */
const PROVIDER_OF: Readonly<Record<string, string>> = {
  zai: "zhipu",
  alibaba: "qwen",
  vertex: "vertex-express",
};

/** Models to which requests go besides their own: all formats of providers are among them. */
const MODELS =
  `openai/gpt-5.2 openai/gpt-4.1-mini openai/o4-mini anthropic/claude-sonnet-4-5 anthropic/claude-opus-4-6
gemini/gemini-2.5-flash gemini/gemini-3-flash-preview mistral/mistral-large-latest deepseek/deepseek-chat
groq/llama-3.3-70b-versatile xai/grok-4 openrouter/anthropic/claude-haiku-4.5 cohere/command-a-03-2025 ollama/qwen3
moonshot/kimi-k2 qwen/qwen3-max zhipu/glm-4.6 perplexity/sonar cerebras/gpt-oss-120b fireworks/kimi-k2
bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0 bedrock/us.amazon.nova-lite-v1:0 vertex-express/gemini-2.5-flash`.split(
    /\s+/,
  );

/** When the outlined calls began, for files that are the same on every day: 2026-01-01. */
const BEGAN = Date.UTC(2026, 0, 1);

export interface Recorded {
  readonly recording: Recording;
  readonly outline: Outline;
}

/** The outline of each recorded request, to its own model. @param secret decides the letters of names */
export function outlinedRecordings(secret?: bigint): Recorded[] {
  const maker = new OutlineMaker(FORMATS, secret);
  return Object.entries(FORMAT_OF).flatMap(([api, id]) =>
    vendorsOf(api).flatMap((vendor) =>
      recordings({ api, vendors: [vendor] }).flatMap((recording) => {
        const outline = outlineOf(
          recording,
          FORMATS.find((format) => format.id === id)!,
          maker,
        );
        return outline ? [{ recording, outline }] : [];
      }),
    ),
  );
}

function outlineOf(
  { id, vendor, model, stream, request }: Recording,
  format: ClientFormat,
  maker: OutlineMaker,
) {
  if (!request?.body) return undefined;
  const { anthropic_version: _version, model: named, ...rest } = request.body as JsonObject;
  const provider = PROVIDER_OF[vendor] ?? vendor;
  const asked = `${provider}/${String(named ?? model ?? "some-model")}`;
  const call = new Call(`req_${id}`, format.id, headersOf(request.headers));
  call.model = asked;
  call.stream = stream;
  const body = { ...rest, ...(named !== undefined && { model: asked }) };
  try {
    const bytes = Buffer.from(JSON.stringify(body));
    return { ...maker.of({ call, bytes, body, format }, "generate"), at: BEGAN, by: provider };
  } catch {
    return undefined;
  }
}

function headersOf(headers: Readonly<Record<string, string>>): Headers {
  const kept = Object.entries(headers).filter(
    ([, value]) => typeof value === "string" && value !== "REMOVED",
  );
  return new Headers(kept);
}

/** As many calls as asked for: each recorded request to one model after the other. Calls share the parts of their requests. */
export function* manyCalls(recorded: readonly Recorded[], count: number): Generator<Outline> {
  for (let made = 0, turn = 0; made < count; turn++)
    for (const { outline } of recorded) {
      if (made++ >= count) return;
      // The first turn has the models of the recordings.
      const model = turn === 0 ? outline.model : MODELS[(turn + made) % MODELS.length]!;
      const body = "model" in outline.body ? { ...outline.body, model } : outline.body;
      yield { ...outline, model, body, by: model.split("/")[0]!, call: `${outline.call}_${turn}` };
    }
}
