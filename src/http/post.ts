/** One HTTP POST to an address of the operator, with a time limit. */

/** `ok`: the receiver has it. `retry`: it may take it later. `refused`: it never will. */
export interface SendResult {
  kind: "ok" | "retry" | "refused";
  /** Why, as a clause; absent with `ok`. */
  why?: string;
  /** Milliseconds that the receiver asks to wait. */
  afterMs?: number;
  /** The beginning of the answer's body. */
  text: string;
}

export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer>,
) => Promise<SendResult>;

const TIMEOUT_MS = 10_000;
const MAX_TEXT = 2_000;
/** Beyond it the receiver's wish is not followed. */
const MAX_PAUSE_MS = 300_000;
const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Never throws. Follows no redirect: the address is a secret of the operator, and so are the headers. */
export const post: Post = async (url, headers, body) => {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = (await response.text()).slice(0, MAX_TEXT);
    if (response.ok) return { kind: "ok", text };
    const kind = TEMPORARY.has(response.status) ? "retry" : "refused";
    const afterMs = pauseOf(response.headers.get("retry-after"));
    return { kind, why: `it answers ${response.status}`, text, ...(afterMs !== undefined && { afterMs }) };
  } catch (cause) {
    return { kind: "retry", why: describe(cause), text: "" };
  }
};

/** The text of a failed `fetch` may contain the address. */
function describe(cause: unknown): string {
  const { name, code } = cause as { name?: string; code?: unknown };
  if (name === "TimeoutError") return `it does not answer within ${TIMEOUT_MS / 1000} s`;
  return `it cannot be reached${typeof code === "string" ? ` (${code})` : ""}`;
}

function pauseOf(header: string | null): number | undefined {
  const seconds = header === null || header.trim() === "" ? NaN : Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_PAUSE_MS) : undefined;
}

/** The origin of an address for people: the rest may contain a credential. */
export function placeOf(url: string): string {
  return URL.parse(url)?.origin ?? "its address";
}
