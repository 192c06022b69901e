/** The operations of the admin API on caches: where they are in the document, and what they answer. */
import { expect, test } from "bun:test";
import { fakeAdmin, OPERATIONS } from "../../../../test/helpers/admin.ts";
import { COLUMNS } from "../../../../test/helpers/features.ts";
import { listOperations } from "../../../admin/operations/index.ts";
import { KEY_OPTIONS } from "../../../ledger/keys/options.ts";
import { cacheReport, cacheSession, cacheSessions } from "../../../operator/cache.ts";

test("the operations follow those on captured calls, each as its contract says", () => {
  const all = listOperations("0", COLUMNS, KEY_OPTIONS, OPERATIONS);
  const at = all.findIndex(({ id }) => id === "deleteCaptures") + 1;
  const found = all.slice(at, at + 3).map(({ handle: _, ...operation }) => operation);
  expect(found).toEqual([cacheReport, cacheSessions, cacheSession]);
});

test("a store without such calls has sums of zero, no sessions, and no session by an id", async () => {
  const admin = fakeAdmin();
  const report = await admin.send("GET", "/admin/v1/cache?by=key");
  expect(report.body).toMatchObject({ rows: [], total: { calls: 0, lostCost: 0 } });
  expect((await admin.send("GET", "/admin/v1/cache/sessions")).body.sessions).toEqual([]);
  const missing = await admin.send("GET", `/admin/v1/cache/sessions/${"f".repeat(16)}`);
  expect([missing.status, missing.body.error.code]).toEqual([404, "not_found"]);
});
