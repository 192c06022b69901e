/** `weir explain [FILE]`: shows how weir would route and translate a request, without sending it. */
import { loadConfig } from "../config/load.ts";
import { GatewayError } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import { type Command, CONFIG_FLAGS, configOptions, FORMATS, JSON_FLAG, valueFlags } from "./command.ts";
import { answerOptions } from "../run/home.ts";

export const explainCommand: Command = {
  name: "explain",
  summary: "show which provider would get a request, what weir would send, and what is lost",
  words: [{ name: "FILE", optional: true, completes: "file" }],
  flags: [
    ...CONFIG_FLAGS,
    {
      name: "--format",
      value: "FORMAT",
      help: `${FORMATS.join(", ")}, or the path that the client asks (default: the format that alone fits the request)`,
      completes: FORMATS,
    },
    { ...JSON_FLAG, help: "print JSON; explain always does" },
    { name: "--strict", help: "treat a loss as an error, as with x-weir-strict" },
  ],
  async run(context) {
    const { words, flags, env, cwd, ownPlugins, print, printError } = context;
    const { "--format": named, ...configFlags } = valueFlags(flags);
    const { config, locate } = loadConfig({ ...configOptions(context), flags: configFlags });
    const { assemble } = await import("../run/assemble.ts");
    const { explain } = await import("../gateway/explain.ts");
    const { ReasoningCache } = await import("../gateway/reasoning/cache.ts");
    const { RequestBody } = await import("../server/request-body.ts");
    const { chooseFormat } = await import("../server/choose-format.ts");
    const { withStored } = await import("./with-stored.ts");
    const { foreseenBy } = await import("./foresees.ts");
    const parts = await assemble(config, env, locate, { features: ownPlugins });
    await withStored(parts, { config, locate }, { env, cwd, printError });
    const { registry, catalog, plugins } = parts;
    const foresee = await foreseenBy(context.foresees, config);
    const input = words[0] === undefined || words[0] === "-" ? Bun.stdin : Bun.file(words[0]);
    const bytes = new Uint8Array(await input.arrayBuffer());
    try {
      const read = new RequestBody(bytes, config.limits.depth);
      const body = read.json;
      const formats = [...registry.formats.values()].filter(
        (format): format is Format & { client: ClientCodec } => format.client !== undefined,
      );
      const headers = new Headers();
      const known = registry.kinds.values();
      const { format, embeds, asks } = chooseFormat(formats, named ?? null, headers, body, known);
      const hooks = plugins.map(({ plugin }) => ({ ...plugin.hooks, plugin: plugin.name }));
      const strict = config.strict || flags["--strict"] === true;
      const explained = await explain(
        {
          ...{ format, body, bytes, headers, spanOf: (name: string) => read.spanOf(name) },
          embeds,
          ...(asks && { asks }),
        },
        {
          ...{ registry, catalog, hooks, strict, retries: config.retries },
          ...{ reasoning: new ReasoningCache(), answerOptions: answerOptions(config) },
          ...(foresee && { foresee }),
        },
      );
      print(JSON.stringify(explained, null, 2));
      return 0;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      printError(`weir: ${thrown.message}`);
      return 1;
    }
  },
};
