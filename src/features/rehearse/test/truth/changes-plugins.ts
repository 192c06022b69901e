/** Changes of plugins. Those that read texts need the tape of a call. */
import { plugin, type SetupChange } from "./change.ts";

/** A plugin with one hook. */
const hook = (name: string, hooks: string) =>
  plugin(
    name,
    `import { definePlugin, GatewayError } from "weir";
export default definePlugin({ name: "changed", hooks: { ${hooks} } });
`,
  );

const request = (name: string, body: string) => hook(name, `request(request, call) { ${body} }`);
const text = (value: string) => `{ type: "text", text: ${JSON.stringify(value)} }`;

const EDITS: readonly SetupChange[] = [
  request("sets temperature", "request.temperature = 0.25;"),
  request("sets temperature where there is none", "request.temperature ??= 0.25;"),
  request("removes temperature", "delete request.temperature;"),
  request("adds a system line", `request.turns.unshift({ role: "system", blocks: [${text("Be brief.")}] });`),
  request(
    "adds a line for one caller",
    `if (call.key === "search") request.turns.unshift({ role: "system", blocks: [${text("Search first.")}] });`,
  ),
  request("removes the last tool", "request.tools.pop();"),
  request("removes tools of streams", "if (call.stream) request.tools = [];"),
  request(
    "removes a tool by its name",
    'request.tools = request.tools.filter(({ name }) => name !== "add");',
  ),
  request("asks for one call at a time", "request.parallelToolCalls = false;"),
  request(
    "halves the output limit",
    "if (request.maxTokens) request.maxTokens = Math.ceil(request.maxTokens / 2);",
  ),
  request("sets the output limit by the number of turns", "request.maxTokens = 100 * request.turns.length;"),
  request("adds a stop sequence", 'request.stop.push("STOP");'),
  request("thinks little", 'request.reasoning = { effort: "low" };'),
  request("keeps the last three turns", "request.turns.splice(0, request.turns.length - 3);"),
  request("does nothing", ""),
  request(
    "drops pictures",
    'for (const turn of request.turns) turn.blocks = turn.blocks.filter(({ type }) => type !== "image");',
  ),
  request("names a user", 'request.user = "user-of-truth";'),
];

const READERS: readonly SetupChange[] = [
  request(
    "writes texts in capitals",
    'for (const { blocks } of request.turns) for (const block of blocks) if (block.type === "text") block.text = block.text.toUpperCase();',
  ),
  request(
    "is cold where a text has a word",
    'if (request.turns.some(({ blocks }) => blocks.some((block) => block.type === "text" && block.text.includes("weather")))) request.temperature = 0;',
  ),
  request(
    "trims texts",
    'for (const { blocks } of request.turns) for (const block of blocks) if (block.type === "text") block.text = block.text.trim();',
  ),
  request(
    "limits long prompts",
    'const size = request.turns.flatMap(({ blocks }) => blocks).reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0); if (size > 500) request.maxTokens = 64;',
  ),
];

const DECISIONS: readonly SetupChange[] = [
  hook(
    "refuses one caller",
    'admit(call) { if (call.key === "short") throw new GatewayError("permission", "Not now."); }',
  ),
  hook(
    "refuses streams",
    'admit(call) { if (call.stream) throw new GatewayError("invalid-request", "No streams."); }',
  ),
  hook(
    "refuses many tools",
    'admit(call) { if ((call.request?.tools.length ?? 0) > 3) throw new GatewayError("invalid-request", "Too many tools."); }',
  ),
  hook(
    "sends one caller elsewhere",
    'intercept(call) { return call.key === "search" ? { model: "acme/large" } : undefined; }',
  ),
  hook(
    "sends a model elsewhere",
    'intercept(call) { return call.model.startsWith("gpt-4") ? { model: "acme/small" } : undefined; }',
  ),
  hook(
    "answers by itself",
    'intercept(call) { return call.model === "guarded" ? { answer: "no" } : undefined; }',
  ),
  hook("counts calls", "done() {}"),
  hook("reads answers", "async *answer(events) { yield* events; }"),
];

/** A provider of the config is a plugin's from now on. */
const provider = (name: string, members: string, isBare = false): SetupChange => ({
  kind: "plugin",
  name: `plugin: ${name}`,
  apply({ config, plugins }, url) {
    const providers = config["providers"] as Record<string, unknown>;
    const headers = isBare ? {} : { headers: { "x-team": "search" } };
    providers["acme"] = { apiKey: "sk-truth-acme-0123456789", traits: { strictTools: false }, ...headers };
    plugins["acme.ts"] = `import { chatCompletions, definePlugin } from "weir";
export default definePlugin({ name: "acme", providers: [chatCompletions({
  name: "acme", models: ["acme/*"], baseUrl: ${JSON.stringify(`${url}/acme/v1`)}, apiKey: "ACME_API_KEY",
  embeds: { embeddings: "/embeddings" }, ${members} })] });
`;
  },
});

const PROVIDERS: readonly SetupChange[] = [
  provider("a provider without its header", "", true),
  provider("a patch adds a member", "patch(body) { body.tenant = 7; }"),
  provider("a patch removes a member", "patch(body) { delete body.temperature; }"),
  provider(
    "a patch depends on a number",
    "patch(body) { if ((body.max_tokens ?? 0) > 500) body.long = true; }",
  ),
  provider("a patch counts messages", "patch(body) { body.count = body.messages.length; }"),
  provider(
    "a patch reads a text",
    'patch(body) { if (JSON.stringify(body.messages).includes("weather")) body.weather = true; }',
  ),
  provider(
    "an envelope without a member",
    'envelope: { "chat-completions": { without: ["stream_options"] } }',
  ),
];

export const PLUGIN_CHANGES: readonly SetupChange[] = [...EDITS, ...READERS, ...DECISIONS, ...PROVIDERS];
