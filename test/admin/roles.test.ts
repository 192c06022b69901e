/** Who may use which operation: each contract, those of features included, with each kind of credential. */
import { expect, test } from "bun:test";
import { COLUMNS } from "../helpers/features.ts";
import { OPERATIONS } from "../helpers/admin.ts";
import type { AdminBooks } from "../../src/admin/books.ts";
import type { AdminOperation } from "../../src/admin/operation.ts";
import { listOperations } from "../../src/admin/operations/index.ts";
import { AdminServer } from "../../src/admin/server.ts";
import { cookieOf } from "../../src/admin/session/cookie.ts";
import { Sessions } from "../../src/admin/session/sessions.ts";
import { digestOf, makeKeyText } from "../../src/ledger/keys/form.ts";
import { KEY_OPTIONS } from "../../src/ledger/keys/options.ts";
import type { KeyEntry, KeyKind } from "../../src/ledger/policy.ts";
import type { Needs } from "../../src/operator/contract.ts";

const NOW = 1_800_000_000_000;
const LISTED = listOperations("0", COLUMNS, KEY_OPTIONS, OPERATIONS);

const keys: KeyEntry[] = [];
const sessions = new Sessions();

function keyOf(kind: KeyKind, path: string, more: Partial<KeyEntry> = {}): string {
  const text = makeKeyText(kind);
  const id = `key_${keys.length}`;
  const digests = [{ sha256: digestOf(text) }];
  keys.push({ id, name: id, kind, path, tags: [], digests, scopes: {}, ...more });
  return text;
}

/** Answers every request that is let in, whatever its body. */
function serverOn(host: string): AdminServer {
  const letIn = ({ query: _, body: _unread, ...operation }: AdminOperation): AdminOperation => ({
    ...operation,
    status: 200,
    handle: () => ({ json: "in" }),
  });
  return new AdminServer({
    // No operation comes to its books.
    books: { policy: () => ({ keys }) } as unknown as AdminBooks,
    operations: LISTED.map(letIn),
    own: () => ({ host, port: 9348, names: [] }),
    sessions,
    runDigest: digestOf("run"),
    report: (message, cause) => expect([message, cause]).toEqual([]),
    now: () => NOW,
  });
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const cookie = ({ secret }: { secret: string }) => ({
  ...{
    cookie: cookieOf("weir_console_9348", secret),
    "x-weir-console": "1",
    origin: "http://127.0.0.1:9348",
  },
});
const ofLink = sessions.useLink(sessions.addLink(NOW).token, NOW)!;
const ofKey = (text: string) => sessions.begin(digestOf(text), NOW);

/** The columns of the table. What a scraper reads is on the gateway. */
const COLUMNS_OF = [
  "none path",
  "scraper gateway",
  "read path",
  "read gateway",
  "admin path",
  "admin gateway",
] as const;
const HOSTS = ["127.0.0.1", "0.0.0.0"] as const;

const TABLE: readonly [string, Record<string, string>, (typeof HOSTS)[number], readonly number[]][] = [
  ["no credential", {}, "127.0.0.1", [200, 200, 401, 401, 401, 401]],
  ["no credential", {}, "0.0.0.0", [200, 401, 401, 401, 401, 401]],
  ["an unknown key", bearer("weir_ad_unknown"), "127.0.0.1", [200, 401, 401, 401, 401, 401]],
  ["a key for calls", bearer(keyOf("call", "/")), "127.0.0.1", [200, 403, 403, 403, 403, 403]],
  [
    "an expired key",
    bearer(keyOf("admin", "/", { expiresAt: NOW })),
    "127.0.0.1",
    [200, 401, 401, 401, 401, 401],
  ],
  [
    "a revoked key",
    bearer(keyOf("admin", "/", { revokedAt: 1 })),
    "127.0.0.1",
    [200, 401, 401, 401, 401, 401],
  ],
  ["a read key", bearer(keyOf("read", "/")), "0.0.0.0", [200, 200, 200, 200, 403, 403]],
  ["a read key on a path", bearer(keyOf("read", "/eng")), "127.0.0.1", [200, 403, 200, 403, 403, 403]],
  ["an admin key", bearer(keyOf("admin", "/")), "0.0.0.0", [200, 200, 200, 200, 200, 200]],
  ["an admin key on a path", bearer(keyOf("admin", "/eng")), "127.0.0.1", [200, 403, 200, 403, 200, 403]],
  ["the run file", bearer("run"), "127.0.0.1", [200, 200, 200, 200, 200, 200]],
  ["the run file", bearer("run"), "0.0.0.0", [200, 401, 401, 401, 401, 401]],
  ["the session of a link", cookie(ofLink), "127.0.0.1", [200, 200, 200, 200, 200, 200]],
  [
    "the session of a read key",
    cookie(ofKey(keyOf("read", "/"))),
    "127.0.0.1",
    [200, 200, 200, 200, 403, 403],
  ],
  [
    "the session of an admin key on a path",
    cookie(ofKey(keyOf("admin", "/eng"))),
    "127.0.0.1",
    [200, 403, 200, 403, 200, 403],
  ],
];

const columnOf = ({ role, on }: Needs) => COLUMNS_OF.findIndex((name) => name === `${role} ${on}`);

const servers = { "127.0.0.1": serverOn("127.0.0.1"), "0.0.0.0": serverOn("0.0.0.0") };

test.each(TABLE)(
  "%s gives what the table says, for every operation (%#)",
  async (_name, headers, host, statuses) => {
    const wrong: string[] = [];
    for (const [at, { id, method, path, needs }] of LISTED.entries()) {
      const request = new Request(`http://127.0.0.1:9348${path.replaceAll(/\{\w+\}/g, "x")}`, {
        method,
        headers: { host: "127.0.0.1:9348", ...headers },
      });
      // An address of its own for each: wrong keys make an address wait.
      const { status } = await servers[host].handle(request, `10.0.0.${at}`);
      if (status !== statuses[columnOf(needs)]) wrong.push(`${id} (${needs.role} on ${needs.on}): ${status}`);
    }
    expect(wrong).toEqual([]);
  },
);

test("the table has a column for each operation, and operations for each column", () => {
  const used = new Set(LISTED.map(({ needs }) => COLUMNS_OF[columnOf(needs)]));
  expect(used).toEqual(new Set(COLUMNS_OF));
  const ofFeatures = OPERATIONS.flatMap(({ operations }) => operations.map(({ id }) => id));
  expect(ofFeatures.length).toBeGreaterThan(0);
  expect(LISTED.map(({ id }) => id)).toEqual(expect.arrayContaining(ofFeatures));
});
