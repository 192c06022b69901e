/** Changes of plugins. */
import { plugin, type SetupChange } from "./change.ts";

/** A plugin with one hook. */
const hook = (name: string, hooks: string) =>
  plugin(
    name,
    `import { definePlugin, GatewayError } from "weir";
export default definePlugin({ name: "changed", hooks: { ${hooks} } });
`,
  );

export const PLUGIN_CHANGES: readonly SetupChange[] = [
  hook("sets temperature", "request(request) { request.temperature = 0.25; }"),
];
