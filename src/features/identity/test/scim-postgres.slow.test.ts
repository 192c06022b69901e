/** SCIM with PostgreSQL as the store. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { describeScim } from "./scim-suite.ts";
import { Issuer } from "./support/issuer.ts";
import { oktaUser, ScimGateway } from "./support/scim.ts";

setDefaultTimeout(120_000);

if (missingPostgres) test.skip(`SCIM in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("in PostgreSQL", async () => {
    const server = await startPostgres();
    describeScim(2, () => server.createDatabase());
    afterAll(() => server.close());

    test("what one gateway is told holds at the other, and ends with the option", async () => {
      const store = await server.createDatabase();
      const issuer = await Issuer.start("ES256");
      const nodes = [
        await ScimGateway.start(2, store, { issuer }),
        await ScimGateway.start(2, store, { issuer }),
      ];
      const [one, two] = nodes as [ScimGateway, ScimGateway];
      try {
        const user = await one.created("/Users", oktaUser("anna"));
        await two.created("/Groups", { displayName: "team-both", members: [{ value: user.id }] });
        const token = await one.token("anna");
        const both = async () => [await one.everywhere(token), await two.everywhere(token)];
        expect(await both()).toEqual([[200], [200]]);
        for (const [at, active] of [
          [one, false],
          [two, true],
          [two, "False"],
          [one, true],
        ] as const) {
          await at.patched(`/Users/${user.id}`, { op: "replace", value: { active } });
          const status = active === true ? 200 : 403;
          expect(await both()).toEqual([[status], [status]]);
        }
        // Both create the same users.
        const raced = Array.from({ length: 40 }, (_, n) =>
          nodes[n % 2]!.scim("POST", "/Users", oktaUser(`race-${n >> 1}`)),
        );
        const statuses = (await Promise.all(raced)).map(({ status }) => status);
        expect(statuses.toSorted((a, b) => a - b)).toEqual([
          ...[...Array<number>(20).fill(201), ...Array<number>(20).fill(409)],
        ]);
        for (const node of nodes.splice(0)) await node.gateway.end();
        nodes.push(await ScimGateway.start(2, store, { issuer, identity: { scim: {}, link: undefined } }));
        const isOver = async () => (await nodes[0]!.person("anna")).grants.length === 0;
        expect(await until(isOver, 10_000)).toBe(true);
        expect(await nodes[0]!.everywhere(token)).toEqual([403]);
      } finally {
        for (const node of nodes) await node.gateway.end();
        await issuer.stop();
      }
    });
  });
