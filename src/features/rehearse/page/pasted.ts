/**
 * A config that a person has pasted. A config may read variables, secret files and other config files of its machine: a pasted
 * one must not show what the admin API does not show, nor run code that the config on the disk does not run.
 */
import { readFileSync } from "node:fs";
import type { TSchema } from "@sinclair/typebox";
import { parseText } from "../../../config/document.ts";
import { ConfigError, type Path } from "../../../config/error.ts";
import { CORE_OPTIONS } from "../../../config/schema.ts";
import { holdsSecret, memberOf } from "../../../config/shape.ts";
import { atOnce } from "../../../core/slices.ts";

/** `$${` is no reference. */
const REFERENCE = /(?:^|[^$])\$\{/;

/** Options that name other files, of config or of code: as the config on the disk has them, or absent. */
const FIXED = [["include"], ["plugins", "dir"]] as const;

/**
 * @param name of the config file, for messages
 * @param files those of the config on the disk, with absolute paths
 * @throws ConfigError for what is no YAML, and for what a pasted config must not name
 */
export function expectPasteable(text: string, name: string, files: readonly string[]): void {
  const { value, locate } = atOnce(parseText(text, name));
  const known = files.map(readValue);
  for (const path of FIXED) {
    const given = valueAt(value, path);
    if (given === undefined || known.some((one) => isSame(valueAt(one, path), given))) continue;
    throw new ConfigError(
      locate(path),
      "a pasted config has this as the config on the disk, because it names other files; `weir rehearse` on the command line takes it",
      path,
    );
  }
  for (const { path, text: written } of textsIn(value)) {
    if (!REFERENCE.test(written) || isSecret(path)) continue;
    if (known.some((one) => valueAt(one, path) === written)) continue;
    throw new ConfigError(
      locate(path),
      "a pasted config refers to a variable only in a secret, or where the config on the disk does the same; `weir rehearse` on the command line takes it",
      path,
    );
  }
}

/** A file that is not valid permits nothing. */
function readValue(file: string): unknown {
  try {
    return atOnce(parseText(readFileSync(file, "utf8"), file)).value;
  } catch {
    return undefined;
  }
}

/** Whether weir shows the text at a path nowhere. Some headers are shown. */
function isSecret(path: Path): boolean {
  if (path.includes("headers")) return false;
  const schema = path.reduce<TSchema | undefined>(
    (inner, step) => inner && memberOf(inner, step),
    CORE_OPTIONS.file,
  );
  return schema !== undefined && holdsSecret(schema);
}

interface Text {
  path: Path;
  text: string;
}

function textsIn(value: unknown, path: Path = []): Text[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (typeof value !== "object" || value === null) return [];
  const members = Array.isArray(value)
    ? value.map((inner, index) => [index, inner] as const)
    : Object.entries(value);
  return members.flatMap(([step, inner]) => textsIn(inner, [...path, step]));
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value,
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
