/** The vendors' own SDKs, pointed at a gateway or straight at a fake upstream, without retries. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

export interface ClientOptions {
  apiKey?: string;
  /** Milliseconds to the response head. */
  timeout?: number;
  maxRetries?: number;
  fetch?: typeof fetch;
  headers?: Record<string, string>;
}

const NO_KEY = "none-needed";

/** A test prints what it has to say; the SDKs' own warnings about models and garbage are not part of it. */
const QUIET = { logLevel: "off" } as const;

export function openaiClient(url: string, options: ClientOptions = {}): OpenAI {
  const { apiKey = NO_KEY, headers, ...rest } = options;
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey,
    maxRetries: 0,
    timeout: 60_000,
    defaultHeaders: headers,
    ...QUIET,
    ...rest,
  });
}

export function anthropicClient(url: string, options: ClientOptions = {}): Anthropic {
  const { apiKey = NO_KEY, headers, ...rest } = options;
  return new Anthropic({
    baseURL: url,
    apiKey,
    maxRetries: 0,
    timeout: 60_000,
    defaultHeaders: headers,
    ...QUIET,
    ...rest,
  });
}

/** Everything an SDK's error shows of itself. */
export interface SeenError {
  class: string;
  status: number | undefined;
  message: string;
  code: unknown;
  type: unknown;
  param: unknown;
  requestId: unknown;
}

/** What an SDK made of a call: its result, or the error it threw. */
export type Seen<Value> = { value: Value } | { error: SeenError };

/** Runs an SDK call and describes how it went. */
export async function see<Value>(call: () => Promise<Value>): Promise<Seen<Value>> {
  try {
    return { value: await call() };
  } catch (thrown) {
    return { error: describe(thrown) };
  }
}

/** The error of a call that must fail. @throws when it does not. */
export async function seeError(call: () => Promise<unknown>): Promise<SeenError> {
  const seen = await see(call);
  if ("error" in seen) return seen.error;
  throw new Error(`The call went well, with ${JSON.stringify(seen.value)?.slice(0, 500)}`);
}

function describe(thrown: unknown): SeenError {
  const error = thrown as Error & Record<string, unknown>;
  return {
    class: error.constructor.name,
    status: error["status"] as number | undefined,
    message: error.message,
    code: error["code"],
    type: error["type"],
    param: error["param"],
    requestId: error["requestID"],
  };
}

/** All items of a stream. */
export async function collect<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
