import { awsVariables, definePlugin } from "weir";
import { bedrockAccess } from "./shared/bedrock-access.ts";
import { dropTags } from "./shared/claude-betas.ts";

/** The endpoint of Bedrock that speaks the formats of OpenAI and Anthropic. */
export default definePlugin({
  name: "bedrock-mantle",
  providers: [
    {
      ...bedrockAccess("bedrock-mantle", "BEDROCK_MANTLE_API_KEY"),
      name: "bedrock-mantle",
      models: ["bedrock-mantle/*"],
      variables: {
        ...awsVariables,
        // A variable of its own, so that credentials of AWS alone do not switch it on: few regions have this endpoint.
        region: {
          env: ["BEDROCK_MANTLE_REGION"],
          describe: "a region with the OpenAI-compatible endpoint of Bedrock, such as us-east-1",
        },
      },
      baseUrl: "https://bedrock-mantle.{region}.api.aws",
      speaks: {
        messages: { json: "/anthropic/v1/messages", models: ["*claude*"] },
        responses: "/v1/responses",
        "chat-completions": "/v1/chat/completions",
      },
      catalog: ["global.anthropic.claude-sonnet-5-5", "openai.gpt-oss-120b", "openai.gpt-oss-20b"],
      // A default: a version that the client sends overrides it.
      headers: { "anthropic-version": "2023-06-01" },
      patch(body, call) {
        if (call.target?.format === "messages") dropTags(body, call);
      },
    },
  ],
});
