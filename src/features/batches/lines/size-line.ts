/** How large the request of a line is: the same measure as that of a call, from which its hold follows. */
import type { EmbedClient } from "../../../core/embed-dialect.ts";
import type { Format } from "../../../core/format.ts";
import { type JsonObject, parseJson } from "../../../core/json.ts";
import type { RequestSize } from "../../../core/ledger.ts";
import { sizeOf, sizeOfInputs } from "../../../gateway/request-size.ts";
import { modelIn } from "./check-line.ts";

/** @param body of a line that passed the check @throws GatewayError for a body that the format refuses */
export type SizeLine = (body: Uint8Array) => RequestSize;

/** @param endpoint of the batch: `/v1/embeddings` @throws Error for an endpoint that no format has */
export function lineSizer(formats: readonly Format[], endpoint: string): SizeLine {
  const model = modelIn(endpoint);
  const method = endpoint.slice(endpoint.lastIndexOf(":"));
  for (const { client } of formats) {
    if (!client) continue;
    const embeds = client.beside.embeds?.find(
      ({ path }) => path === endpoint || (model !== undefined && path.endsWith(method)),
    );
    if (embeds) return embedSizer(embeds, model);
    if (/embed/i.test(endpoint)) continue;
    if (client.routes.path === endpoint || client.routes.address?.modelOf(endpoint) !== undefined)
      return (body) => sizeOf({ body: jsonOf(body), format: { client } });
  }
  throw new Error(`no format has the endpoint ${endpoint}`);
}

/** @param model that the path names */
function embedSizer(embeds: EmbedClient, model: string | undefined): SizeLine {
  return (body) => {
    const json = { ...jsonOf(body), ...(model !== undefined && { model }) };
    embeds.checkRequest(json);
    return sizeOfInputs(embeds.decodeRequest(json).inputs);
  };
}

function jsonOf({ buffer, byteOffset, byteLength }: Uint8Array): JsonObject {
  return parseJson(Buffer.from(buffer, byteOffset, byteLength).toString()) as JsonObject;
}
