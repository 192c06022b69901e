/**
 * The providers of the replay: the shipped ones, with their traits and patches, at the address of the fake upstream. Those
 * that speak chat-completions speak nothing else here: with messages beside it there would be nothing to translate.
 */
import { resolve } from "node:path";
import { builtIn } from "../../plugins/index.ts";
import { upstreamConfig } from "../helpers/gateway.ts";

const NAMED = builtIn.flatMap((plugin) => plugin.providers ?? []);

/** Names of the shipped providers that speak chat-completions, besides OpenAI itself. */
export const CHAT_VENDORS = NAMED.filter(
  ({ name, speaks }) => speaks?.["chat-completions"] && name !== "openai",
).map(({ name }) => name);

/** A dropped plugin that takes the place of the shipped providers that speak chat-completions, all at `url`. */
export function chatVendorsPlugin(url: string): string {
  const shipped = resolve(import.meta.dir, "../../plugins/index.ts");
  // Not by a path that weir can read: files that a plugin imports are loaded anew, and a planted fault is not in them.
  return `import { definePlugin } from "weir";
const { builtIn } = await import(${JSON.stringify(shipped.split("/"))}.join("/"));
const names = ${JSON.stringify(CHAT_VENDORS)};
export default definePlugin({
  name: "conformance",
  providers: builtIn
    .flatMap((plugin) => plugin.providers ?? [])
    .filter(({ name }) => names.includes(name))
    .map((provider) => ({
      ...provider,
      baseUrl: ${JSON.stringify(`${url}/v1`)},
      speaks: { "chat-completions": "/chat/completions" },
      // Where a vendor's own hosts are, who calls them, and what else they speak.
      ...{ apiKey: undefined, credentials: undefined, authorize: undefined, variables: undefined, host: undefined },
      ...(provider.speaks.messages && { headers: undefined }),
      ...{ addressFault: undefined, embeds: undefined, does: undefined, modelDoes: undefined },
      ...{ prefers: undefined, hints: undefined },
    })),
});
`;
}

/** Vendors whose provider has another name. */
const PROVIDERS: Readonly<Record<string, string>> = { zai: "zhipu", alibaba: "qwen" };

/** The model that gives the recorded answers of a vendor, with its provider in front. */
export function answeringModel({ api, vendor }: { api: string; vendor: string }): string {
  if (api === "messages") return "anthropic/claude-sonnet-4-5";
  const provider = PROVIDERS[vendor] ?? vendor;
  return CHAT_VENDORS.includes(provider) ? `${provider}/some-model` : "openai/gpt-4.1";
}

/**
 * The models of chat providers that one request of the messages format goes to: two of OpenAI's, of which one reasons, and
 * one of another vendor. The recording's id chooses the vendor, so that every run replays the same pairs.
 */
export function chatModels(id: string): string[] {
  const vendor = CHAT_VENDORS[Bun.hash.crc32(id) % CHAT_VENDORS.length]!;
  const known = NAMED.find(({ name }) => name === vendor)?.catalog?.[0] ?? "some-model";
  return ["openai/gpt-4.1", "openai/gpt-5.2", `${vendor}/${known}`];
}

/** The models of Anthropic that one request of the chat-completions format goes to: one that thinks by budget, one by effort. */
export const CLAUDE_MODELS = ["anthropic/claude-opus-4-6", "anthropic/claude-sonnet-4-5"];

/** Whether a vendor writes its reasoning between `<think>` tags. */
export function writesThinkTags(vendor: string): boolean {
  return NAMED.some(
    ({ name, traits }) => name === (PROVIDERS[vendor] ?? vendor) && traits?.thinkTags === true,
  );
}

/** The traits of the provider in front of a model name. */
export function traitsOf(model: string) {
  return NAMED.find(({ name }) => model.startsWith(`${name}/`))?.traits ?? {};
}

/** The built-in providers at a replay of recordings, which serves chat-completions and messages and no other format. */
export function recordedProviders(url: string): Record<string, unknown> {
  const { providers } = upstreamConfig({ openai: url, anthropic: url });
  return { ...providers, openai: { ...(providers["openai"] as object), speaks: "chat-completions" } };
}
