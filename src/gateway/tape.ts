/** The seam for calls that are recorded on a tape, or answered from one. Without a tape no call passes it. */
import type { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { Opened } from "./lanes/lane.ts";

/** A request that weir has read and validated, before weir looks for a provider. */
export interface TapedCall {
  call: Call;
  /** `generate`, or the name of another operation in the scope `endpoints` of keys: `count`, `embeddings`. */
  operation: string;
  client: ClientCodec;
  body: JsonObject;
  formats: ReadonlyMap<string, Format>;
}

/** Records calls, or answers them in place of providers. */
export interface CallTape {
  /** It answers all calls: no provider may get a request. */
  readonly isAlone: boolean;
  /**
   * @param open finds a provider and opens its answer, as without a tape
   * @throws GatewayError what `open` throws, or `not_on_tape`
   */
  take(taped: TapedCall, open: () => Promise<Opened>): Promise<Opened>;
}

/** The parts of the gateway that a tape needs. */
export interface TapeTools {
  /** Masks the credentials of the configured providers. */
  hide(text: string): string;
  /** Patterns of the operator: what no tape may contain. */
  mask: readonly RegExp[];
  /** Patterns of the operator: what does not count when requests are compared. */
  ignore: readonly RegExp[];
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}
