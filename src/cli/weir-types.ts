/** The text of `weir.d.ts`, which `weir plugin new` writes beside a plugin so that editors know its types. */
import text from "./weir.d.txt" with { type: "text" };

export const weirTypes: string = text;
