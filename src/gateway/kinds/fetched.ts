/** Gets what an answer names by its address, where the client wants the content. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { KindAnswer } from "../../core/kind.ts";
import type { Gateway } from "../types.ts";
import type { IncomingKind } from "./types.ts";

/** Of one address. Bytes. */
const MOST = 64 * 1024 * 1024;

/**
 * The same answer where nothing is to be fetched.
 * @throws GatewayError for an address that is not public, does not answer, or has too much. The host of the provider may be private.
 */
export async function withFetched(
  answer: KindAnswer,
  { kind, request }: IncomingKind,
  running: Attempt,
  { fetchNamed }: Pick<Gateway, "fetchNamed">,
): Promise<KindAnswer> {
  const { fetches } = kind;
  if (!fetches || !fetchNamed) return answer;
  const { provider, url: own } = running.target;
  const hosts = URL.canParse(own) ? [new URL(own).host] : [];
  let hasFetched = false;
  const ready = await fetches.content(answer, request, async (address) => {
    hasFetched = true;
    try {
      return await fetchNamed(new URL(address), hosts, MOST);
    } catch (cause) {
      const clause = cause instanceof Error ? cause.message : "it cannot be read";
      throw new GatewayError(
        "upstream",
        `The provider ${provider.name} sent an address that weir cannot fetch: ${clause}.`,
        { code: "upstream_invalid_answer", cause },
      );
    }
  });
  if (hasFetched)
    running.reportLoss("converted", fetches.member, "weir fetched what the provider gave by its address");
  return ready;
}
