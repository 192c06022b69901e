/** A call as a command for the shell. The key is a variable. */
import { get } from "../../data/api.ts";
import type { CallEntry } from "../../data/types.ts";
import { type Body, bodyOf, curlOf as commandOf, FORMATS, formOf, formatNamed } from "../../data/request.ts";
import type { KeptBodies } from "./bodies.tsx";

/** Most output tokens of the command. */
const LIMIT = 1_024;

/** Requests for what is no text from a conversation, by the name that the record has as the format of the call. */
const SAMPLES: Readonly<Record<string, readonly [path: string, body: Body]>> = {
  embeddings: ["/v1/embeddings", { input: "…" }],
  completions: ["/v1/completions", { prompt: "…", max_tokens: LIMIT }],
  fim: ["/v1/fim/completions", { prompt: "…", suffix: "…", max_tokens: LIMIT }],
  rerank: ["/v1/rerank", { query: "…", documents: ["…"] }],
  moderation: ["/v1/moderations", { input: "…" }],
  decision: [
    "/v1/decisions",
    { input: "…", questions: [{ type: "predicate", name: "it", instructions: "…" }] },
  ],
  image: ["/v1/images/generations", { prompt: "…" }],
  cache: ["/v1beta/cachedContents", { contents: [{ role: "user", parts: [{ text: "…" }] }] }],
  speech: ["/v1/audio/speech", { input: "…", voice: "alloy" }],
};

/** What is asked by a form with a file. */
const FORMS: Readonly<Record<string, string>> = { transcription: "/v1/audio/transcriptions" };

/** Whether the console writes other requests of the format than those for text from a conversation. */
export function isConversation({ format }: CallEntry): boolean {
  return !Object.hasOwn(SAMPLES, format) && !Object.hasOwn(FORMS, format);
}

/** @param gateway where the gateway listens @returns the command with a body of the same kind: the prompt is not kept */
export function curlOf({ format, model, stream }: CallEntry, gateway = "http://127.0.0.1:9347"): string {
  const sample = SAMPLES[format];
  if (sample) return commandOf(gateway + sample[0], { model, ...sample[1] }, true);
  const form = FORMS[format];
  if (form !== undefined) return formOf(gateway + form, { model, file: "@speech.mp3" });
  const known = formatNamed(format);
  const body = bodyOf({ model, format: known, system: "", prompt: "…", limit: LIMIT, stream });
  return commandOf(gateway + FORMATS[known], body, true);
}

/**
 * The command with what the client sent, if that is kept whole.
 * @returns with what the operator should know of it
 * @throws ApiError
 */
export async function keptCurl(
  call: CallEntry,
  gateway = "http://127.0.0.1:9347",
): Promise<{ command: string; note?: string }> {
  const { request, cut, replaced, asked } = await get<KeptBodies>(
    `/calls/${encodeURIComponent(call.id)}/body`,
  );
  if (cut?.includes("request"))
    return { command: curlOf(call, gateway), note: "without its body, of which only the beginning is kept" };
  if (Object.hasOwn(FORMS, call.format))
    return { command: curlOf(call, gateway), note: "without its file, which is not kept" };
  const body = JSON.parse(request) as Body;
  const command = commandOf(gateway + pathOf(call), body, true, asked);
  return replaced ? { command, note: "with what weir masked or shortened in it" } : { command };
}

/** Formats that the console does not write. */
function pathOf({ format, model, stream }: CallEntry): string {
  if (format === "gemini")
    return `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
  if (format === "ollama") return "/api/chat";
  return FORMS[format] ?? SAMPLES[format]?.[0] ?? FORMATS[formatNamed(format)];
}
