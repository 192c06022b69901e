/** Creates, changes, rotates and revokes keys. Pure: the caller writes the entry to the store. */
import { nameFault, normalName } from "../../core/name.ts";
import type { ModelSets } from "../../core/model-sets.ts";
import type { KeyEntry, KeyKind, Scopes } from "../policy.ts";
import { digestOf, hintOf, makeKeyId, makeKeyText } from "./form.ts";
import type { KeyOption } from "./option.ts";
import { isWithin, pathFault, ROOT } from "./path.ts";
import { excessOf, inheritScopes, type KeyFault, scopesFault } from "./scopes.ts";

/** Who makes or changes a key: it can give nothing that it does not have. */
export interface Maker {
  path: string;
  scopes: Scopes;
  expiresAt?: number;
  /** The sets of the config, which scopes may name. */
  sets?: ModelSets;
  /** The options of keys in this build. */
  options?: readonly KeyOption[];
}

/** A maker without limits: the operator on the machine itself, and keys of the config. */
export const UNLIMITED: Maker = { path: ROOT, scopes: {} };

export interface KeyRequest {
  name: string;
  /** Default: `call`. */
  kind?: KeyKind;
  /** Default: the path of the maker. */
  path?: string;
  tags?: readonly string[];
  /** Members that a scope leaves out are taken from the maker. */
  scopes?: Scopes;
  /** Milliseconds since 1970. */
  expiresAt?: number;
}

/** A key cannot be made as requested. The message is one sentence. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  /** The member that is wrong: `models`. */
  readonly member: string;
  /** The maker lacks what the key would have. */
  readonly isBeyondMaker: boolean;

  constructor({ member, clause }: KeyFault, isBeyondMaker = false) {
    super(`${clause}.`);
    this.member = member;
    this.isBeyondMaker = isBeyondMaker;
  }
}

const TAG = /^[\w.:@/-]{1,64}$/;
const MAX_TAGS = 32;

/** @param now milliseconds since 1970 @returns the entry, and the key itself, which exists nowhere else @throws KeyError */
export function createKey(request: KeyRequest, maker: Maker, now: number): { entry: KeyEntry; text: string } {
  const kind = request.kind ?? "call";
  const text = makeKeyText(kind);
  const entry = checked(
    { ...draft(request, maker), id: makeKeyId(), kind, digests: [newDigest(text)] },
    maker,
  );
  if (entry.expiresAt !== undefined && entry.expiresAt <= now)
    throw new KeyError({ member: "expires", clause: "expires must be in the future" });
  return { entry, text };
}

/** An entry for a key whose text exists elsewhere. @throws KeyError */
export function adoptKey(request: KeyRequest, sha256: string, maker: Maker): KeyEntry {
  const kind = request.kind ?? "call";
  return checked({ ...draft(request, maker), id: makeKeyId(), kind, digests: [{ sha256 }] }, maker);
}

/** Changes of a key; `null` removes a member. */
export interface KeyChange {
  name?: string;
  path?: string;
  tags?: readonly string[];
  scopes?: Scopes;
  expiresAt?: number | null;
}

/** @throws KeyError also when the key is not the maker's to change */
export function changeKey(entry: KeyEntry, change: KeyChange, maker: Maker): KeyEntry {
  assertOwn(entry, maker);
  const { expiresAt, scopes, ...members } = change;
  const { expiresAt: known, ...rest } = entry;
  const ends = expiresAt === undefined ? known : (expiresAt ?? maker.expiresAt);
  return checked(
    {
      ...rest,
      ...members,
      ...(members.name !== undefined && { name: normalName(members.name) }),
      ...(scopes && { scopes: inheritScopes(scopes, maker.scopes) }),
      ...(ends !== undefined && { expiresAt: ends }),
    },
    maker,
  );
}

/**
 * Gives a key a second text; the previous ones are valid until the grace period ends.
 * @param graceMs 0: the previous texts are invalid at once @throws KeyError
 */
export function rotateKey(
  entry: KeyEntry,
  graceMs: number,
  maker: Maker,
  now: number,
): { entry: KeyEntry; text: string } {
  assertOwn(entry, maker);
  if (entry.revokedAt !== undefined)
    throw new KeyError({ member: "id", clause: `the key ${entry.name} is revoked; create a new one` });
  const text = makeKeyText(entry.kind);
  const ends = now + graceMs;
  const previous = entry.digests
    .map((digest) => ({ ...digest, until: Math.min(digest.until ?? ends, ends) }))
    .filter(({ until }) => until > now);
  return { entry: { ...entry, digests: [newDigest(text), ...previous] }, text };
}

/** @param cut end the running streams of the key too @throws KeyError */
export function revokeKey(entry: KeyEntry, cut: boolean, maker: Maker, now: number): KeyEntry {
  assertOwn(entry, maker);
  return { ...entry, revokedAt: entry.revokedAt ?? now, ...(cut && { cut }) };
}

/** Whether a maker may see and change a key. */
export function isOwn({ path }: Pick<KeyEntry, "path">, maker: Maker): boolean {
  return isWithin(path, maker.path);
}

function assertOwn(entry: KeyEntry, maker: Maker): void {
  if (isOwn(entry, maker)) return;
  throw new KeyError({ member: "path", clause: `the key ${entry.name} is not below ${maker.path}` }, true);
}

function draft(request: KeyRequest, maker: Maker): Omit<KeyEntry, "id" | "kind" | "digests"> {
  const expiresAt = request.expiresAt ?? maker.expiresAt;
  return {
    name: normalName(request.name),
    path: request.path ?? maker.path,
    tags: request.tags ?? [],
    scopes: inheritScopes(request.scopes ?? {}, maker.scopes),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function newDigest(text: string): KeyEntry["digests"][number] {
  return { sha256: digestOf(text), hint: hintOf(text) };
}

/** @throws KeyError */
function checked(entry: KeyEntry, maker: Maker): KeyEntry {
  const fault = keyFault(entry);
  if (fault) throw new KeyError(fault);
  const { path, scopes, expiresAt } = entry;
  if (!isWithin(path, maker.path))
    throw new KeyError({ member: "path", clause: `path must be ${maker.path} or below it` }, true);
  if (maker.expiresAt !== undefined && (expiresAt === undefined || expiresAt > maker.expiresAt))
    throw new KeyError(
      { member: "expires", clause: `expires must be at most ${new Date(maker.expiresAt).toISOString()}` },
      true,
    );
  const excess = excessOf(scopes, maker.scopes, maker);
  if (excess) throw new KeyError(excess, true);
  return entry;
}

/** The first fault of an entry, of every maker; undefined when there is none. */
export function keyFault({
  name,
  path,
  tags,
  scopes,
}: Pick<KeyEntry, "name" | "path" | "tags" | "scopes">): KeyFault | undefined {
  const fault = nameFault(name);
  if (fault !== undefined) return { member: "name", clause: `name ${fault}` };
  const clause = pathFault(path);
  if (clause !== undefined) return { member: "path", clause: `path ${clause}` };
  if (tags.length > MAX_TAGS) return { member: "tags", clause: `tags must have at most ${MAX_TAGS} entries` };
  if (!tags.every((tag) => TAG.test(tag)))
    return { member: "tags", clause: "tags must have 1 to 64 letters, digits and . : @ / _ - each" };
  return scopesFault(scopes);
}
