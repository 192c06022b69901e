/** `weir tools list|call`: what a key may use, through the running gateway as any client would. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { type Command, type Context, UsageError } from "../../../cli/command.ts";
import { listRunning } from "../../../cli/choose-running.ts";
import { table } from "../../../cli/terminal.ts";
import { VERSION } from "../../../process/version.ts";
import { visible, visibleLines, visibleName } from "../pins/visible.ts";
import { CODE } from "../wire/messages.ts";
import { headersFor, paramHeadersOf } from "../wire/param-headers.ts";
import { META, MODERN } from "../wire/revisions.ts";
import { encodeValue } from "../wire/header-values.ts";
import { lastMessage } from "./one-answer.ts";

type Run = Pick<Command, "run">;

/** Between the names of a server and its tool. */
const SEPARATOR = "__";

/** Longest description in the table. Characters. */
const MOST_TEXT = 70;

export const list: Run = {
  async run(context) {
    const {
      words: [server],
      flags,
      print,
      printError,
    } = context;
    const body = await answerOf(await ask(context, "GET", "/v1/tools"));
    const tools = listIn(body["data"]).filter((one) => server === undefined || one["server"] === server);
    for (const { server: name, reason } of listIn(body["unavailable"]))
      printError(`weir: the tools of ${visibleName(String(name))} are missing: ${visible(String(reason))}`);
    const isMissing = listIn(body["unavailable"]).some((one) => one["server"] === server);
    if (server !== undefined && tools.length === 0 && !isMissing) {
      printError(
        `weir: ${visibleName(server)} has no tools here: it is no server that this caller may use, or it has none`,
      );
      return 1;
    }
    if (flags["--json"]) print(JSON.stringify({ ...body, data: tools }, null, 2));
    else print(tools.length === 0 ? "no tools" : table([HEADS, ...tools.map(rowOf)]));
    return 0;
  },
};

const HEADS = ["TOOL", "TOKENS", "PRICE", "DESCRIPTION"];

function rowOf({ name, tokens, price, title, description }: JsonObject): string[] {
  const [line = ""] = visibleLines(String(description ?? title ?? ""));
  const text = line.length > MOST_TEXT ? `${line.slice(0, MOST_TEXT - 1)}…` : line;
  return [visibleName(String(name)), String(tokens ?? ""), price ? `$${String(price)}` : "", text];
}

export const call: Run = {
  async run(context) {
    const { flags, print, printError } = context;
    const { server, tool, text } = wordsOf(context.words);
    if (tool === "") throw new UsageError("name a tool: tools call SERVER TOOL ARGUMENTS");
    const args = parseJson(text);
    if (!isObject(args)) throw new UsageError(`the arguments must be a JSON object; ${text} is none`);
    let answer = await send(context, server, tool, args);
    // The tool wants some arguments in headers too: nothing was called.
    if (codeOf(answer.message) === CODE.headerMismatch)
      answer = await send(context, server, tool, args, await paramHeaders(context, server, tool, args));
    const { result, error } = answer.message ?? {};
    if (!isObject(result)) {
      printError(`weir: ${errorIn(error) ?? `the gateway answered with status ${answer.status}`}`);
      return 1;
    }
    print(flags["--json"] ? JSON.stringify(result, null, 2) : resultText(result));
    return result["isError"] === true || result["resultType"] === "input_required" ? 1 : 0;
  },
};

/** Also the whole name in one word, as `tools list` shows it: names of servers have no underscore. */
function wordsOf([first = "", second, third]: readonly string[]) {
  const [server = "", ...own] = first.split(SEPARATOR);
  if (own.length > 0) return { server, tool: own.join(SEPARATOR), text: second ?? "{}" };
  return { server, tool: second ?? "", text: third ?? "{}" };
}

async function send(
  context: Context,
  server: string,
  tool: string,
  args: JsonObject,
  more: Record<string, string> = {},
): Promise<{ status: number; message: JsonObject | undefined }> {
  const meta = {
    [META.version]: MODERN,
    [META.client]: { name: "weir", version: VERSION },
    [META.capabilities]: {},
  };
  const params = { name: tool, arguments: args, _meta: meta };
  const response = await ask(context, "POST", `/mcp/${encodeURIComponent(server)}`, {
    headers: {
      ...{ accept: "application/json, text/event-stream", "content-type": "application/json" },
      ...{ "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": encodeValue(tool) },
      ...more,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return { status: response.status, message: await lastMessage(response) };
}

async function paramHeaders(
  context: Context,
  server: string,
  tool: string,
  args: JsonObject,
): Promise<Record<string, string>> {
  const body = await answerOf(await ask(context, "GET", "/v1/tools"));
  const found = listIn(body["data"]).find((one) => one["name"] === `${server}__${tool}`);
  const params = paramHeadersOf(found?.["inputSchema"]);
  return typeof params === "string" ? {} : headersFor(params, args);
}

const codeOf = (message: JsonObject | undefined) =>
  isObject(message?.["error"]) ? message["error"]["code"] : undefined;

/** The texts of a result; other content by its kind. */
function resultText(result: JsonObject): string {
  if (result["resultType"] === "input_required")
    return "the tool wants an answer from the user, which this command cannot give";
  const parts = listIn(result["content"]).flatMap((part) =>
    typeof part["text"] === "string"
      ? visibleLines(part["text"])
      : [
          `(${visibleName(String(part["type"]))}${part["mimeType"] ? ` ${visibleName(String(part["mimeType"]))}` : ""})`,
        ],
  );
  if (parts.length > 0) return parts.join("\n");
  return result["structuredContent"] === undefined
    ? "(empty)"
    : visible(JSON.stringify(result["structuredContent"]));
}

async function ask(
  { flags, env }: Context,
  method: string,
  path: string,
  { headers, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Response> {
  const base = baseOf(flags, env);
  const key = typeof flags["--key"] === "string" ? flags["--key"] : keyIn(env);
  return fetch(`${base}${path}`, {
    method,
    headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    ...(body !== undefined && { body }),
    redirect: "error",
  }).catch(() => {
    throw new Error(`no gateway answers at ${base}`);
  });
}

function baseOf(flags: Context["flags"], env: Context["env"]): string {
  const { "--url": url } = flags;
  if (typeof url === "string") return url.replace(/\/+$/, "");
  const [only, ...others] = listRunning(env).filter((one) => one.port > 0);
  const usual = only && others.length === 0 ? only.port : 9347;
  const port = /^\d+$/.test(env["WEIR_PORT"] ?? "") ? env["WEIR_PORT"] : usual;
  return `http://127.0.0.1:${port}`;
}

function keyIn(env: Context["env"]): string | undefined {
  if (env["WEIR_API_KEY"]) return env["WEIR_API_KEY"];
  const first = env["WEIR_API_KEYS"]?.split(",")[0]?.trim();
  return first ? first.slice(first.indexOf(":") + 1) : undefined;
}

/** @throws Error with one sentence */
async function answerOf(response: Response): Promise<JsonObject> {
  const body = parseJson(await response.text());
  if (response.ok && isObject(body)) return body;
  const error = isObject(body) ? errorIn(body["error"]) : undefined;
  throw new Error(error ?? `the gateway answered with status ${response.status}`);
}

/** An error of JSON-RPC or of the gateway. */
function errorIn(error: unknown): string | undefined {
  if (!isObject(error) || typeof error["message"] !== "string") return undefined;
  return visible(error["message"]).replace(/\.$/, "");
}

const listIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
