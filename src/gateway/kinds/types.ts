/** A request of a kind that weir has read and validated. */
import type { Call } from "../../core/call.ts";
import type { JsonObject } from "../../core/json.ts";
import type { KindRequest } from "../../core/kind.ts";
import type { KindRoute, ModelKind } from "../../core/model-kind.ts";
import type { Upload } from "../../core/upload.ts";

export interface IncomingKind {
  /** Its format is the dialect of the route. */
  call: Call;
  kind: ModelKind;
  route: KindRoute;
  request: KindRequest;
  /** The body as the client sent it; of a form, its JSON. */
  bytes: Uint8Array;
  /** Byte range of the value of a top-level member. */
  spanOf(name: string): { start: number; end: number } | undefined;
  /** The client sent a form: a host of its dialect gets it. `body`: what the form says now. */
  form?: { upload: Upload; body: JsonObject };
}
