/** Path of a value in a document: `["keys", 0, "name"]`. */
export type Path = readonly (string | number)[];

/** Writes a path in JavaScript notation: `providers.groq.models[0]`, `aliases["my model"]`. */
export function writePath(path: Path): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === "number") return `${written}[${step}]`;
    if (!/^[\w-]+$/.test(step)) return `${written}[${JSON.stringify(step)}]`;
    return written === "" ? step : `${written}.${step}`;
  }, "");
}
