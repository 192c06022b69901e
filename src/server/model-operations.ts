/** The operations that list models: in the shape that the SDKs of most vendors read, and in the shapes of single formats. */
import type { ModelListing } from "../core/model-listing.ts";
import type { Registry } from "../gateway/routing/registry.ts";
import { MODEL, PAGE } from "./errors.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { pascalCase } from "./operation.ts";
import { AFTER_ID, LIMIT, MODEL_ID } from "./parameters.ts";
import { commonAliases } from "./served-routes.ts";
import type { AnswerPlain } from "./routes/plain.ts";
import { listModels, modelIdOf, retrieveModel } from "./routes/models.ts";
import { Model, ModelList } from "./schemas.ts";

/** Makes an operation without a request body. */
export type MakePlain = (operation: Omit<Operation, "formats" | "handle">, answer: AnswerPlain) => Operation;

/** The path of the list for clients of all formats. */
const PATH = "/v1/models";
const ENDPOINT = "models";

export function modelOperations(
  formats: readonly ClientFormat[],
  registry: Registry,
  plain: MakePlain,
): Operation[] {
  const listing = formats.filter(({ client }) => client.models);
  return [
    plain(
      {
        method: "GET",
        path: PATH,
        aliases: commonAliases(formats, PATH),
        id: "listModels",
        summary: "List models",
        description:
          "Clients of some formats, known by their headers, get the list in the shape of the format.",
        access: "key",
        endpoint: ENDPOINT,
        parameters: [LIMIT, AFTER_ID],
        answer: { name: "ModelList", schema: ModelList },
        errors: PAGE,
      },
      (request, access) => listModels(registry, request, access, listingOf(listing, request)),
    ),
    plain(
      {
        method: "GET",
        path: `${PATH}/{+id}`,
        aliases: commonAliases(formats, `${PATH}/{+id}`),
        id: "retrieveModel",
        summary: "Retrieve a model",
        description: "Any model that weir would serve, listed or not.",
        access: "key",
        endpoint: ENDPOINT,
        parameters: [MODEL_ID],
        answer: { name: "Model", schema: Model },
        errors: MODEL,
      },
      (request, access) => {
        const id = modelIdOf(request, [PATH, ...commonAliases(formats, PATH)]);
        return retrieveModel(registry, id, access, listingOf(listing, request));
      },
    ),
    ...listing.flatMap((format) => ownOperations(format, format.client.models!, registry, plain)),
  ];
}

/** How the client of a request wants models listed, as its headers show. */
function listingOf(formats: readonly ClientFormat[], { headers }: Request): ModelListing | undefined {
  return formats.find(({ client }) => client.clientHeaders?.some((name) => headers.has(name)))?.client.models;
}

/** The lists at the paths that only one format has. */
function ownOperations(
  { id }: ClientFormat,
  listing: ModelListing,
  registry: Registry,
  plain: MakePlain,
): Operation[] {
  const name = pascalCase(id);
  const [path = "", ...others] = listing.paths;
  const [modelPath = "", ...otherModelPaths] = listing.modelPaths;
  return [
    plain(
      {
        method: "GET",
        path,
        aliases: others,
        id: `list${name}Models`,
        summary: `List models (${id})`,
        access: "key",
        endpoint: ENDPOINT,
        answer: { name: `${name}ModelList`, schema: listing.schemas.list },
        errors: PAGE,
      },
      (request, access) => listModels(registry, request, access, listing),
    ),
    plain(
      {
        method: "GET",
        path: modelPath,
        aliases: otherModelPaths,
        id: `retrieve${name}Model`,
        summary: `Retrieve a model (${id})`,
        access: "key",
        endpoint: ENDPOINT,
        parameters: [MODEL_ID],
        answer: { name: `${name}Model`, schema: listing.schemas.one },
        errors: MODEL,
      },
      (request, access) =>
        retrieveModel(registry, listing.idOf(new URL(request.url).pathname), access, listing),
    ),
  ];
}
