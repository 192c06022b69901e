/**
 * Members that both lanes have. A lane object serves one attempt in one format: `prepare` makes the request, `open` reads
 * the beginning of the answer. The pipeline sends, and repeats `prepare` when the provider refuses a part of the request.
 */
import type { GatewayError } from "../../core/error.ts";
import type { Target } from "../../core/provider.ts";
import type { UploadPart } from "../../core/upload.ts";
import type { ByteSource } from "../delivery/stream.ts";
import type { Gateway } from "../types.ts";
import type { Method, UpstreamResponse } from "./transport.ts";

/** A request as weir sends it. */
export interface Prepared {
  readonly target: Target;
  /** Default: `POST`. */
  readonly method?: Method;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in pieces, in order. */
  readonly body: readonly Uint8Array[];
  /** What follows `body`: an upload of the client. */
  readonly upload?: PreparedUpload;
  /** The kind of answer that the request asks for. The provider may answer with the other one. */
  readonly expects: "stream" | "json";
  /** Native lane: top-level members that differ from the client's body. All others are sent byte for byte. */
  readonly changed?: readonly string[];
}

/** A client's upload as weir sends it. */
export interface PreparedUpload {
  /** Bytes. */
  readonly length: number;
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
  /** Without their contents. */
  readonly parts: readonly UploadPart[];
}

/** An answer whose status and first bytes are known. */
export type Opened = OpenedJson | OpenedStream;

/**
 * Gets what is opened for a call: exactly one of its methods is called, once, perhaps at once. A promise and a turn for each part
 * of weir between a call and its provider would cost more than what the parts do. The methods must not throw.
 */
export interface OpenedReceiver {
  opened(opened: Opened): void;
  /** @param thrown a GatewayError, or the fault of a plugin or of weir */
  failed(thrown: unknown): void;
}

export interface OpenedJson {
  kind: "json";
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string;
  /** The error that `body` describes; absent for an answer. */
  error?: GatewayError;
}

export interface OpenedStream {
  kind: "stream";
  /** The provider's status. */
  status: number;
  headers: Record<string, string>;
  /** The bytes are no events: audio, plain text. They pass as they come, and an answer that breaks off has no error event. */
  isBinary?: true;
  /** The client's bytes. Its first event has not been awaited yet. */
  source: ByteSource;
}

/** The parts of the gateway that `prepare` uses: `explain` has no others. */
export type PrepareContext = Pick<
  Gateway,
  "registry" | "hooks" | "strict" | "reasoning" | "answers" | "answerOptions"
> &
  Partial<Pick<Gateway, "catalog" | "retries" | "foresee">> & { ledger?: Pick<Gateway["ledger"], "foresee"> };

export interface Lane {
  /**
   * Makes the request for the provider and reports its losses; sends nothing. `undefined`: a program answers, and there is
   * nothing to send.
   * @throws GatewayError for content that the format cannot express, and for a loss in strict mode
   */
  prepare(): Prepared | undefined | Promise<Prepared | undefined>;
  /** The error for a failed status. Reads the body. */
  refusal(response: UpstreamResponse): Promise<GatewayError>;
  /**
   * Learns from a refusal which part of the request the provider does not accept.
   * @returns whether the next `prepare` leaves that part out; true at most once for each part
   */
  leavesOut(refusal: GatewayError): boolean;
  /**
   * Reads a JSON answer, or makes the source of a streamed one.
   * @param response absent if a program answers
   * @throws GatewayError if the answer is not one of the format
   */
  open(response: UpstreamResponse | undefined, gateway: Gateway): Opened | Promise<Opened>;
}
