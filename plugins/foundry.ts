/** Claude and other models in Microsoft Foundry. A model name is the name of a deployment there. */
import { definePlugin, messages, type OutgoingRequest, type Place } from "weir";
import { azureAddressFault } from "./shared/azure-address.ts";
import { authorizeWith, ENTRA_CREDENTIALS, ENTRA_VARIABLES } from "./shared/entra.ts";

const SCOPE = "https://ai.azure.com/.default";
/** The second is that of Anthropic's SDK. */
const KEYS = ["FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_API_KEY"];

const authorize = (header: string) => (_request: OutgoingRequest, place: Place) =>
  authorizeWith(place, { keys: KEYS, header, scope: SCOPE });

const shared = {
  variables: {
    resource: {
      env: ["ANTHROPIC_FOUNDRY_RESOURCE", "AZURE_RESOURCE_NAME"],
      optional: true,
      describe: "the name of the resource, the first part of NAME.services.ai.azure.com",
    },
    ...ENTRA_VARIABLES,
  },
  credentials: [...KEYS.map((name) => [name]), ...ENTRA_CREDENTIALS],
};

export default definePlugin({
  name: "foundry",
  providers: [
    messages({
      name: "foundry",
      models: ["foundry/*"],
      baseUrl: "https://{resource}.services.ai.azure.com/anthropic",
      host: { variable: "ANTHROPIC_FOUNDRY_BASE_URL", port: 443, path: "" },
      headers: { "anthropic-version": "2023-06-01" },
      authorize: authorize("x-api-key"),
      addressFault: (url) => azureAddressFault(url, "/anthropic", false),
      traits: { countTokens: true, files: true, imageInToolMessage: true, topK: true },
      catalog: ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5"],
      ...shared,
    }),
    {
      name: "foundry-models",
      models: ["foundry-models/*"],
      baseUrl: "https://{resource}.services.ai.azure.com/models",
      speaks: { "chat-completions": "/chat/completions?api-version=2024-05-01-preview" },
      authorize: authorize("api-key"),
      addressFault: (url) => azureAddressFault(url, "/models", false),
      ...shared,
    },
  ],
});
