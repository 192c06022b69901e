/**
 * OpenAI's published API document as a judge, read from `../shared/openapi` beside the repository. Unknown members pass, as
 * they do at the vendor.
 */
import { existsSync, readFileSync } from "node:fs";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { schemaFaults } from "../../helpers/json-schema.ts";
import { sharedPath } from "../../helpers/shared.ts";

const FILE = sharedPath("openapi", "openai.openapi.json");

export const haveDocument = existsSync(FILE);
export const NO_DOCUMENT =
  "The API document is not beside the repository (../shared/openapi): nothing to judge by.";

let schemas: JsonObject | undefined;

/** What is wrong with a value by a named schema of the document; empty when nothing is. */
export function judge(name: string, value: Json): string[] {
  schemas ??= (JSON.parse(readFileSync(FILE, "utf8")) as { components: { schemas: JsonObject } }).components
    .schemas;
  return schemaFaults(schemas[name], value, schemas);
}
