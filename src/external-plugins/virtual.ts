/** The module `"weir"` for external plugins: served from the running program, so nothing needs to be installed. */
import * as publicFace from "../plugin.ts";

let registered = false;

/** Makes `import … from "weir"` work for files outside the bundle. */
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

/** The module `weir` that plugins can import. */
export function exportNames(): string[] {
  return Object.keys(publicFace);
}
