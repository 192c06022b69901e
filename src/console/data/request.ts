/** A request for text: its body in each format, and the same request for a shell. */

/** Client formats that the console writes, with the path of each. */
export const FORMATS = {
  "chat-completions": "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
export type FormatName = keyof typeof FORMATS;

/** The format of a name; chat-completions for any other text. */
export function formatNamed(text = ""): FormatName {
  return Object.hasOwn(FORMATS, text) ? (text as FormatName) : "chat-completions";
}

/** The content of a request. */
export interface FormContent {
  model: string;
  format: FormatName;
  /** Empty: none. */
  system: string;
  prompt: string;
  /** Most output tokens. */
  limit: number;
  stream: boolean;
}

export type Body = Readonly<Record<string, unknown>>;

export function bodyOf({ model, format, system, prompt, limit, stream }: FormContent): Body {
  const user = { role: "user", content: prompt };
  if (format === "messages")
    return { model, max_tokens: limit, stream, ...(system && { system }), messages: [user] };
  if (format === "responses")
    return {
      model,
      max_output_tokens: limit,
      stream,
      store: false,
      ...(system && { instructions: system }),
      input: prompt,
    };
  return {
    model,
    max_completion_tokens: limit,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    messages: [...(system ? [{ role: "system", content: system }] : []), user],
  };
}

/** A longer argument is refused by Linux. Characters. */
const LONGEST_ARGUMENT = 100_000;

/** @param url `http://127.0.0.1:9347/v1/messages` @param more further headers */
export function curlOf(
  url: string,
  body: Body,
  needsKey: boolean,
  more: Readonly<Record<string, string>> = {},
): string {
  const isMessages = url.endsWith(FORMATS.messages);
  const headers = [
    "content-type: application/json",
    ...(isMessages && !("anthropic-version" in more) ? ["anthropic-version: 2023-06-01"] : []),
    ...(needsKey ? [isMessages ? "x-api-key: $WEIR_API_KEY" : "authorization: Bearer $WEIR_API_KEY"] : []),
  ];
  const json = JSON.stringify(body, null, 2);
  return [
    `curl ${body["stream"] === true ? "-N " : ""}${/^[\w:/.%-]+$/.test(url) ? url : quoted(url)}`,
    ...headers.map((header) => `  -H "${header}"`),
    ...Object.entries(more).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    json.length > LONGEST_ARGUMENT ? `  --data-binary @- <<'WEIR'\n${json}\nWEIR` : `  -d ${quoted(json)}`,
  ].join(" \\\n");
}

/** A form with its fields; a value that begins with `@` is a file. */
export function formOf(url: string, fields: Readonly<Record<string, string>>): string {
  return [
    `curl ${quoted(url)}`,
    '  -H "authorization: Bearer $WEIR_API_KEY"',
    ...Object.entries(fields).map(([name, value]) => `  -F ${quoted(`${name}=${value}`)}`),
  ].join(" \\\n");
}

/** For a shell: nothing in it is run. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
