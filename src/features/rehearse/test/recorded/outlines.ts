/** Outlines of recorded requests, for rehearsals of many calls. */
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
