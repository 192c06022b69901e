/** Keys of clients and of the admin API. */
import { type ArrayOptions, Type } from "@sinclair/typebox";
import { isTakenBy, likeness, nameFault, normalName } from "../../core/name.ts";
import { Secret } from "../../core/secret.ts";
import type { KeyOption } from "../../ledger/keys/option.ts";
import { ConfigError, type Fault, faultAt, type Path, writePath } from "../error.ts";
import { section } from "../section.ts";
import { keyOptions, type KeyOptions, writtenOptions } from "./budgets.ts";
import { CLOSED, oneOf } from "./kinds.ts";

/** A gateway key as weir stores it: name, digest and what it may do, never the text. */
export interface GatewayKey extends KeyOptions {
  name: string;
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
  /** The key before, while it is valid too. */
  previous?: PreviousKey;
}

export interface PreviousKey {
  readonly sha256: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** @param more options of keys besides those that every build has */
const gatewayKeyOf = (more: readonly KeyOption[]) =>
  Type.Union(
    [
      Type.String({ writeOnly: true, description: "`name:key`, or the key alone." }),
      Type.Object(
        {
          name: Type.String({ description: "Name of the key's owner; the log shows it." }),
          key: Type.Optional(Type.String({ writeOnly: true, description: "The key itself." })),
          sha256: Type.Optional(
            Type.String({
              writeOnly: true,
              pattern: "^[0-9a-fA-F]{64}$",
              "x-expects": "64 hexadecimal digits",
              description: "The SHA-256 digest of the key, so that the file contains no secret.",
            }),
          ),
          ...keyOptions,
          ...writtenOptions(more),
        },
        CLOSED,
      ),
    ],
    { "x-expects": "a key, or a group of `name` and `key` or `sha256`" },
  );

const keysOf = (more: readonly KeyOption[]) =>
  Type.Unsafe<readonly GatewayKey[]>(
    Type.Array(gatewayKeyOf(more), {
      default: [],
      description:
        "Gateway keys that clients authenticate with: `{name, key}`, `{name, sha256}`, `name:key` or a bare key. A group may also say what the key may do and spend. The variable adds keys. Empty, and no key in the store: no authentication, loopback address only.",
      examples: [["alice:${WEIR_KEY_OF_ALICE}"]],
      "x-env": "WEIR_API_KEYS",
      "x-adds": true,
    }),
  );

export const keys = section("keys", keysOf([]), {
  extended: keysOf,
  readsSecrets: true,
  settle: (written, { locate }) => readKeys(written as readonly KeyEntry[], locate),
});

/** A key for the admin API as weir stores it. */
export interface AdminKey {
  name: string;
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
  /** The key before, while it is valid too. */
  previous?: PreviousKey;
  role?: "admin" | "read";
  path?: string;
  expires?: string;
}

/** Shorter texts of keys for the admin API are refused: such a key is worth more guesses than one for calls. Characters. */
const SHORTEST_ADMIN_KEY = 16;

const adminKey = Type.Object(
  {
    name: Type.String({ description: "Name of the key's owner." }),
    key: Type.Optional(
      Type.String({
        writeOnly: true,
        description: `The key itself, at least ${SHORTEST_ADMIN_KEY} characters; \`\${file:PATH}\` reads it from a file.`,
      }),
    ),
    sha256: Type.Optional(
      Type.String({
        writeOnly: true,
        pattern: "^[0-9a-fA-F]{64}$",
        "x-expects": "64 hexadecimal digits",
        description: "The SHA-256 digest of the key.",
      }),
    ),
    role: Type.Optional(oneOf(["admin", "read"], { description: "Default `read`." })),
    path: Type.Optional(Type.String({ description: "It sees and changes only this path and below." })),
    expires: Type.Optional(Type.String({ description: "Its last day, or a time." })),
  },
  CLOSED,
);

/** The schema of a list of keys for the admin API. */
export const adminKeyList = (options: ArrayOptions) =>
  Type.Unsafe<readonly AdminKey[]>(Type.Array(adminKey, options));

export const adminKeys = section(
  "adminKeys",
  adminKeyList({
    default: [],
    examples: [
      [
        {
          name: "prometheus",
          sha256: "6bdf6d1e8d6bbc0d0e5bb8e0ab2a5c2f4b5c8d5b1a0b3d9a1c6d9e7f20415a3c",
        },
      ],
    ],
    description:
      "Further keys for the admin API and `/metrics`, as `admin.keys` has them. Several files of a config may each have some.",
  }),
  {
    readsSecrets: true,
    settle: (written, { locate }) => readAdminKeys(written, locate, ["adminKeys"]),
    agrees: (list, config) => twinFaults(list, ["adminKeys"], config),
  },
);

/**
 * @param written keys as the file contains them @param locate position of an entry @param at path of the list
 * @throws ConfigError as {@link readKeys}, and for a key that is short
 */
export function readAdminKeys(
  written: readonly unknown[],
  locate: (path: Path) => string,
  at: Path,
): readonly AdminKey[] {
  return readKeys(written as readonly KeyEntry[], locate, { at, shortest: SHORTEST_ADMIN_KEY });
}

/** A key for calls is none for the admin API. @param at path of the list */
export function twinFaults(list: readonly AdminKey[], at: Path, config: object): Fault[] {
  const names = new Map(keys.of(config).map(({ sha256, name }) => [sha256, name]));
  return list.flatMap(({ sha256 }, index) => {
    const path = [...at, index];
    const twin = names.get(sha256);
    return faultAt(path, twin && `${writePath(path)} is the same key as ${twin} of keys`);
  });
}

/** One entry of `keys`: `name:key`, a bare key, or a group. */
export type KeyEntry = string | (KeyOptions & { name: string; key?: string; sha256?: string });

/** Placeholder keys from examples, in lower case and letters only. weir refuses them: anyone can guess them. */
const PLACEHOLDERS = new Set(
  [
    "changeme",
    "changeit",
    "changethis",
    "replaceme",
    "replacethis",
    "placeholder",
    "password",
    "passwd",
  ].concat(
    ["key", "apikey", "secret", "secretkey", "token", "gatewaykey"].flatMap((what) => [
      `your${what}`,
      `${what}here`,
    ]),
    ["yourkeyhere", "yourapikeyhere", "yoursecrethere", "yourtokenhere"],
  ),
);

/** Filler texts: `xxxx`, `sk-xxxx`, `....`, `****`, `12345…`. */
const FILLER = /^((sk-)?x{3,}|[.*]+|12345\d*)$/i;

/** Characters that an HTTP header transports unchanged: visible ASCII. */
const VISIBLE = /^[\x21-\x7e]+$/;

/** Rules of a list of keys. */
interface ListRules {
  /** Path of the list. */
  at?: Path;
  /** Characters that the text of a key has at least. */
  shortest?: number;
}

/**
 * @param locate position of an entry
 * @throws ConfigError on empty, placeholder, short and repeated keys, and on keys that no header can carry. The message never
 * contains the key.
 */
export function readKeys(
  entries: readonly KeyEntry[],
  locate: (path: Path) => string,
  { at = ["keys"], shortest = 1 }: ListRules = {},
): GatewayKey[] {
  /** Index by name. */
  const names = new Map<string, number>();
  /** Names by what they look like. */
  const looks = new Map<string, string>();
  /** By digest. */
  const found = new Map<string, GatewayKey>();
  entries.forEach((entry, index) => {
    const fail: Fail = (clause, member) => {
      const place = [...at, index];
      const path = typeof entry === "string" || member === undefined ? place : [...place, member];
      return new ConfigError(locate(path), `${writePath(place)} ${clause}`, path);
    };
    const written: Partial<Exclude<KeyEntry, string>> = typeof entry === "string" ? splitKey(entry) : entry;
    const name = normalName(written.name ?? freeName(names, index));
    const fault = nameFault(name);
    if (fault !== undefined) throw fail(`has a name that ${fault}`, "name");
    const like = looks.get(likeness(name));
    if (like !== undefined && like !== name && isTakenBy(name, like))
      throw fail(`has the name ${name}, which looks like ${like}, the name of another key`, "name");
    if (names.has(name)) {
      const other = locate([...at, names.get(name)!]);
      throw fail(`has the name ${name}, which the key at ${other} already has`, "name");
    }
    const sha256 = digestOf(written, shortest, fail);
    const twin = found.get(sha256);
    if (twin !== undefined) throw fail(`is the same key as ${twin.name}`);
    names.set(name, index);
    looks.set(likeness(name), name);
    const { key: _, ...options } = written;
    found.set(sha256, { ...options, name, sha256 });
  });
  return [...found.values()];
}

type Fail = (clause: string, member?: "name" | "key" | "sha256") => ConfigError;

const EMPTY_DIGEST = new Secret("").digest();

function digestOf({ key, sha256 }: { key?: string; sha256?: string }, shortest: number, fail: Fail): string {
  if ((key === undefined) === (sha256 === undefined)) throw fail("must have either key or sha256");
  if (sha256?.toLowerCase() === EMPTY_DIGEST) throw fail("is the digest of an empty key", "sha256");
  if (sha256 !== undefined) return sha256.toLowerCase();
  const text = key?.trim() ?? "";
  if (text === "") throw fail("is empty", "key");
  if (!VISIBLE.test(text))
    throw fail("must consist of visible ASCII characters, because it is sent in a header", "key");
  if (isPlaceholder(text))
    throw fail("is a placeholder; generate a key, for example with openssl rand -hex 32", "key");
  if (text.length < shortest)
    throw fail(
      `has fewer than ${shortest} characters; generate a key, for example with openssl rand -hex 32`,
      "key",
    );
  return new Secret(text).digest();
}

function isPlaceholder(key: string): boolean {
  return FILLER.test(key) || PLACEHOLDERS.has(key.toLowerCase().replace(/[^a-z]/g, ""));
}

function freeName(names: ReadonlyMap<string, number>, index: number): string {
  let number = index + 1;
  while (names.has(`key-${number}`)) number++;
  return `key-${number}`;
}

/** Splits `name:key`; a text without a colon is a bare key. */
export function splitKey(text: string): { name?: string; key: string } {
  const colon = text.indexOf(":");
  if (colon < 0) return { key: text.trim() };
  return { name: text.slice(0, colon).trim(), key: text.slice(colon + 1).trim() };
}
