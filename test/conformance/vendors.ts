/**
 * The providers of the replay. A vendor the gateway ships with answers under its own traits, so that its quirks are known;
 * but as a provider that speaks nothing but chat-completions, because some of them speak messages too, and then there would
 * be nothing to translate.
 */
import { builtIn } from "../../plugins/index.ts";

const NAMED = builtIn.flatMap((plugin) => plugin.providers ?? []);

/** A dropped plugin with one provider for each shipped one that speaks chat-completions, all at `url`. */
export function chatVendorsPlugin(url: string): string {
  const providers = NAMED.filter((provider) => provider.speaks?.["chat-completions"]).map(
    ({ name, traits }) => ({ name: `only-chat-${name}`, baseUrl: `${url}/v1`, traits }),
  );
  return `import { chatCompletions, definePlugin } from "weir";
export default definePlugin({
  name: "only-chat",
  providers: ${JSON.stringify(providers, null, 2)}.map((provider) => chatCompletions(provider)),
});
`;
}

/** The model that gives the recorded answers of a vendor, with its provider in front. */
export function answeringModel({ api, vendor }: { api: string; vendor: string }): string {
  if (api === "messages") return "anthropic/claude-sonnet-4-5";
  const shipped = vendor !== "openai" && NAMED.some((provider) => provider.name === vendor);
  return shipped ? `only-chat-${vendor}/some-model` : "openai/gpt-4.1";
}

/** Whether a vendor writes its reasoning between `<think>` tags. */
export function writesThinkTags(vendor: string): boolean {
  return NAMED.some(({ name, traits }) => name === vendor && traits?.thinkTags === true);
}
