/** A provider's error that weir passes to the client unchanged, because clients match on its wording. */
import { GatewayError } from "../../core/error.ts";
import type { NativeLaneCodec, ReaderCodec } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import { headersWithoutCredential } from "../delivery/redact.ts";
import { OPERATOR_FAULT, withHint } from "./hints.ts";
import { readErrorText } from "./read-answer.ts";
import { headerFilters, type HeaderLists } from "./header-filter.ts";
import type { UpstreamResponse } from "./transport.ts";

export class PassedRefusal extends GatewayError {
  /** The provider's status. */
  readonly passedStatus: number;
  /** The provider's headers that may reach the client. */
  readonly passedHeaders: Record<string, string>;
  /** The provider's body: a JSON object as text. */
  readonly body: string;

  constructor(error: GatewayError, status: number, headers: Record<string, string>, body: string) {
    super(error.kind, error.message, { ...error, cause: error.cause });
    this.passedStatus = status;
    this.passedHeaders = headers;
    this.body = body;
  }
}

/** The functions and lists of a format or a dialect that decide what a client gets of an error. */
export interface ErrorCodec {
  address: HeaderLists;
  codec: Pick<ReaderCodec, "decodeError">;
  native: Pick<NativeLaneCodec, "isErrorBody">;
}

/**
 * The error for a failed status, for a client of the provider's own format. weir passes a body of the format's own shape on
 * unchanged. It replaces other bodies, because the client's SDK finds no message in them. If the provider refuses weir's
 * credential, the client gets a 502, because it cannot correct that.
 */
export async function passedRefusal(
  response: UpstreamResponse,
  { address, codec, native }: ErrorCodec,
  target: Target,
): Promise<GatewayError> {
  const text = await readErrorText(response, target);
  const error = withHint(codec.decodeError(response.status, response.headers, text), text, target);
  const body = parseJson(text);
  if (
    error.kind === "upstream-auth" ||
    error.code === OPERATOR_FAULT ||
    !isObject(body) ||
    native.isErrorBody?.(body) === false
  )
    return error;
  return new PassedRefusal(error, response.status, passedHeaders(address, response, target), text);
}

/** The provider's headers for the client. */
export function passedHeaders(
  address: HeaderLists,
  { headers }: UpstreamResponse,
  target: Target,
): Record<string, string> {
  return headersWithoutCredential(headerFilters(address).answer(headers), target);
}
