/** The operations that clients ask. Two vendors share paths: whose client asks decides who answers. */
import type { OwnRoute } from "../../gateway/seams.ts";

export type Dialect = "openai" | "anthropic" | "google";

/** The function that answers. */
export type Does = "create" | "list" | "get" | "cancel" | "remove" | "results" | "generate" | "embed";

export interface DeclaredRoute extends Pick<OwnRoute, "method" | "path" | "id" | "summary"> {
  readonly does: Does;
  readonly of: Dialect;
  /** Clients of Google ask at this path, too. */
  readonly isShared?: true;
}

const route = (of: Dialect, asked: string, does: Does, id: string, summary: string): DeclaredRoute => {
  const [method, path] = asked.split(" ") as [DeclaredRoute["method"], string];
  return { method, path, id, summary, does, of };
};
const shared = (...given: Parameters<typeof route>): DeclaredRoute => ({
  ...route(...given),
  isShared: true,
});

const CREATE = "Make a batch of requests";
const LIST = "List batches, the newest first";
const GET = "A batch, and how far it is";
const CANCEL = "Cancel a batch: lines that run may end";
const DELETE = "Delete a batch that has ended";

export const ROUTES: readonly DeclaredRoute[] = [
  route("openai", "POST /v1/batches", "create", "createBatch", "Make a batch of the lines of a file"),
  shared("openai", "GET /v1/batches", "list", "listBatches", LIST),
  shared("openai", "GET /v1/batches/{id}", "get", "getBatch", GET),
  route("openai", "POST /v1/batches/{id}/cancel", "cancel", "cancelBatch", CANCEL),
  route("anthropic", "POST /v1/messages/batches", "create", "createMessageBatch", CREATE),
  route("anthropic", "GET /v1/messages/batches", "list", "listMessageBatches", LIST),
  route("anthropic", "GET /v1/messages/batches/{id}", "get", "getMessageBatch", GET),
  route(
    "anthropic",
    "GET /v1/messages/batches/{id}/results",
    "results",
    "messageBatchResults",
    "The results of a batch, a JSON object in each line",
  ),
  route("anthropic", "POST /v1/messages/batches/{id}/cancel", "cancel", "cancelMessageBatch", CANCEL),
  route("anthropic", "DELETE /v1/messages/batches/{id}", "remove", "deleteMessageBatch", DELETE),
  ...["/v1beta", "/v1"].flatMap((base) => {
    const id = (name: string) => (base === "/v1" ? `${name}V1` : name);
    const models = `POST ${base}/models/{+model}`;
    return [
      route("google", `${models}:batchGenerateContent`, "generate", id("batchGenerateContent"), CREATE),
      route("google", `${models}:asyncBatchEmbedContent`, "embed", id("batchEmbedContent"), CREATE),
      route(
        "google",
        `POST ${base}/batches/{id}`,
        "cancel",
        id("cancelGoogleBatch"),
        `${CANCEL}; the id ends with \`:cancel\``,
      ),
      route("google", `DELETE ${base}/batches/{id}`, "remove", id("deleteGoogleBatch"), DELETE),
    ];
  }),
  route("google", "GET /v1beta/batches", "list", "listGoogleBatches", LIST),
  route("google", "GET /v1beta/batches/{id}", "get", "getGoogleBatch", GET),
];
