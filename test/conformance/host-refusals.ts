/** What may be refused with 400 instead of carried to or from the formats of Google and Amazon. */
import type { JsonObject } from "../../src/core/json.ts";
import type { Client } from "./clients.ts";
import { either } from "./gemini-pieces.ts";
import type { UpstreamApi } from "./host-requests.ts";
import { refusalReason } from "./refusals.ts";
import { responsesRefusal } from "./responses-requests.ts";
import { listOf, objectOf, type Value } from "./said.ts";

interface Refusal {
  /** Over the field that the answer names. */
  field: RegExp;
  reason: string;
  /** Over the JSON of the request: without what it describes there is nothing to refuse. */
  about: RegExp;
}

const CONTENT = /^(messages|input|contents|systemInstruction)/;

const ADDRESS = /"(https?|gs|s3):\/\/|"file:/;

/** By the upstream. */
const BY_UPSTREAM: Readonly<Record<UpstreamApi, readonly Refusal[]>> = {
  chat: [],
  messages: [],
  gemini: [
    {
      field: CONTENT,
      reason: "media at an address, which Google does not fetch",
      about: ADDRESS,
    },
    { field: CONTENT, reason: "an image of a type that Google does not take", about: /image\/gif|R0lGOD/ },
  ],
  bedrock: [
    {
      field: CONTENT,
      reason: "media at an address, which Bedrock does not fetch",
      about: ADDRESS,
    },
    { field: CONTENT, reason: "audio, which the models do not take", about: /input_audio|audio\// },
  ],
};

/** Of Gemini clients. */
const OF_GEMINI: readonly Refusal[] = [
  { field: /cached_?content/i, reason: "a cache that lies at Google", about: /"cached_?[cC]ontent"/ },
  { field: CONTENT, reason: "a file that lies at Google", about: /"file_?[uU]ri"/ },
  { field: CONTENT, reason: "audio or video", about: /"(audio|video)\// },
  {
    field: CONTENT,
    reason: "a document of a type the other format does not take",
    about: /"(application|text)\//,
  },
  { field: /candidate_?count/i, reason: "several choices", about: /"candidate_?[cC]ount":\s*[2-9]/ },
  { field: /response_?modalities/i, reason: "an image or audio in the answer", about: /"(IMAGE|AUDIO)"/i },
  { field: /logprobs/i, reason: "logprobs", about: /logprobs/i },
];

/** Why a request whose refusal names this field may be refused; `undefined`: it may not. */
export function hostRefusal(
  client: Client,
  upstreamApi: UpstreamApi,
  field: string,
  body: Value,
): string | undefined {
  const text = JSON.stringify(body);
  const known = [...BY_UPSTREAM[upstreamApi], ...(client === "gemini" ? OF_GEMINI : [])];
  const found = known.find((each) => each.field.test(field) && each.about.test(text));
  if (found) return found.reason;
  if (client === "responses") return responsesRefusal(field, body as JsonObject);
  if (client !== "gemini") return refusalReason(client, field, body);
  return /^tools|^tool_?config/i.test(field) && hasOnlyHosted(body)
    ? "only tools that Google runs itself"
    : undefined;
}

function hasOnlyHosted({ tools }: Value): boolean {
  const all = Array.isArray(tools) ? listOf(tools) : [objectOf(tools)];
  return all.every((tool) => either(tool, "functionDeclarations") === undefined);
}
