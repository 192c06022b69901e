/** The resources, prompts and completions of the reference server. */
import {
  acceptedContent,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { ask, embedded, form, IMAGE, image, takes, text } from "./reference-kit.ts";

/** What the modern era says of how long an answer holds. */
export const CACHE = { ttlMs: 300_000, cacheScope: "public" as const };

export function addResources(server: McpServer): void {
  const plain = { mimeType: "text/plain", cacheHint: CACHE };
  for (const [name, words] of [
    ["static-text", "This is the content of the static text resource."],
    ["watched-resource", "This resource may change."],
  ] as const)
    server.registerResource(name, `test://${name}`, { ...plain, title: name }, (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: words }],
    }));
  server.registerResource(
    "static-binary",
    "test://static-binary",
    { mimeType: "image/png", cacheHint: CACHE },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: "image/png", blob: IMAGE }],
    }),
  );
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource(
    "template",
    template,
    { mimeType: "application/json", cacheHint: CACHE },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  // Sessions of the legacy era subscribe by requests of their own.
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

const WORDS = { type: "string" as const };

export function addPrompts(server: McpServer): void {
  const user = (content: ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>) => ({
    role: "user" as const,
    content,
  });
  const args = (...names: string[]) =>
    fromJsonSchema<Record<string, string>>(
      takes(Object.fromEntries(names.map((name) => [name, WORDS])), names),
    );
  server.registerPrompt("test_simple_prompt", { description: "Takes no arguments." }, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Takes two arguments.", argsSchema: args("arg1", "arg2") },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Embeds a resource.", argsSchema: args("resourceUri") },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(String(resourceUri), "Embedded resource content for testing.")),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "Shows an image." }, () => ({
    messages: [user(image), user(text("Please analyze the image above."))],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "Needs an answer." }, (ctx) => {
    const context = acceptedContent(ctx.mcpReq.inputResponses, "user_context")?.["context"];
    return typeof context === "string"
      ? { messages: [user(text(`Prompt with context: ${context}`))] }
      : ask({ user_context: form("What context should the prompt use?", { context: WORDS }, ["context"]) });
  });
}

/** Completes any argument by what was typed. */
export function addCompletion(server: McpServer): void {
  server.server.setRequestHandler("completion/complete", ({ params }) => ({
    completion: { values: [`${params.argument.value}ris`], total: 1, hasMore: false },
  }));
}
