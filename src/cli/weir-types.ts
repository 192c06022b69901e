/** The text of `weir.d.ts`, which `weir plugin new` puts beside a plugin for the editor. */
import text from "./weir.d.txt" with { type: "text" };

export const weirTypes: string = text;
