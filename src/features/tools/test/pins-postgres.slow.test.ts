/** Pins with PostgreSQL as the store: names that no text of it has, the largest lists, and two nodes that see a server first. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import type { JsonObject } from "../../../core/json.ts";
import { openPostgres } from "../../../keeper/store/postgres/store.ts";
import { digestOf, PinsBook } from "../pins/book.ts";
import { isPending, readPins, readTools } from "../pins/rows.ts";
import { tables } from "../tables.ts";
import { hostOn } from "./support/store.ts";

setDefaultTimeout(120_000);

const tool = (name: string): JsonObject => ({ name, description: "x".repeat(1_000), inputSchema: {} });

describe.skipIf(missingPostgres !== undefined)(`PostgreSQL (${missingPostgres ?? "present"})`, () => {
  test("hostile names and 5,000 tools are stored, and of two first lists one counts", async () => {
    const server = await startPostgres();
    const sql = await openPostgres(server.url, Date.now, { tables: [{ feature: "tools", tables }] });
    try {
      const { host } = hostOn(sql);
      const books = [new PinsBook(host), new PinsBook(host)];
      const see = (at: number, definitions: JsonObject[]) =>
        books[at]!.see({ server: "s", definitions, mode: "approve" });
      await Promise.all([see(0, [tool("a")]), see(1, [tool("b")])]);
      const first = Object.keys((await readPins(sql, "s"))!);
      expect(first.length).toBe(1);
      const names = ["a\u0000b", "\ud800", "x".repeat(100_000), "", "__proto__"];
      const many = [...names, ...Array.from({ length: 4_990 }, (_, at) => `tool-${at}`)].map(tool);
      await see(0, many);
      const waiting = (await readTools(sql, "s")).filter(isPending);
      expect(waiting.length).toBe(many.length + 1);
      await books[1]!.approve({ actor: "ops" }, "s", digestOf(waiting));
      expect(Object.keys((await readPins(sql, "s"))!).length).toBe(many.length);
    } finally {
      await sql.close();
      await server.close();
    }
  });
});
