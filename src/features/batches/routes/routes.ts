/** The operations of batches. Two vendors share paths: whose client asks decides the shape of the answer. */
import type { OwnRoute } from "../../../gateway/seams.ts";
import type { Batches, Handle } from "./create.ts";

type Names = "create" | "list" | "get" | "cancel" | "remove" | "results" | "generate" | "embed";
type Load = () => Promise<Partial<Record<Names, Handle>>>;

const openai: Load = () => import("./openai.ts");
const anthropic: Load = () => import("./anthropic.ts");
const gemini: Load = () => import("./gemini.ts");

interface Declared extends Pick<OwnRoute, "method" | "path" | "id" | "summary"> {
  readonly name: Names;
  readonly load: Load;
  /** Clients of Gemini ask at this path, too. */
  readonly isShared?: true;
}

const ROUTES: readonly Declared[] = [
  {
    ...{ method: "POST", path: "/v1/batches", id: "createBatch", name: "create", load: openai },
    summary: "Make a batch of the lines of a file",
  },
  {
    ...{ method: "GET", path: "/v1/batches", id: "listBatches", name: "list", load: openai, isShared: true },
    summary: "List batches, the newest first",
  },
  {
    ...{ method: "GET", path: "/v1/batches/{id}", id: "getBatch", name: "get", load: openai, isShared: true },
    summary: "A batch, and how far it is",
  },
  {
    ...{ method: "POST", path: "/v1/batches/{id}/cancel", id: "cancelBatch", name: "cancel", load: openai },
    summary: "Cancel a batch: lines that run may end",
  },
  {
    ...{ method: "DELETE", path: "/v1/batches/{id}", id: "deleteBatch", name: "remove", load: gemini },
    summary: "Delete a batch that has ended",
  },
  {
    ...{ method: "POST", path: "/v1/messages/batches", id: "createMessageBatch", name: "create" },
    ...{ load: anthropic, summary: "Make a batch of requests" },
  },
  {
    ...{ method: "GET", path: "/v1/messages/batches", id: "listMessageBatches", name: "list" },
    ...{ load: anthropic, summary: "List batches, the newest first" },
  },
  {
    ...{ method: "GET", path: "/v1/messages/batches/{id}", id: "getMessageBatch", name: "get" },
    ...{ load: anthropic, summary: "A batch, and how far it is" },
  },
  {
    ...{
      method: "GET",
      path: "/v1/messages/batches/{id}/results",
      id: "messageBatchResults",
      name: "results",
    },
    ...{ load: anthropic, summary: "The results of a batch, a JSON object in each line" },
  },
  {
    ...{ method: "POST", path: "/v1/messages/batches/{id}/cancel", id: "cancelMessageBatch", name: "cancel" },
    ...{ load: anthropic, summary: "Cancel a batch: lines that run may end" },
  },
  {
    ...{ method: "DELETE", path: "/v1/messages/batches/{id}", id: "deleteMessageBatch", name: "remove" },
    ...{ load: anthropic, summary: "Delete a batch that has ended" },
  },
  ...["/v1beta", "/v1"].flatMap((base): Declared[] => [
    {
      ...{ method: "POST", path: `${base}/models/{+model}:batchGenerateContent`, name: "generate" },
      ...{ id: idAt(base, "batchGenerateContent"), load: gemini, summary: "Make a batch of requests" },
    },
    {
      ...{ method: "POST", path: `${base}/models/{+model}:asyncBatchEmbedContent`, name: "embed" },
      ...{ id: idAt(base, "batchEmbedContent"), load: gemini, summary: "Make a batch of texts to embed" },
    },
    {
      ...{ method: "POST", path: `${base}/batches/{+id}:cancel`, name: "cancel", load: gemini },
      ...{ id: idAt(base, "cancelGeminiBatch"), summary: "Cancel a batch" },
    },
  ]),
  {
    ...{ method: "GET", path: "/v1beta/batches", id: "listGeminiBatches", name: "list", load: gemini },
    summary: "List batches, the newest first",
  },
  {
    ...{ method: "GET", path: "/v1beta/batches/{id}", id: "getGeminiBatch", name: "get", load: gemini },
    summary: "A batch, and how far it is",
  },
  {
    ...{
      method: "DELETE",
      path: "/v1beta/batches/{id}",
      id: "deleteGeminiBatch",
      name: "remove",
      load: gemini,
    },
    summary: "Delete a batch that has ended",
  },
];

function idAt(base: string, name: string): string {
  return base === "/v1" ? `${name}V1` : name;
}

export function batchRoutes(batches: Batches): OwnRoute[] {
  return ROUTES.map(({ name, load, isShared, ...route }) => ({
    ...route,
    ...(isShared && { isShared }),
    async handle(request, visit) {
      const handlers = await (isShared && visit.vendor === "google" ? gemini() : load());
      return handlers[name]!(batches, request, visit);
    },
  }));
}
