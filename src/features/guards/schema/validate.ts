/**
 * Checks a value against a JSON schema, with the keywords of draft 2020-12 and of older ones that vendors take. Faults have paths
 * and words of the schema, and nothing of the value. `format` and what is unknown say nothing, as the drafts have it.
 */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type Checking, RULES, type SchemaFault } from "./rules.ts";

/** Most faults of one value: one is enough to refuse it. */
const MOST = 20;
/** Deepest way through references and nested schemas. */
const DEPTH = 200;

class Check implements Checking {
  readonly root: JsonObject;

  constructor(root: JsonObject) {
    this.root = root;
  }

  of(schema: Json | undefined, value: Json, path: string, depth: number): SchemaFault[] {
    if (schema === undefined || schema === true) return [];
    if (schema === false) return [{ path, clause: "is not permitted" }];
    if (!isObject(schema) || depth > DEPTH) return [];
    if (value === null && schema["nullable"] === true) return [];
    const faults: SchemaFault[] = [];
    for (const name in schema) {
      const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
      if (rule)
        faults.push(...rule({ given: schema[name]!, schema, value, path, depth: depth + 1, check: this }));
      if (faults.length >= MOST) return faults.slice(0, MOST);
    }
    return faults;
  }

  accepts(schema: Json | undefined, value: Json, depth: number): boolean {
    return this.of(schema, value, "", depth).length === 0;
  }

  resolve(reference: string): Json | undefined {
    if (!reference.startsWith("#")) return undefined;
    let at: Json | undefined = this.root;
    for (const step of reference.slice(1).split("/").filter(Boolean)) {
      const name = decoded(step);
      at = isObject(at) || Array.isArray(at) ? (at as JsonObject)[name] : undefined;
    }
    return at;
  }
}

function decoded(step: string): string {
  const text = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function schemaFaults(schema: JsonObject, value: Json): SchemaFault[] {
  return new Check(schema).of(schema, value, "", 0);
}
