/** Texts of environment variables as values of options. */
import type { TSchema } from "@sinclair/typebox";
import { ConfigError } from "./error.ts";
import { readText } from "./read.ts";
import type { Environment } from "./substitute.ts";

/** Kubernetes sets `WEIR_PORT=tcp://10.0.0.1:9347` for a service named `weir`. weir ignores such a value. */
const SERVICE_LINK = /^(tcp|udp|sctp):\/\//;

/** A variable's text. Empty counts as unset, except for keys: an empty list of keys would open the gateway. */
export function readVariable(name: string, env: Environment): string | undefined {
  const text = env[name]?.trim();
  if (text === undefined || (name === "WEIR_PORT" && SERVICE_LINK.test(text))) return undefined;
  if (text !== "") return text;
  if (name !== "WEIR_API_KEYS") return undefined;
  throw new ConfigError(name, "the list of gateway keys is empty; add a key or remove the variable", "keys");
}

/** @param name of the flag or the variable */
export function readTextAs(schema: TSchema, name: string, text: string): unknown {
  if (schema["type"] === "array") return splitList(text);
  return schema["type"] === "object" ? splitPairs(name, text) : readText(schema, text);
}

/** `name=value` with commas between them; values are percent-encoded. */
function splitPairs(variable: string, text: string): Record<string, string> {
  const pairs = splitList(text).filter((pair) => pair !== "");
  const fault = new ConfigError(variable, "a list of name=value is expected, with commas between them");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      if (name.trim() === "" || value.length === 0) throw fault;
      try {
        return [name.trim(), decodeURIComponent(value.join("=").trim())];
      } catch {
        throw fault;
      }
    }),
  );
}

function splitList(text: string): string[] {
  return text.split(",").map((entry) => entry.trim());
}
