import manifest from "../../package.json";

/** The version of weir, from `package.json`. */
export const VERSION: string = manifest.version;
