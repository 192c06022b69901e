/**
 * Labels that Claude Code puts on requests for bills (`tags`, with a beta of their own). The one that the config names becomes a tag
 * of the call, and no provider gets any: some refuse a request with them. They are what the person says.
 */
import { isObject, parseJson } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Around, Edited } from "../../../gateway/seams.ts";
import { editMembers, scanBody } from "../../../stream/scan.ts";
import { factsOf, noteFacts } from "../columns.ts";
import { signedIn } from "./told.ts";

const MEMBER = "tags";
const HEADER = "anthropic-beta";
const BETA = /^request-tags-/;
/** As the books accept a tag. */
const TAG = /^[\w.:@/-]{1,64}$/;
/** Tags of one person at a time; more have an object of their own for each call. */
const MOST_TAGS = 100;

/** @param name of the label that becomes a tag */
export function labels(name: string): Around {
  return (entry, next) => {
    const { call, bytes } = entry;
    const principal = signedIn(call);
    const span = principal && entry.spanOf(MEMBER);
    if (!span) return next();
    const said = parseJson(
      Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start).toString(),
    );
    const value = isObject(said) ? said[name] : undefined;
    const tag = `${name}:${String(value)}`;
    if (typeof value === "string" && TAG.test(tag)) call.principal = tagged(principal, tag);
    withoutBeta(call.headers);
    return next(without(bytes, entry.body, entry.spanOf));
  };
}

/** The ledger remembers for each object which budgets count it. */
const known = new WeakMap<Principal, Map<string, Principal>>();

function tagged(principal: Principal, tag: string): Principal {
  const tags = known.get(principal) ?? new Map<string, Principal>();
  known.set(principal, tags);
  const found = tags.get(tag) ?? { ...principal, tags: [...principal.tags, tag] };
  if (tags.size < MOST_TAGS) tags.set(tag, found);
  const facts = factsOf(principal);
  if (facts) noteFacts(found, facts);
  return found;
}

function withoutBeta(headers: Headers): void {
  const betas = (headers.get(HEADER) ?? "").split(",").map((beta) => beta.trim());
  const kept = betas.filter((beta) => beta !== "" && !BETA.test(beta));
  if (kept.length === betas.length) return;
  if (kept.length === 0) headers.delete(HEADER);
  else headers.set(HEADER, kept.join(","));
}

function without(bytes: Uint8Array, body: object, spanOf: Edited["spanOf"]): Edited {
  const edited = Buffer.concat(editMembers(bytes, new Map([[MEMBER, undefined]]), (name) => spanOf(name)));
  const { [MEMBER]: _, ...rest } = body as Edited["body"];
  let members: ReturnType<typeof scanBody>["members"] | undefined;
  return {
    bytes: edited,
    body: rest,
    spanOf: (name) => (members ??= scanBody(edited, Infinity).members).get(name),
  };
}
