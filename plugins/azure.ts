/**
 * OpenAI and other models in Azure. A model name is the name of a deployment there, which the owner of the resource has
 * chosen.
 */
import { chatCompletions, definePlugin, type OutgoingRequest, type Place } from "weir";
import { openaiAudio } from "./shared/audio.ts";
import { azureAddressFault } from "./shared/azure-address.ts";
import { authorizeWith, ENTRA_CREDENTIALS, ENTRA_VARIABLES } from "./shared/entra.ts";

const KEY = "AZURE_OPENAI_API_KEY";
const BASE = { current: "/openai/v1", dated: "/openai" };

/** Parts that both versions of the API share. */
const shared = {
  hostPerCustomer: true,
  apiKey: KEY,
  credentials: [[KEY], ...ENTRA_CREDENTIALS],
  authorize: (_request: OutgoingRequest, place: Place) =>
    authorizeWith(place, {
      keys: [KEY],
      header: "api-key",
      scope: "https://cognitiveservices.azure.com/.default",
    }),
  hints: [
    {
      when: /"Resource not found"/,
      say: "The provider has no such path: its base URL is probably wrong, and the operator of weir has to correct it.",
      forOperator: true,
    },
    {
      when: /DeploymentNotFound/,
      say: "Azure expects the name of a deployment of this resource, which can differ from the name of its model.",
    },
  ],
};

export default definePlugin({
  name: "azure",
  providers: [
    chatCompletions({
      name: "azure",
      models: ["azure/*"],
      host: { variable: "AZURE_OPENAI_ENDPOINT", port: 443, path: BASE.current },
      addressFault: (url, isHost) => azureAddressFault(url, BASE.current, isHost),
      variables: ENTRA_VARIABLES,
      speaks: { responses: "/responses" },
      embeds: { embeddings: { path: "/embeddings", base64: true, members: { inputType: false } } },
      does: openaiAudio(),
      // As at OpenAI: newer models take tools together with reasoning only there.
      prefers: "responses",
      // Reasoning models refuse `max_tokens` and hide their reasoning, and the name of a deployment does not tell its model.
      traits: {
        storesAnswers: true,
        compacts: true,
        maxTokensField: "max_completion_tokens",
        promptCacheKey: true,
        hidesReasoning: true,
      },
      ...shared,
    }),
    {
      name: "azure-dated",
      models: ["azure-dated/*"],
      host: { variable: "AZURE_OPENAI_ENDPOINT", port: 443, path: BASE.dated },
      addressFault: (url, isHost) => azureAddressFault(url, BASE.dated, isHost),
      variables: {
        apiVersion: { env: ["OPENAI_API_VERSION"], describe: "the version of the API, such as 2024-10-21" },
        ...ENTRA_VARIABLES,
      },
      speaks: {
        "chat-completions": "/deployments/{model}/chat/completions?api-version={apiVersion}",
        responses: "/responses?api-version={apiVersion}",
      },
      embeds: {
        embeddings: {
          path: "/deployments/{model}/embeddings?api-version={apiVersion}",
          base64: true,
          members: { inputType: false },
        },
      },
      does: {
        transcription: {
          "openai-transcription": "/deployments/{model}/audio/transcriptions?api-version={apiVersion}",
          "openai-translation": "/deployments/{model}/audio/translations?api-version={apiVersion}",
        },
        speech: { "openai-speech": "/deployments/{model}/audio/speech?api-version={apiVersion}" },
      },
      traits: { storesAnswers: true, compacts: true, hidesReasoning: true },
      ...shared,
    },
  ],
});
