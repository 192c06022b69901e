/**
 * Managed settings of Claude Code for one caller: those of the paths from the root to the caller's, as one document. The client
 * computes the checksum too, so its rule is exact: SHA-256 of the JSON with sorted keys and without white space (the protocol
 * document of Claude Code's own gateway, 2.1.328, "Managed settings").
 */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { isWithin } from "../../../ledger/keys/path.ts";

/** A document as it is served. */
export interface SettingsDocument {
  readonly body: string;
  /** With quotes. */
  readonly etag: string;
}

/** Documents in memory; callers of different paths often have the same. */
const MOST_KEPT = 1_000;

/** Lists that only ever forbid or add: those of a path are appended to those above, so that no path below loses a rule. */
const GROWING = /^(?:deny|ask|denied\w*|disabled\w*|blocked\w*)$/;

export class ManagedSettings {
  /** From the root downwards. */
  readonly #levels: readonly { readonly path: string; readonly own: object }[];
  readonly #kept = new Map<string, SettingsDocument>();

  /** @param settings by path */
  constructor(settings: Readonly<Record<string, object>>) {
    this.#levels = Object.entries(settings)
      .map(([path, own]) => ({ path, own }))
      .sort((a, b) => depth(a.path) - depth(b.path));
  }

  /**
   * @param models names of the models to which the caller is restricted; absent: to none
   * @returns undefined if nothing is set for the caller
   */
  of(path: string, models: readonly string[] | undefined): SettingsDocument | undefined {
    const levels = this.#levels.filter((level) => isWithin(path, level.path));
    if (levels.length === 0 && models === undefined) return undefined;
    const name = JSON.stringify([levels.map((level) => level.path), models]);
    const known = this.#kept.get(name);
    if (known) return known;
    const written = levels.reduce<unknown>((above, { own }) => merged(above, own), {}) as JsonObject;
    const settings = { ...(models && { availableModels: [...models] }), ...written };
    const document = documentOf(settings);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(name, document);
    return document;
  }
}

function documentOf(settings: JsonObject): SettingsDocument {
  const text = canonical(settings);
  const checksum = `sha256:${new Bun.CryptoHasher("sha256").update(text).digest("hex")}`;
  return {
    body: `{"uuid":"${checksum}","checksum":"${checksum}","settings":${text}}`,
    etag: `"${checksum}"`,
  };
}

/** JSON with sorted keys at every level and without white space. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** Objects are merged; of other values the lower one counts, lists that grow excepted. */
function merged(above: unknown, own: unknown, name = "", isHooks = false): unknown {
  if (isObject(above) && isObject(own)) {
    const names = [...new Set([...Object.keys(above), ...Object.keys(own)])];
    // Not by assignment: a member may have the name `__proto__`.
    return Object.fromEntries(
      names.map((member) => [member, mergedMember(above, own, member, isHooks || name === "hooks")]),
    );
  }
  const grows = isHooks || GROWING.test(name);
  if (!grows || !Array.isArray(above) || !Array.isArray(own)) return own;
  const known = new Set(above.map(canonical));
  return [...above, ...own.filter((one) => !known.has(canonical(one)))];
}

function mergedMember(above: JsonObject, own: JsonObject, name: string, isHooks: boolean): unknown {
  if (!Object.hasOwn(own, name)) return above[name];
  return Object.hasOwn(above, name) ? merged(above[name], own[name], name, isHooks) : own[name];
}

const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);

/** Whether the condition of a request names the document: it needs no body then. `*` asks only whether there is one. */
export function isUnchanged(condition: string | null, etag: string): boolean {
  if (condition === null || condition.trim() === "*") return false;
  return condition.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
