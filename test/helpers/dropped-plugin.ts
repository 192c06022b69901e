/** A shipped plugin as one file, as an operator drops it into the plugin folder. */
import { join, resolve } from "node:path";

const PLUGINS = resolve(import.meta.dir, "../../plugins");

/** @param name folder of a shipped plugin, whose index.ts exports it @returns the text of the file */
export async function droppedPlugin(name: string): Promise<string> {
  const { success, outputs, logs } = await Bun.build({
    entrypoints: [join(PLUGINS, name, "index.ts")],
    target: "bun",
    external: ["weir"],
  });
  if (!success) throw new Error(logs.join("\n"));
  return outputs[0]!.text();
}
