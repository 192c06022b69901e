/** The operations that list models: in the shape that the SDKs of most vendors read, and in the shapes of single formats. */
import type { TSchema } from "@sinclair/typebox";
import type { ModelListing } from "../core/model-listing.ts";
import type { ModelCatalog } from "../gateway/models/catalog.ts";
import { MODEL, PAGE } from "./errors.ts";
import type { ClientFormat, NamedSchema, Operation } from "./operation.ts";
import { pascalCase } from "./operation.ts";
import { AFTER_ID, LIMIT, MODEL_ID, SUPPORTED } from "./parameters.ts";
import { commonAliases } from "./served-routes.ts";
import type { AnswerPlain } from "./routes/plain.ts";
import { listModels, modelIdOf, type ModelShape, retrieveModel } from "./routes/models.ts";
import { modelSchemas } from "./schemas.ts";

/** Makes an operation without a request body. */
export type MakePlain = (operation: Omit<Operation, "formats" | "handle">, answer: AnswerPlain) => Operation;

/** The path of the list for clients of all formats. */
const PATH = "/v1/models";
/** The name of the lists in the scope of keys. */
export const MODELS_ENDPOINT = "models";

export function modelOperations(
  formats: readonly ClientFormat[],
  catalog: ModelCatalog,
  plain: MakePlain,
): Operation[] {
  const listing = formats.filter(({ client }) => client.routes.models);
  const members = formats.flatMap(({ client }) => client.routes.modelMembers ?? []);
  let known: ReturnType<typeof modelSchemas> | undefined;
  const schemas = () => (known ??= modelSchemas(members.map(({ schema }) => schema)));
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
        endpoint: MODELS_ENDPOINT,
        parameters: [LIMIT, AFTER_ID, SUPPORTED],
        answer: lazy("ModelList", () => schemas().ModelList),
        errors: PAGE,
      },
      (request, principal) => listModels(catalog, request, principal, listingOf(listing, request) ?? members),
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
        endpoint: MODELS_ENDPOINT,
        parameters: [MODEL_ID],
        answer: lazy("Model", () => schemas().Model),
        errors: MODEL,
      },
      (request, principal) => {
        const id = modelIdOf(request, [PATH, ...commonAliases(formats, PATH)]);
        return retrieveModel(catalog, id, principal, listingOf(listing, request) ?? members);
      },
    ),
    ...listing.flatMap((format) => ownOperations(format, format.client.routes.models!, catalog, plain)),
  ];
}

/** Only the OpenAPI document needs the schema. */
function lazy(name: string, make: () => TSchema): NamedSchema {
  return {
    name,
    get schema() {
      return make();
    },
  };
}

/** How the client of a request wants models listed, as its headers show. */
function listingOf(formats: readonly ClientFormat[], { headers }: Request): ModelShape | undefined {
  return formats.find(({ client }) => client.routes.clientHeaders?.some((name) => headers.has(name)))?.client
    .routes.models;
}

/** The lists at the paths that only one format has. */
function ownOperations(
  { id }: ClientFormat,
  listing: ModelListing,
  catalog: ModelCatalog,
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
        endpoint: MODELS_ENDPOINT,
        answer: { name: `${name}ModelList`, schema: listing.schemas.list },
        errors: PAGE,
      },
      (request, principal) => listModels(catalog, request, principal, listing),
    ),
    plain(
      {
        method: "GET",
        path: modelPath,
        aliases: otherModelPaths,
        id: `retrieve${name}Model`,
        summary: `Retrieve a model (${id})`,
        access: "key",
        endpoint: MODELS_ENDPOINT,
        parameters: [MODEL_ID],
        answer: { name: `${name}Model`, schema: listing.schemas.one },
        errors: MODEL,
      },
      (request, principal) =>
        retrieveModel(catalog, listing.idOf(new URL(request.url).pathname), principal, listing),
    ),
  ];
}
