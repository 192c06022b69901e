/** The request of the playground: its body in each format, and the same request for a shell. */

/** Client formats of the playground, with the path of each. */
export const FORMATS = {
  "chat-completions": "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
export type FormatName = keyof typeof FORMATS;

export function isFormatName(text: string | undefined): text is FormatName {
  return text !== undefined && Object.hasOwn(FORMATS, text);
}

/** The content of the form. */
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

/** @param text JSON that a person has edited @returns one sentence if it is not an object */
export function readBody(text: string): Body | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Body;
    return "The body is not a JSON object.";
  } catch (cause) {
    return `The body is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`;
  }
}

/** @param url `http://127.0.0.1:9347/v1/messages` */
export function curlOf(url: string, body: Body, needsKey: boolean): string {
  const isMessages = url.endsWith(FORMATS.messages);
  const headers = [
    ...["content-type: application/json"],
    ...(isMessages ? ["anthropic-version: 2023-06-01"] : []),
    ...(needsKey ? [isMessages ? "x-api-key: $WEIR_API_KEY" : "authorization: Bearer $WEIR_API_KEY"] : []),
  ];
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return [
    `curl ${body["stream"] === true ? "-N " : ""}${url}`,
    ...headers.map((header) => `  -H "${header}"`),
    `  -d '${json}'`,
  ].join(" \\\n");
}

const ERRORS: Readonly<Record<number, string>> = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  409: "ConflictError",
  422: "UnprocessableEntityError",
  429: "RateLimitError",
};
/** The exception that the vendor's Python SDK raises for a status. 200: an error event within the stream. */
export function exceptionOf(format: FormatName, status: number): string {
  const [module, inStream] = format === "messages" ? ["anthropic", "APIStatusError"] : ["openai", "APIError"];
  const other = status < 400 ? inStream : status >= 500 ? "InternalServerError" : "APIStatusError";
  return `${module}.${ERRORS[status] ?? other}`;
}
