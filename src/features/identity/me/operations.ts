/** What a person sees and does of its own, by the admin API. */
import { type AdminRequest, answers } from "../../../admin/operation.ts";
import { AdminError } from "../../../operator/errors.ts";
import { createMyKey, deleteMyKey, endMySession, getMe, rotateMyKey } from "./contracts.ts";
import { type Me, type Mine, mine } from "./me.ts";
import type { Made } from "./own-keys.ts";

type Given = Pick<AdminRequest, "caller" | "session">;

export const meOperations = [
  answers(getMe, async (given) => {
    const found = mineOf(given);
    const { me, session, secret, owner } = found;
    const [{ policy, ...report }, sessions] = await Promise.all([
      me.report(given.books, owner),
      me.sessions(given.books, owner, secret),
    ]);
    const { person, name, path, grants, until } = session;
    const roles = grants.map(({ role, on, source }) => ({ role, on, source }));
    return {
      json: { person, name, path, roles, until, ...report, mayHaveKeys: policy?.most ?? 0, sessions },
    };
  }),
  answers(createMyKey, async (given) => {
    const { me, owner } = mineOf(given);
    return { json: madeOf(await me.create(given.books, owner, given.body.name)) };
  }),
  answers(rotateMyKey, async (given) => {
    const { me, owner } = mineOf(given);
    return { json: madeOf(await me.rotate(given.books, owner, given.params.id, given.body.graceMs)) };
  }),
  answers(deleteMyKey, async (given) => {
    const { me, owner } = mineOf(given);
    const { id } = await me.revoke(given.books, owner, given.params.id);
    return { json: { id } };
  }),
  answers(endMySession, async (given) => {
    const { me, owner } = mineOf(given);
    const { id } = given.params;
    await me.endSession(owner, id);
    return { json: { id } };
  }),
];

/** @throws AdminError 404 for a key, which has no person */
function mineOf({ caller, session }: Given): Mine & { owner: ReturnType<Me["ownerOf"]> } {
  const found = session && mine.get(session);
  if (!found) throw new AdminError(404, "not_found", "A key has no person; sign in to use this operation.");
  return { ...found, owner: found.me.ownerOf(found.session, caller.address) };
}

function madeOf({ key: { id, name, path, expiresAt }, secret }: Made) {
  return { id, name, path, secret, ...(expiresAt !== undefined && { expiresAt }) };
}
