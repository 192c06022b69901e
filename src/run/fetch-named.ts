/** Fetches what answers of providers name by an address. */
import { askPublic } from "../auth/public-request.ts";
import type { FetchNamed } from "../gateway/types.ts";

const TIMEOUT_MS = 60_000;

export const fetchNamed: FetchNamed = async (url, hosts, mostBytes) => {
  const headers = { accept: "*/*" };
  const { status, bytes } = await askPublic(url, { hosts, mostBytes, timeoutMs: TIMEOUT_MS, headers });
  // A redirect could lead to an address that is not public.
  if (status !== 200) throw new Error(`${url.host} answers with ${status}`);
  return bytes;
};
