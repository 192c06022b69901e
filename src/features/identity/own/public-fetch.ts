/** Fetches the small document by which a program describes itself. */
import { askPublic } from "../../../auth/public-request.ts";

const MOST_BYTES = 5_120;
const TIMEOUT_MS = 3_000;

export interface PublicDocument {
  readonly text: string;
  /** Seconds for which it may be kept; undefined: it does not say. */
  readonly maxAge?: number;
}

/** @param hosts that may have other addresses than public ones @throws Error with a clause */
export async function fetchPublic(url: URL, hosts: readonly string[]): Promise<PublicDocument> {
  if (!hosts.includes(url.host) && url.protocol === "https:" && url.port !== "")
    throw new Error("the address must have no port");
  const answer = await askPublic(url, { hosts, mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS });
  if (answer.status !== 200) throw new Error(`it answers ${answer.status}`);
  const type = answer.header("content-type") ?? "";
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) throw new Error("it is no application/json");
  const age = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(answer.header("cache-control") ?? "")?.[1];
  return { text: answer.text, ...(age !== undefined && { maxAge: Number(age) }) };
}
