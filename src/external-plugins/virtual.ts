/** The module `"weir"` as dropped files see it: served from the running program, with nothing installed. */
import * as publicFace from "../plugin.ts";

let registered = false;

/** Makes `import … from "weir"` work for files outside of the bundle. */
export function registerWeir(): void {
  if (registered) return;
  registered = true;
  Bun.plugin({
    name: "weir",
    setup(build) {
      build.module("weir", () => ({ exports: { ...publicFace }, loader: "object" }));
    },
  });
}
