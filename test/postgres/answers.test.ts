/** Stored answers in PostgreSQL, for several nodes. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SharedAnswers } from "../../src/keeper/answers/shared.ts";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { startProxy } from "../helpers/postgres-proxy.ts";
import { until } from "../helpers/serving.ts";
import {
  answerOf,
  CREATED,
  describeStore,
  itemOf,
  type OpenStore,
  PATIENT_MS,
  refusal,
} from "../keeper/suite.ts";

setDefaultTimeout(120_000);

const LIMITS = { answerBytes: 100_000, items: 40, fileBytes: 1e9 };
const OWNER = "config:alice";

if (missingPostgres) test.skip(`stored answers in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("stored answers in PostgreSQL", async () => {
    const server = await startPostgres();
    afterAll(() => server.close());

    function open(url: string): OpenStore {
      let now = CREATED;
      const clock = () => now;
      const store = new AnswerClient(
        ({ up, receive }) => {
          const keeper = new SharedAnswers(url, LIMITS, clock);
          queueMicrotask(() => up(keeper.open()));
          return {
            send: (message) => void ("ask" in message && keeper.handle(message, receive)),
            close: () => keeper.close(),
          };
        },
        { now: clock },
      );
      void store.start();
      return { store, setTime: (time) => void (now = time), close: () => store.close() };
    }

    describeStore(async () => open(await server.createDatabase()), LIMITS);

    test("a chain that begins at one node continues at another", async () => {
      const url = await server.createDatabase();
      const nodes = [open(url), open(url)];
      for (let n = 0; n < 20; n++) {
        const parent = n === 0 ? {} : { parent: `n${n - 1}` };
        expect(await nodes[n % 2]!.store.put(answerOf(`n${n}`, parent), PATIENT_MS)).toBe("stored");
        expect(await nodes[(n + 1) % 2]!.store.chain(`n${n}`, OWNER)).toHaveLength(n + 1);
      }
      for (const { close } of nodes) await close();
    });

    test("an id that two nodes store at the same time belongs to one owner, and no other answer of the batch is lost", async () => {
      const url = await server.createDatabase();
      const nodes = [open(url), open(url)];
      await Promise.all(nodes.map(({ store }) => store.get("nothing", OWNER)));
      const rounds = Array.from({ length: 20 }, (_, n) => n);
      for (const n of rounds) {
        const outcomes = await Promise.all(
          nodes.flatMap(({ store }, node) => [
            store
              .put(answerOf(`same${n}`, { owner: `config:${node}` }), PATIENT_MS)
              .catch((fault: Error) => fault),
            store.put(answerOf(`own${n}-${node}`), PATIENT_MS),
          ]),
        );
        expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(3);
        expect(String(outcomes.find((outcome) => outcome !== "stored"))).toContain(
          "belongs to another owner",
        );
      }
      for (const { close } of nodes) await close();
    });

    test("a large answer comes back whole", async () => {
      const { store, close } = open(await server.createDatabase());
      const text = Array.from({ length: 9_000 }, () => Math.random().toString(36))
        .join("")
        .slice(0, 90_000);
      const answer = answerOf("large", { input: [itemOf("large-in", text)], output: [] });
      expect(await store.put(answer, PATIENT_MS)).toBe("stored");
      expect(await store.get("large", OWNER)).toEqual(answer);
      await close();
    });

    test("expired answers are deleted", async () => {
      const url = await server.createDatabase();
      const sweeper = new SharedAnswers(url, LIMITS, () => CREATED + 40 * 86_400_000);
      const { store, close } = open(url);
      await Promise.all(
        Array.from({ length: 600 }, (_, n) =>
          store.put(answerOf(`n${n}`, { output: [], input: [] }), PATIENT_MS),
        ),
      );
      await sweeper.sweep();
      expect(await store.get("n1", OWNER)).toBeUndefined();
      await sweeper.close();
      await close();
    });

    test("a server that is away is a sentence, and the store works when it is back", async () => {
      const { store, close } = open(await server.createDatabase());
      expect(await store.put(answerOf("a"), PATIENT_MS)).toBe("stored");
      await server.stop();
      expect(await refusal(store.get("a", OWNER))).toContain("PostgreSQL cannot be reached");
      expect(await refusal(store.put(answerOf("b"), PATIENT_MS))).toContain("PostgreSQL");
      await server.start();
      const isBack = async () => (await store.get("a", OWNER).catch(() => undefined)) !== undefined;
      for (let tries = 0; !(await isBack()); tries++) {
        expect(tries).toBeLessThan(50);
        await Bun.sleep(100);
      }
      await close();
    });

    test("an answer whose commit was not acknowledged is deleted when the server is back", async () => {
      const url = await server.createDatabase();
      const proxy = await startProxy(server.port);
      const { store, close } = open(proxy.through(url));
      const other = open(url);
      expect(await store.put(answerOf("a"), PATIENT_MS)).toBe("stored");
      proxy.loseAnswerTo("COMMIT");
      const refused = refusal(store.put(answerOf("b"), PATIENT_MS));
      const isThere = async () => (await other.store.get("b", OWNER)) !== undefined;
      expect(await until(isThere)).toBe(true);
      expect(await refused).toContain("did not answer within 2 s");
      expect(await until(async () => !(await isThere()))).toBe(true);
      expect(await store.get("a", OWNER)).toBeDefined();
      for (const each of [close, other.close]) await each();
      proxy.close();
    });
  });
