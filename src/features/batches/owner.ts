/** Whose a batch is, and who sees it. */
import type { Principal } from "../../core/principal.ts";
import type { WorkerHost } from "../../gateway/seams.ts";

/** The caller that made a batch, as its lines are run for it later. */
export interface Owner {
  readonly path: string;
  readonly key?: string;
  readonly person?: string;
  /** The client's address when it made the batch: keys may be bound to addresses. */
  readonly address: string;
  /** Of a caller without a key: what it is made of. */
  readonly caller?: {
    readonly id: string;
    readonly name: string;
    readonly tags: readonly string[];
    readonly scopes: Readonly<Record<string, unknown>>;
  };
}

/** Who looks at batches. */
export interface Seer {
  /** Absent: everything is seen, because calls need no key. */
  readonly path?: string;
  readonly key?: string;
  readonly person?: string;
  /** All batches of the path are seen. */
  readonly sharesPath?: boolean;
}

export function ownerOf(principal: Principal | undefined, address: string): Owner {
  if (!principal) return { path: "/", address };
  const { id, name, path, tags, key, person, options } = principal;
  return {
    ...{ path, address },
    ...(key && { key: key.id }),
    ...(person !== undefined && { person }),
    ...(!key && { caller: { id, name, tags, scopes: options.scopes } }),
  };
}

export function seerOf(principal: Principal | undefined, share: "key" | "path"): Seer {
  if (!principal) return {};
  const { path, key, person } = principal;
  return {
    path,
    ...(key && { key: key.id }),
    ...(person !== undefined && { person }),
    ...(share === "path" && { sharesPath: true }),
  };
}

/** The caller of a batch, as it may ask now. @returns "gone": its key admits no calls any more */
export function callerOf(
  { path, key, person, caller }: Owner,
  host: Pick<WorkerHost, "callerOfKey" | "isOpen" | "principal">,
): Principal | undefined | "gone" {
  if (key !== undefined) return host.callerOfKey(key) ?? "gone";
  if (!caller) return host.isOpen() ? undefined : "gone";
  return host.principal({ ...caller, path, ...(person !== undefined && { person }) });
}

/** The caller of a batch as what its lines may have cost is booked, also when its key admits no calls any more. */
export function bookedTo(
  owner: Owner,
  host: Pick<WorkerHost, "callerOfKey" | "isOpen" | "principal">,
): Principal | undefined {
  const found = callerOf(owner, host);
  if (found !== "gone") return found;
  const { path, key, person } = owner;
  if (key === undefined) return undefined;
  return host.principal({
    ...{ id: key, name: key, path, tags: [], scopes: {} },
    ...(person !== undefined && { person }),
  });
}
