/** Two gateways on one PostgreSQL database: what one seals the other opens, and a rekey of one is for both. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { startBooks } from "../../../../test/books/running.ts";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { Envelope, rowOf } from "../../../core/envelope.ts";

setDefaultTimeout(180_000);

const TABLE = "identity_provider_tokens";
const [FIRST, SECOND] = ["first-key-of-the-store-0123456789-0123", "second-key-of-the-store-0123456789-012"];

const mailing = (url: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "mock/chat",
      messages: [{ role: "user", content: "mail anna@example.com" }],
    }),
  });

if (missingPostgres) test.skip(`rekey in PostgreSQL: ${missingPostgres}`, () => {});
else
  test("a key of the config is that of all gateways of a database", async () => {
    const server = await startPostgres();
    const url = await server.createDatabase();
    const start = (store: object) =>
      startBooks({
        workers: 1,
        config: {
          cluster: true,
          store: { url, ...store },
          guards: { pii: { find: ["email"], do: "replace" } },
        },
      });
    const sql = new Bun.SQL(url);
    const one = await start({ sealKey: FIRST });
    const other = await start({ sealKey: SECOND, oldSealKeys: [FIRST] });
    try {
      for (const { url: at } of [one, other]) expect((await mailing(at)).status).toBe(200);
      const secret = async () =>
        ((await sql`SELECT secret FROM guards_secret`) as { secret: string }[])[0]!.secret;
      const guards = rowOf("guards_secret", "secret", ["tokens"]);
      expect(new Envelope(FIRST!).open(await secret(), guards)).toHaveLength(43);
      const envelope = new Envelope(FIRST!);
      for (let row = 0; row < 450; row++) {
        const key = [`per_${row % 30}`, `provider-${Math.floor(row / 30)}`] as const;
        const sealed = envelope.seal(`token-${row}`, rowOf(TABLE, "sealed", key));
        await sql`INSERT INTO identity_provider_tokens VALUES (${key[0]}, ${key[1]}, ${sealed}, 1, NULL, 0)`;
      }
      const ran = await other.runBeside("secrets", "rekey", "--json");
      expect(JSON.parse(ran.output)).toEqual({ rewrapped: 451, current: 0, unreadable: 0 });
      expect(new Envelope(SECOND!).open(await secret(), guards)).toHaveLength(43);
      const rows = (await sql`SELECT person, provider, sealed FROM identity_provider_tokens`) as {
        person: string;
        provider: string;
        sealed: string;
      }[];
      const next = new Envelope(SECOND!);
      const opened = rows.filter(
        ({ person, provider, sealed }) =>
          next.open(sealed, rowOf(TABLE, "sealed", [person, provider]))?.startsWith("token-") === true,
      );
      expect(opened.length).toBe(450);
    } finally {
      await one.end();
      await other.end();
      await sql.end();
      await server.close();
    }
  });
