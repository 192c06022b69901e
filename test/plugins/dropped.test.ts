/** Providers of plugin files run through the suite that the built-in ones inherit. */
import { join } from "node:path";
import type { Plugin } from "../../src/core/plugin.ts";
import { chatCompletions } from "../../src/plugin.ts";
import { describeProvider } from "../helpers/describe-provider.ts";
import ndjson from "../wire/plugins/ndjson.ts";
import signing from "../wire/plugins/signing.ts";
import token from "../wire/plugins/token.ts";

async function describePlugin(plugin: Plugin, settings: Record<string, string | Record<string, string>>) {
  const file = join(import.meta.dir, `../wire/plugins/${plugin.name}.ts`);
  const plugins = { [`${plugin.name}.ts`]: await Bun.file(file).text() };
  for (const provider of plugin.providers ?? []) describeProvider(provider, { plugins, settings });
}

const secrets = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "canary-0123456789"]));

await describePlugin(ndjson, { baseUrl: "http://127.0.0.1:9" });
await describePlugin(signing, {
  variables: { region: "eu-central-1" },
  secrets: secrets("SIGNING_ACCESS_KEY_ID", "SIGNING_SECRET_ACCESS_KEY"),
});
await describePlugin(token, { variables: { project: "p" }, secrets: secrets("TOKEN_CLIENT_SECRET") });

/** A host that refuses two members that clients send. */
const enveloped = chatCompletions({
  name: "enveloped",
  baseUrl: "https://enveloped.example.com/v1",
  envelope: { "chat-completions": { without: ["model", "metadata", "store"] } },
});

describeProvider(enveloped, {
  plugins: {
    "enveloped.ts": `import { chatCompletions, definePlugin } from "weir";
      export default definePlugin({
        name: "enveloped",
        providers: [chatCompletions(${JSON.stringify(enveloped)})],
      });`,
  },
});
