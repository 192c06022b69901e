/** The client of the admin API. Requests carry the cookie of the console. */
import { PREFIX } from "./prefix.ts";
import { signal } from "./signal.ts";

export const API = `${PREFIX}/admin/v1`;

/** Milliseconds without an answer after which a request has failed. */
const PATIENCE = 20_000;

/** An error of the admin API, or of the way to it. */
export class ApiError extends Error {
  /**
   * @param status 0 if there was no answer
   * @param code `unreachable` if there was no answer
   * @param path the part of the request that is wrong
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly path?: string,
  ) {
    super(message);
  }
}

/** The console has no cookie, or one that is not valid any more. */
export const signedOut = signal(false);
/** Changes when everything on the page has to be read again: after a sign-in, and when weir answers after a silence. */
export const anew = signal(0);
/** When weir answered last. Milliseconds since 1970; 0 before the first answer. */
export const heardAt = signal(0);
/** When requests began to go unanswered; undefined while weir answers. */
export const silentSince = signal<number | undefined>(undefined);

export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Values of a query without those that are undefined or empty. */
export function queryOf(values: Readonly<Record<string, QueryValue>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== "" && String(value) !== "") search.set(name, String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

export interface SendOptions {
  body?: unknown;
  /** Version for `If-Match`. */
  version?: string;
  /** For `Idempotency-Key`. */
  once?: string;
  signal?: AbortSignal;
  /** Milliseconds without an answer after which the request has failed. */
  patience?: number;
}

/** @param to path below `/admin/v1`, with its query @throws ApiError */
export function get<Answer>(to: string, options: { signal?: AbortSignal } = {}): Promise<Answer> {
  return send<Answer>("GET", to, options);
}

/** @param to path below `/admin/v1` @throws ApiError */
export async function send<Answer>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  to: string,
  { body, version, once, signal: stop, patience = PATIENCE }: SendOptions = {},
): Promise<Answer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (method !== "GET") headers["x-weir-console"] = "1";
  if (body !== undefined) headers["content-type"] = "application/json";
  if (version !== undefined) headers["if-match"] = version;
  if (once !== undefined) headers["idempotency-key"] = once;
  const late = AbortSignal.timeout(patience);
  const response = await fetch(API + to, {
    method,
    headers,
    signal: stop ? AbortSignal.any([stop, late]) : late,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    if (stop?.aborted) throw cause;
    silentSince.value ??= Date.now();
    throw new ApiError(0, "unreachable", "weir does not answer.");
  });
  heardAt.value = Date.now();
  if (silentSince.value !== undefined) {
    silentSince.value = undefined;
    anew.value += 1;
  }
  const text = await response.text();
  const answer = text === "" ? undefined : parse(text);
  if (!response.ok) throw errorOf(response.status, answer);
  if (!to.startsWith("/session")) signedOut.value = false;
  return answer as Answer;
}

/** The error that an answer says. @param text of the answer */
export const errorIn = (status: number, text: string): ApiError => errorOf(status, parse(text));

function errorOf(status: number, answer: unknown): ApiError {
  const error = (answer as { error?: { code?: string; message?: string; path?: string } } | undefined)?.error;
  if (status === 401) signedOut.value = true;
  return new ApiError(
    status,
    error?.code ?? "failed",
    error?.message ?? `weir answered ${status}.`,
    error?.path,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
