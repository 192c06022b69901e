/**
 * The requests that may be refused with 400 instead of translated: the field that is named has to be there, with a value
 * that cannot be carried.
 */
import type { Api } from "./policy.ts";
import { traitsOf } from "./vendors.ts";

interface Refusal {
  /** Over the field the answer names. */
  field: RegExp;
  reason: string;
  /** Whether the value of the field is one that cannot be carried. */
  cannot(value: unknown, body: Record<string, unknown>): boolean;
}

const SAMPLING: Refusal = {
  field: /^temperature$/,
  reason: "temperature is a number from 0 to 2",
  cannot: (value) => typeof value !== "number" || value < 0 || value > 2,
};

/** Office files, as a data URI or as bare base64: a ZIP archive. */
const OFFICE = /"data:application\/vnd\.openxmlformats|"UEsDB/;

const REFUSALS: Record<Api, readonly Refusal[]> = {
  chat: [
    SAMPLING,
    { field: /^n$/, reason: "several choices", cannot: (value) => Number(value) > 1 },
    {
      field: /^(top_)?logprobs$/,
      reason: "logprobs",
      cannot: (value) => value === true || Number(value) > 0,
    },
    {
      field: /^(modalities|audio)$/,
      reason: "audio in the answer",
      cannot: (value) => JSON.stringify(value).includes("audio"),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "audio",
      cannot: (value) => isPart(value, "input_audio"),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a file that lies at the other vendor",
      cannot: (value) => isPart(value, "file") && "file_id" in value.file,
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "an image at an address that is not public https",
      cannot: (value) =>
        isPart(value, "image_url") && !/^(https:\/\/[^/]*\.|data:)/.test(String(value.image_url["url"])),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a video, which the other format has no part for",
      cannot: (value) => isPart(value, "video_url"),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a document of a type the other format does not take",
      cannot: (value) =>
        ["document_url", "file_url"].some(
          (type) => isPart(value, type) && OFFICE.test(JSON.stringify(value)),
        ),
    },
    { field: /^web_search_options$/, reason: "the vendor's own search", cannot: isThere },
  ],
  messages: [
    SAMPLING,
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a file for the vendor's own container",
      cannot: (value) => withResults(value).some((block) => isPart(block, "container_upload")),
    },
    {
      field: /^(container|mcp_servers|thread|compaction|fallbacks)$/,
      reason: "state at the vendor",
      cannot: isThere,
    },
    {
      field: /^tools\[\d+\]$/,
      reason: "a server tool is the only tool",
      cannot: (_, body) =>
        (body["tools"] as unknown[]).every((tool) => /^web_/.test(String(objectOf(tool)["type"]))),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a file that lies at the other vendor",
      cannot: (value) => withResults(value).some((block) => sourceOf(block)["type"] === "file"),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a file at a provider that takes none",
      cannot: (value, body) =>
        traitsOf(String(body["model"])).files !== true &&
        withResults(value).some((block) => isPart(block, "document") && sourceOf(block)["type"] === "base64"),
    },
    {
      field: /^messages\[\d+\]\.content\[\d+\]/,
      reason: "a document at an address",
      cannot: (value) =>
        withResults(value).some((block) => isPart(block, "document") && sourceOf(block)["type"] === "url"),
    },
  ],
};

/** Why a request whose refusal names this field may be refused; `undefined`: it may not. */
export function refusalReason(api: Api, field: string, body: Record<string, unknown>): string | undefined {
  const value = valueAt(body, field);
  return REFUSALS[api].find((each) => each.field.test(field) && each.cannot(value, body))?.reason;
}

/** The value at a path as answers name it: `messages[2].content[0]`. */
function valueAt(body: unknown, path: string): unknown {
  const names = path.split(/[.[\]]+/).filter((name) => name !== "");
  return names.reduce<unknown>((at, name) => objectOf(at)[name], body);
}

function isPart<Type extends string>(
  value: unknown,
  type: Type,
): value is { type: Type } & Record<Type, Record<string, unknown>> {
  return objectOf(value)["type"] === type;
}

/** A block, and what is in it when it is a tool result. */
function withResults(block: unknown): unknown[] {
  const inside = objectOf(block)["content"];
  return [block, ...(Array.isArray(inside) ? inside : [])];
}

function sourceOf(value: unknown): Record<string, unknown> {
  return objectOf(objectOf(value)["source"]);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
