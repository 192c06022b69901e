/** Requests to authorization servers, which servers name: within limits, and to no address of this network that is not listed. */
import { askPublic, type PublicAnswer } from "../../../auth/public-request.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { printable } from "../../../core/printable.ts";
import { AuthFault } from "./credential.ts";

const MOST_BYTES = 65_536;
const TIMEOUT_MS = 5_000;
const MOST_REDIRECTS = 3;

export interface AuthAsk {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A redirect is the answer. */
  readonly stays?: true;
}

export interface AuthAnswer {
  readonly status: number;
  /** Undefined: it is no object of JSON. */
  readonly body: JsonObject | undefined;
  header(name: string): string | undefined;
}

/** @throws AuthFault */
export type AskAuthority = (address: string, ask?: AuthAsk) => Promise<AuthAnswer>;

/** @param hosts that may have other addresses than public ones, with a port if it is not that of the scheme */
export function askingWith(hosts: readonly string[]): AskAuthority {
  return async (address, ask = {}) => {
    let url = URL.parse(address);
    for (let redirects = 0; url; redirects++) {
      const answer: PublicAnswer = await send(url, ask, hosts);
      const location = isRedirect(answer.status) ? answer.header("location") : undefined;
      if (location === undefined || ask.method === "POST" || ask.stays) return read(answer);
      const next: URL | null = URL.parse(location, url);
      if (next?.origin !== url.origin) throw new AuthFault(`${placeOf(url)} redirects to another origin`);
      if (redirects === MOST_REDIRECTS) throw new AuthFault(`${placeOf(url)} redirects too often`);
      url = next;
    }
    throw new AuthFault(`${shown(address)} is no address`);
  };
}

async function send(url: URL, ask: AuthAsk, hosts: readonly string[]): Promise<PublicAnswer> {
  if (url.username !== "" || url.password !== "") throw new AuthFault(`${placeOf(url)} has a user`);
  try {
    return await askPublic(url, { ...ask, hosts, mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    throw new AuthFault(`${placeOf(url)}: ${(cause as Error).message}`);
  }
}

function read({ status, text, header }: PublicAnswer): AuthAnswer {
  const body = parseJson(text);
  return { status, body: isObject(body) ? body : undefined, header };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Origin and path: a query may have a secret. */
function placeOf({ origin, pathname }: URL): string {
  return shown(origin + pathname);
}

/** A text of a stranger within a sentence. */
export function shown(text: unknown): string {
  return printable(String(text).slice(0, 200));
}
