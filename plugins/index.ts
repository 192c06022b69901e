/** The shipped plugins, in the order they are loaded. A list, because the bundler only sees what is written out. */
import type { Plugin } from "weir";
import { mock } from "./mock/index.ts";

export const builtIn: readonly Plugin[] = [mock];
