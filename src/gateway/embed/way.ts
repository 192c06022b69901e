/** How an attempt gets its vectors: by the client's own bytes, in parts, or from a program. */
import type { Attempt } from "../../core/call.ts";
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { EmbedEndpoint } from "../../core/embed.ts";
import { invalidRequest } from "../../core/error.ts";
import { ownNamesOf } from "../../core/model-pattern.ts";
import { embedEndpoint, maxInputsOf } from "../routing/embed-target.ts";
import type { Registry } from "../routing/registry.ts";
import type { IncomingEmbed } from "./types.ts";

/** A host that is asked. */
export interface Way {
  dialect: EmbedDialect;
  endpoint: EmbedEndpoint;
  /** Most inputs of one request. */
  size: number;
  /** The host gets the client's bytes. */
  isNative: boolean;
}

/**
 * The way to the host of an attempt; `undefined` if its provider is a program.
 * @throws GatewayError `invalid-request` for token ids if the host takes only texts
 */
export function wayOf(
  incoming: IncomingEmbed,
  { target }: Attempt,
  { dialects }: Pick<Registry, "dialects">,
): Way | undefined {
  const { request } = incoming;
  const dialect = dialects.get(target.format);
  if (!dialect) return undefined;
  const endpoint = embedEndpoint(target.provider, target.format);
  const size = maxInputsOf(endpoint, ownNamesOf(target.provider.name, target.model)) ?? dialect.maxInputs;
  if (!(endpoint.tokenIds ?? dialect.tokenIds)) refuseTokenIds(incoming, target.provider.name);
  const isNative =
    target.lane === "native" &&
    request.inputs.length <= size &&
    dialect.native?.fits(request, endpoint) === true;
  return { dialect, endpoint, size, isNative };
}

function refuseTokenIds({ request }: IncomingEmbed, provider: string): void {
  const place = request.inputs.findIndex((input) => typeof input !== "string");
  if (place < 0) return;
  throw invalidRequest(
    `The provider ${provider} embeds texts and takes no token ids; send the text.`,
    request.pathOf(place),
    "unsupported_value",
  );
}
