/** What the routes of calls make of a request for those that are around calls. */
import type { Call } from "../../core/call.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import { type Arrival, Entry, type EntryOperation } from "../../gateway/seams.ts";
import type { Gateway, Incoming } from "../../gateway/types.ts";
import type { RequestBody } from "../request-body.ts";
import { withAddress } from "../url-address.ts";

/** The client's request, for what runs at calls. */
export function arrivalOf(
  http: Request,
  call: Call,
  client: ClientCodec,
  context: { address(request: Request): string },
): Arrival {
  return { call, http, client, address: () => context.address(http) };
}

export function entryOf(
  incoming: Incoming,
  operation: EntryOperation,
  arrival: Arrival,
  { registry }: Gateway,
) {
  return new Entry(incoming, { operation, registry, arrival });
}

/** A validated request as the gateway gets it. */
export function incomingOf(
  body: RequestBody,
  call: Call,
  format: Format & { client: ClientCodec },
): Incoming {
  return {
    call,
    format,
    bytes: body.bytes,
    spanOf: (name) => body.spanOf(name),
    get body() {
      return format.client.routes.address ? withAddress(body.json, call) : body.json;
    },
  };
}
