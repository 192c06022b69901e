/** The call and the attempt that a codec translates for, as far as it may know them. */
import type { ChatRequest } from "./chat.ts";
import type { HeaderReader } from "./headers.ts";
import type { LossCode } from "./loss.ts";
import type { MaxTokensField, Traits } from "./provider.ts";

export interface CodecContext {
  /** `req_…`; ids of an answer derive from it. */
  readonly id: string;
  /** When the call began. Milliseconds of the monotonic clock (`performance.now()`). */
  readonly startedAt: number;
  /** The model name as the client sent it. */
  readonly model: string;
  /** The client's request headers, without its credentials. */
  readonly headers: HeaderReader;
  /** The client speaks the provider's format. */
  readonly sameFormat: boolean;
  readonly target: CodecTarget;
  /** weir stores the answer for its client. */
  readonly storesAnswer?: boolean;
  /** Id of the conversation at weir that the answer belongs to; null: it could not be extended. */
  readonly conversation?: string | null;
  /** The decoded canonical request; absent in the native lane. */
  readonly request?: ChatRequest;
  /** Tool names as sent to the provider → as the client knows them. See src/formats/README.md#ids-and-names. */
  readonly toolNames: Map<string, string>;
  /** Records a part of the request that was not translated unchanged. @param path JSON path in the client's request */
  reportLoss(code: LossCode, path: string, note?: string): void;
}

/** The part of a target that codecs may know: no address and no credential. */
export interface CodecTarget {
  /** Name of the provider. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly traits: Traits;
  /** The config says what the host can and cannot do, also for clients of its own format. */
  readonly fitsNative?: true;
  /** The base URL is the vendor's own, so facts about the vendor's API apply. */
  readonly isVendor: boolean;
  /** Name of the output limit, if the config sets it or the vendor's own API needs it. */
  readonly maxTokensField?: MaxTokensField;
}
