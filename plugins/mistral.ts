import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { effortPath, modelOf } from "./shared/quirks.ts";

/** Models whose reasoning can be switched on and off; Magistral always reasons, the others never do. */
const SWITCHABLE = /^mistral-(small|medium)-(latest|2603|3-5)/;

/** Mistral refuses unknown fields with 422 `extra_forbidden`, and its name for `seed` is `random_seed`. */
function fitFields(body: JsonObject, call: CallView): void {
  for (const name of ["user", "safety_identifier"] as const) dropUser(body, name, call);
  if (body.seed !== undefined) {
    body.random_seed = body.seed;
    delete body.seed;
  }
  fitEffort(body, call);
}

function dropUser(body: JsonObject, name: "user" | "safety_identifier", call: CallView): void {
  if (body[name] === undefined) return;
  delete body[name];
  call.reportLoss(
    "dropped",
    call.format === "messages" ? "metadata.user_id" : name,
    "Mistral does not accept a user id",
  );
}

/** Models that support `reasoning_effort` accept only `high` and `none`. */
function fitEffort(body: JsonObject, call: CallView): void {
  if (body.reasoning_effort === undefined) return;
  const model = modelOf(call);
  if (SWITCHABLE.test(model)) {
    if (body.reasoning_effort === "none" || body.reasoning_effort === "high") return;
    body.reasoning_effort = "high";
    call.reportLoss("clamped", effortPath(call), "high is the only effort that the model supports");
  } else {
    delete body.reasoning_effort;
    call.reportLoss("dropped", effortPath(call), `${model} does not support reasoning_effort`);
  }
}

export default definePlugin({
  name: "mistral",
  providers: [
    chatCompletions({
      name: "mistral",
      models: [
        "mistral/*",
        "mistral-*",
        "ministral-*",
        "magistral-*",
        "codestral-*",
        "devstral-*",
        "pixtral-*",
        "voxtral-*",
        "open-mistral-*",
        "open-mixtral-*",
      ],
      baseUrl: "https://api.mistral.ai/v1",
      apiKey: "MISTRAL_API_KEY",
      does: {
        completion: { fim: { path: "/fim/completions", models: ["codestral-*"] } },
        moderation: {
          "mistral-moderations": "/moderations",
          "mistral-chat-moderations": "/chat/moderations",
        },
      },
      modelDoes: [
        { models: ["mistral-moderation-*"], does: ["moderation"] },
        { models: ["mistral-embed*", "codestral-embed*"], does: ["embedding"] },
      ],
      embeds: {
        embeddings: {
          path: "/embeddings",
          maxInputs: 256,
          tokenIds: false,
          members: { dimensions: "output_dimension", inputType: false, user: false },
        },
      },
      // The last chunk contains usage without `stream_options`.
      traits: { toolIds: "mistral", streamOptions: false, promptCacheKey: true, documentUrl: "document_url" },
      patch: fitFields,
      catalog: [
        "mistral-large-latest",
        "mistral-medium-latest",
        "mistral-small-latest",
        "ministral-3b-latest",
        "magistral-medium-latest",
        "magistral-small-latest",
      ],
    }),
  ],
});
