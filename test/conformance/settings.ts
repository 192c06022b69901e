/** The wishes of a request beside its content, as both formats write them (E.1.1, E.2.1); `undefined` when unsaid. */
import type { Api } from "./policy.ts";

type Value = Record<string, unknown>;

interface Setting {
  name: string;
  read: Record<Api, (body: Value) => unknown>;
  /** Fields under which a loss excuses a difference. */
  fields: RegExp;
}

const SETTINGS: readonly Setting[] = [
  {
    name: "output limit",
    read: {
      chat: (body) => body["max_completion_tokens"] ?? body["max_tokens"],
      messages: (body) => body["max_tokens"],
    },
    fields: /^max_/,
  },
  {
    name: "temperature",
    read: { chat: (body) => body["temperature"], messages: (body) => body["temperature"] },
    fields: /^temperature/,
  },
  {
    name: "stop sequences",
    read: {
      chat: (body) => listed(body["stop"]),
      messages: (body) => listed(body["stop_sequences"]),
    },
    fields: /^stop/,
  },
  {
    name: "answer format",
    read: {
      chat: (body) => objectOf(body["response_format"])["type"] === "json_schema" || undefined,
      messages: (body) =>
        objectOf(objectOf(body["output_config"])["format"] ?? body["output_format"])["type"] ===
          "json_schema" || undefined,
    },
    fields: /^(response_format|output_)/,
  },
  {
    name: "forced tools",
    read: {
      chat: ({ tool_choice: choice }) =>
        choice === "required" ? "any" : chosen(objectOf(choice)["function"]),
      messages: ({ tool_choice: choice }) => (objectOf(choice)["type"] === "any" ? "any" : chosen(choice)),
    },
    fields: /^(tool_choice|function_call|tools)/,
  },
];

/** Wishes that reach the upstream otherwise than they were said, and of which no loss tells. */
export function changedSettings(api: Api, sent: Value, reached: Value, losses: readonly string[]): string[] {
  const other = api === "chat" ? "messages" : "chat";
  return SETTINGS.filter(({ read, fields }) => {
    const wish = read[api](sent) ?? undefined;
    const isSame = JSON.stringify(wish) === JSON.stringify(read[other](reached));
    return wish !== undefined && !isSame && !losses.some((path) => fields.test(path));
  }).map(({ name, read }) => {
    const [wish, got] = [read[api](sent), read[other](reached)];
    return `${name}: ${JSON.stringify(wish)} became ${JSON.stringify(got)} without a word`;
  });
}

function chosen(tool: unknown): unknown {
  return objectOf(tool)["name"];
}

function listed(stop: unknown): unknown[] | undefined {
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) && stop.length > 0 ? stop : undefined;
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
