/** The tools of the reference server, by the names that the official suite calls. */
import { inputResponse, type JsonSchemaType } from "@modelcontextprotocol/server";
import {
  ask,
  AUDIO,
  embedded,
  form,
  image,
  prompt,
  type Properties,
  type ReferenceTool,
  sampledIn,
  say,
  takes,
  text,
  tool,
} from "./reference-kit.ts";
import { ROUNDS } from "./reference-rounds.ts";

/** A tool that asks one question and repeats what was filled in, whatever the client did. */
function questionnaire(name: string, message: string, properties: Properties): ReferenceTool {
  return tool(name, `Asks the user: ${message}`, (_args, ctx) => {
    const view = inputResponse(ctx.mcpReq.inputResponses, "form");
    if (view.kind !== "elicit") return ask({ form: form(message, properties) });
    return say(`Elicitation completed: action=${view.action}, content=${JSON.stringify(view.content ?? {})}`);
  });
}

const CONTENT: readonly ReferenceTool[] = [
  tool("test_simple_text", "Answers with a text.", () => say("This is a simple text response for testing.")),
  tool("test_image_content", "Answers with an image.", () => ({ content: [image] })),
  tool("test_audio_content", "Answers with a sound.", () => ({
    content: [{ type: "audio", data: AUDIO, mimeType: "audio/wav" }],
  })),
  tool("test_embedded_resource", "Answers with an embedded resource.", () => ({
    content: [embedded("test://embedded-resource", "This is an embedded resource content.")],
  })),
  tool("test_multiple_content_types", "Answers with a text, an image and a resource.", () => ({
    content: [
      text("Three kinds of content:"),
      image,
      embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
  })),
  tool("test_error_handling", "Fails.", () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_logging", "Logs three times.", async (_args, { mcpReq }) => {
    for (const step of ["started", "processing", "completed"]) {
      await mcpReq.log("info", `Tool execution ${step}`);
      await Bun.sleep(50);
    }
    return say("Logged three times.");
  }),
  tool("test_tool_with_progress", "Reports its progress three times.", async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100, message: `Completed ${progress} of 100` },
        });
      await Bun.sleep(50);
    }
    return say(String(progressToken));
  }),
  tool("test_reconnection", "Closes its stream before it answers.", async (_args, { http }) => {
    http?.closeSSE?.();
    await Bun.sleep(100);
    return say("The client came back for its answer.");
  }),
];

const ENUM = ["option1", "option2", "option3"];
const TITLED = ["First", "Second", "Third"].map((title, index) => ({ const: `value${index + 1}`, title }));

const QUESTIONS: readonly ReferenceTool[] = [
  tool(
    "test_elicitation",
    "Asks the user for an answer.",
    ({ message }, ctx) => {
      const view = inputResponse(ctx.mcpReq.inputResponses, "answer");
      if (view.kind !== "elicit")
        return ask({ answer: form(String(message), { response: { type: "string" } }, ["response"]) });
      return say(`User response: action=${view.action}, content=${JSON.stringify(view.content ?? {})}`);
    },
    takes({ message: { type: "string" } }, ["message"]),
  ),
  tool(
    "test_sampling",
    "Asks the client's model.",
    (args, ctx) => {
      const sampled = sampledIn(ctx, "sample");
      return sampled === undefined
        ? ask({ sample: prompt(String(args["prompt"])) })
        : say(`LLM response: ${sampled}`);
    },
    takes({ prompt: { type: "string" } }, ["prompt"]),
  ),
  questionnaire("test_elicitation_sep1034_defaults", "Please review the form with its defaults", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
  questionnaire("test_elicitation_sep1330_enums", "Please select", {
    untitledSingle: { type: "string", enum: ENUM },
    titledSingle: { type: "string", oneOf: TITLED },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    } as JsonSchemaType,
    untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: ENUM } },
    titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: TITLED } },
  }),
];

/** Tools by which the suite looks at one rule each. */
const DIAGNOSES: readonly ReferenceTool[] = [
  // A server of sessions asks without looking at what the client can; the library refuses that for the modern era.
  tool(
    "test_missing_capability",
    "Needs a client with a model.",
    async (_args, ctx, { client, isModern }) => {
      if (client.sampling) return say("The client has a model.");
      const request = prompt("Anything");
      if (isModern) return ask({ sample: request });
      await ctx.mcpReq.send({ method: "sampling/createMessage", params: { ...request.params } });
      return say("The client answered.");
    },
  ),
  tool("test_streaming_elicitation", "Reports progress on its own stream.", async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? "unasked";
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: 50, total: 100 },
    });
    return say("Streamed.");
  }),
  tool("test_logging_tool", "Logs if the request wants it.", async (_args, { mcpReq }) => {
    await mcpReq.log("info", "The tool ran.");
    return say("Logged.");
  }),
  tool("test_trigger_tool_change", "Changes the list of tools.", (_args, _ctx, stage) => {
    stage.changed("tools");
    return say("Changed.");
  }),
  tool("test_trigger_prompt_change", "Changes the list of prompts.", (_args, _ctx, stage) => {
    stage.changed("prompts");
    return say("Changed.");
  }),
  tool(
    "test_custom_headers",
    "Takes arguments that are also headers.",
    (args) => say(JSON.stringify(args)),
    takes(
      {
        region: { type: "string", "x-mcp-header": "Region" } as JsonSchemaType,
        count: { type: "integer", "x-mcp-header": "Count" } as JsonSchemaType,
      },
      ["region"],
    ),
  ),
  tool(
    "json_schema_2020_12_tool",
    "Has a schema with words of 2020-12.",
    (args) => say(JSON.stringify(args)),
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    } as JsonSchemaType,
  ),
];

export const TOOLS: readonly ReferenceTool[] = [...CONTENT, ...QUESTIONS, ...ROUNDS, ...DIAGNOSES];
