/** What every store of answers promises. A store of another kind runs the same suite. */
import { expect, test } from "bun:test";
import { type AnswerStore, MAX_CHAIN } from "../../src/core/answer-store.ts";
import type { StoredAnswer, StoredItem } from "../../src/core/stored-answer.ts";

/** A store that is open, and its clock. */
export interface OpenStore {
  store: AnswerStore;
  /** Changes the time by which answers expire. */
  setTime(now: number): void;
  close(): Promise<void>;
}

export interface StoreLimits {
  answerBytes: number;
  items: number;
}

/** Time at which the answers of {@link answerOf} are made. */
export const CREATED = 1_800_000_000_000;
export const EXPIRES = CREATED + 30 * 86_400_000;
/** More time than any test needs. */
export const PATIENT_MS = 600_000;

export function itemOf(id: string, text = `text of ${id} ä 語 "quoted"\n`): StoredItem {
  return { id, value: { id, type: "message", role: "user", content: [{ type: "input_text", text }] } };
}

export function answerOf(id: string, changes: Partial<StoredAnswer> = {}): StoredAnswer {
  return {
    id,
    owner: "config:alice",
    model: "mock/chat",
    status: "completed",
    created: CREATED,
    expires: EXPIRES,
    body: { id, object: "response", metadata: { é: "✓" }, temperature: null },
    input: [itemOf(`${id}-in-0`), itemOf(`${id}-in-1`)],
    output: [itemOf(`${id}-out-0`)],
    ...changes,
  };
}

/** The message with which a promise rejects; `undefined` if it resolves. */
export async function refusal(pending: Promise<unknown>): Promise<string | undefined> {
  return pending.then(
    () => undefined,
    (fault: Error) => fault.message,
  );
}

/** @param limits the limits of each store that `open` returns */
export function describeStore(open: () => Promise<OpenStore>, limits: StoreLimits): void {
  const withStore = async (use: (store: AnswerStore, setTime: OpenStore["setTime"]) => Promise<void>) => {
    const { store, setTime, close } = await open();
    setTime(CREATED);
    try {
      await use(store, setTime);
    } finally {
      await close();
    }
  };
  const put = async (store: AnswerStore, ...answers: StoredAnswer[]) => {
    for (const answer of answers) expect(await store.put(answer, PATIENT_MS)).toBe("stored");
  };

  test("an answer comes back as it was stored", () =>
    withStore(async (store) => {
      const answer = answerOf("a", { parent: "before", status: "incomplete" });
      await put(store, answer);
      expect(await store.get("a", "config:alice")).toEqual(answer);
    }));

  test("notes come back with their answer and its chain, are no items, and are deleted with it", () =>
    withStore(async (store) => {
      const note = (part: string, text: string) => ({ id: part, value: new TextEncoder().encode(text) });
      const texts = (notes: StoredAnswer["notes"] = []) =>
        notes.map(({ id, value }) => `${id} ${new TextDecoder().decode(value)}`);
      await put(store, answerOf("a", { notes: [note("shop", "one"), note("guard", "two")] }));
      await put(store, answerOf("b", { parent: "a", notes: [note("shop", "three")] }));
      expect(texts((await store.get("a", "config:alice"))?.notes)).toEqual(["shop one", "guard two"]);
      const chain = await store.chain("b", "config:alice");
      expect(chain === undefined || chain === "too-long" || chain.map(({ notes }) => texts(notes))).toEqual([
        ["shop one", "guard two"],
        ["shop three"],
      ]);
      expect([...(await store.items(["shop", "a-in-0"], "config:alice")).keys()]).toEqual(["a-in-0"]);
      const page = await store.inputItems("a", "config:alice", { limit: 10, order: "asc" });
      expect(page?.items.map(({ id }) => id)).toEqual(["a-in-0", "a-in-1"]);
      await store.delete("b", "config:alice");
      await put(store, answerOf("b"));
      expect((await store.get("b", "config:alice"))?.notes).toBeUndefined();
    }));

  test("a list has the owner's answers by the beginning of their ids, page by page", () =>
    withStore(async (store) => {
      const origin = (id: string, more: Partial<StoredAnswer> = {}) =>
        answerOf(id, { input: [], output: [], ...more });
      await put(store, origin("kept/b"), origin("kept/a"), origin("kept/B"), origin("other"), origin("kept"));
      await put(store, origin("kept/c", { owner: "config:bob" }));
      const ids = async (limit: number, after?: string) =>
        (await store.list("kept/", "config:alice", limit, after)).map(({ id }) => id);
      expect(await ids(9)).toEqual(["kept/B", "kept/a", "kept/b"]);
      expect([await ids(2), await ids(2, "kept/a"), await ids(2, "kept/b")]).toEqual([
        ["kept/B", "kept/a"],
        ["kept/b"],
        [],
      ]);
      expect(await store.list("kept/", "config:alice", 1)).toEqual([origin("kept/B")]);
      expect(await store.list("kept/", "config:carol", 9)).toEqual([]);
    }));

  test("notes count for the size of an answer", () =>
    withStore(async (store) => {
      const value = new Uint8Array(limits.answerBytes);
      expect(await store.put(answerOf("a", { notes: [{ id: "shop", value }] }), PATIENT_MS)).toBe(
        "too-large",
      );
    }));

  test("the origin of an answer of a provider has no body and no items", () =>
    withStore(async (store) => {
      const { body: _, ...rest } = answerOf("resp_68af", {
        deployment: "openai/east",
        input: [],
        output: [],
      });
      await put(store, rest);
      expect(await store.get("resp_68af", "config:alice")).toEqual(rest);
      expect(await store.chain("resp_68af", "config:alice")).toEqual([
        { id: "resp_68af", deployment: "openai/east", input: [], output: [] },
      ]);
    }));

  test("another owner finds nothing, as for an id that is unknown", () =>
    withStore(async (store) => {
      await put(store, answerOf("a"), answerOf("b", { parent: "a" }));
      for (const owner of ["config:bob", "", "config:alice\0", "config:ALICE"]) {
        expect(await store.get("a", owner)).toBeUndefined();
        expect(await store.chain("b", owner)).toBeUndefined();
        expect(await store.items(["a-in-0"], owner)).toEqual(new Map());
        expect(await store.inputItems("a", owner, { limit: 9, order: "asc" })).toBeUndefined();
        expect(await store.delete("a", owner)).toBe(false);
      }
      expect(await store.get("nothing", "config:alice")).toBeUndefined();
      expect(await store.get("a", "config:alice")).toBeDefined();
    }));

  test("a chain that crosses to another owner cannot be continued", () =>
    withStore(async (store) => {
      await put(store, answerOf("a", { owner: "config:bob" }), answerOf("b", { parent: "a" }));
      expect(await store.chain("b", "config:alice")).toBeUndefined();
    }));

  test("an id of another owner is not replaced", () =>
    withStore(async (store) => {
      await put(store, answerOf("a"));
      expect(
        await refusal(store.put(answerOf("a", { owner: "config:bob", input: [] }), PATIENT_MS)),
      ).toContain("belongs to another owner");
      expect(await store.get("a", "config:alice")).toEqual(answerOf("a"));
    }));

  test("the same answer again replaces the first one with all its items", () =>
    withStore(async (store) => {
      const again = answerOf("a", { input: [itemOf("new")], output: [] });
      await put(store, answerOf("a"), again);
      expect(await store.get("a", "config:alice")).toEqual(again);
      expect(await store.items(["a-in-0", "new"], "config:alice")).toEqual(
        new Map([["new", itemOf("new").value]]),
      );
    }));

  test("a chain is listed from the oldest answer", () =>
    withStore(async (store) => {
      await put(store, answerOf("a"), answerOf("b", { parent: "a" }), answerOf("c", { parent: "b" }));
      await put(store, answerOf("other", { parent: "a" }));
      const linkOf = (id: string) => ({ id, input: answerOf(id).input, output: answerOf(id).output });
      expect(await store.chain("c", "config:alice")).toEqual(["a", "b", "c"].map(linkOf));
    }));

  test("a deleted answer breaks the chain behind it, and not the one before it", () =>
    withStore(async (store) => {
      await put(store, answerOf("a"), answerOf("b", { parent: "a" }), answerOf("c", { parent: "b" }));
      expect(await store.delete("b", "config:alice")).toBe(true);
      expect(await store.delete("b", "config:alice")).toBe(false);
      expect(await store.chain("c", "config:alice")).toBeUndefined();
      expect(await store.chain("a", "config:alice")).toHaveLength(1);
      expect(await store.items(["b-in-0", "b-out-0"], "config:alice")).toEqual(new Map());
      expect(await store.get("c", "config:alice")).toEqual(answerOf("c", { parent: "b" }));
    }));

  test(`a chain of ${MAX_CHAIN} answers is listed, one more is too long`, () =>
    withStore(async (store) => {
      const chain = Array.from({ length: MAX_CHAIN + 1 }, (_, n) =>
        answerOf(`n${n}`, {
          parent: n === 0 ? undefined : `n${n - 1}`,
          input: [itemOf(`i${n}`)],
          output: [],
        }),
      );
      await Promise.all(chain.map((answer) => store.put(answer, PATIENT_MS)));
      const listed = await store.chain(`n${MAX_CHAIN - 1}`, "config:alice");
      expect(listed).toHaveLength(MAX_CHAIN);
      expect((listed as readonly { id: string }[]).map(({ id }) => id)).toEqual(
        chain.slice(0, MAX_CHAIN).map(({ id }) => id),
      );
      expect(await store.chain(`n${MAX_CHAIN}`, "config:alice")).toBe("too-long");
    }));

  test("an answer that continues itself is too long, and does not hang the store", () =>
    withStore(async (store) => {
      await put(store, answerOf("a", { parent: "b" }), answerOf("b", { parent: "a" }));
      expect(await store.chain("a", "config:alice")).toBe("too-long");
    }));

  test("an expired answer is gone for every operation", () =>
    withStore(async (store, setTime) => {
      await put(store, answerOf("a"), answerOf("b", { parent: "a", expires: EXPIRES + 10 }));
      setTime(EXPIRES - 1);
      expect(await store.get("a", "config:alice")).toBeDefined();
      setTime(EXPIRES);
      expect(await store.get("a", "config:alice")).toBeUndefined();
      expect(await store.items(["a-in-0"], "config:alice")).toEqual(new Map());
      expect(await store.inputItems("a", "config:alice", { limit: 9, order: "asc" })).toBeUndefined();
      expect(await store.chain("b", "config:alice")).toBeUndefined();
      expect(await store.get("b", "config:alice")).toBeDefined();
      expect(await store.delete("a", "config:alice")).toBe(false);
    }));

  test("items are found by id, each in its newest form", () =>
    withStore(async (store) => {
      const newer = itemOf("shared", "newer");
      await put(
        store,
        answerOf("a", { created: CREATED, input: [itemOf("shared", "older")] }),
        answerOf("b", { created: CREATED + 1, output: [newer] }),
        answerOf("c", { created: CREATED + 2, owner: "config:bob", output: [itemOf("shared", "foreign")] }),
      );
      const found = await store.items(["shared", "unknown", "a-out-0"], "config:alice");
      expect([...found.keys()].sort()).toEqual(["a-out-0", "shared"]);
      expect(found.get("shared")).toEqual(newer.value);
    }));

  test("input items come in pages, in both orders", () =>
    withStore(async (store) => {
      await put(store, answerOf("a", { input: ["0", "1", "2", "3", "4"].map((id) => itemOf(id)) }));
      const page = async (order: "asc" | "desc", limit: number, after?: string) => {
        const found = await store.inputItems("a", "config:alice", { order, limit, after });
        return found && [found.items.map(({ id }) => id).join(""), found.hasMore];
      };
      expect(await page("asc", 2)).toEqual(["01", true]);
      expect(await page("asc", 2, "1")).toEqual(["23", true]);
      expect(await page("asc", 2, "3")).toEqual(["4", false]);
      expect(await page("asc", 5)).toEqual(["01234", false]);
      expect(await page("desc", 2)).toEqual(["43", true]);
      expect(await page("desc", 9, "3")).toEqual(["210", false]);
      expect(await page("asc", 2, "4")).toEqual(["", false]);
      expect(await page("asc", 2, "a-out-0")).toBeUndefined();
      expect(await store.inputItems("b", "config:alice", { order: "asc", limit: 1 })).toBeUndefined();
    }));

  test("what is stored under an id takes more items, gives one away and gets another body", () =>
    withStore(async (store, setTime) => {
      await put(store, answerOf("c", { input: [], output: [] }));
      const all = async () =>
        (await store.inputItems("c", "config:alice", { order: "asc", limit: 100 }))?.items.map(
          ({ id }) => id,
        );
      const add = (...ids: string[]) =>
        store.amend("c", "config:alice", { add: ids.map((id) => itemOf(id)), expires: EXPIRES + 5 });
      expect(await add("0", "1")).toBe("stored");
      expect(await store.amend("c", "config:alice", { drop: "0", body: { new: 1 } })).toBe("stored");
      expect(await store.amend("c", "config:alice", { drop: "0" })).toBe("unknown");
      expect(await store.amend("c", "config:bob", { drop: "1" })).toBe("unknown");
      expect(await store.amend("nosuch", "config:alice", {})).toBe("unknown");
      expect(await add("2")).toBe("stored");
      const note = (id: string) => ({ id, value: new TextEncoder().encode(id) });
      for (const id of ["x", "y"]) await store.amend("c", "config:alice", { notes: [note(id)] });
      expect((await store.get("c", "config:alice"))!.notes!.map(({ id }) => id)).toEqual(["x", "y"]);
      expect(await all()).toEqual(["1", "2"]);
      expect(await store.get("c", "config:alice")).toMatchObject({ body: { new: 1 }, expires: EXPIRES + 5 });
      setTime(EXPIRES + 6);
      expect(await add("3")).toBe("unknown");
    }));

  test("an answer is read with one item, or none", () =>
    withStore(async (store) => {
      const notes = [{ id: "x", value: new Uint8Array([1]) }];
      const whole = { ...answerOf("c", { input: ["0", "1", "2"].map((id) => itemOf(id)) }), notes };
      await put(store, whole);
      const one = (item: string) => store.get("c", "config:alice", item);
      expect(await one("1")).toEqual({ ...whole, input: [itemOf("1")], output: [] });
      for (const item of ["", "nosuch", "c-out-0"])
        expect(await one(item)).toEqual({ ...whole, input: [], output: [] });
      expect(await store.get("c", "config:bob", "1")).toBeUndefined();
    }));

  test("an item is added once under its id", () =>
    withStore(async (store) => {
      await put(store, answerOf("c", { input: [itemOf("0")], output: [] }));
      const add = (...ids: string[]) =>
        store.amend("c", "config:alice", { add: ids.map((id) => itemOf(id)) });
      expect(await add("1", "0")).toBe("taken");
      expect(await add("1", "1")).toBe("taken");
      expect(await add("1", "2")).toBe("stored");
      const late = await store.amend("c", "config:alice", { add: [itemOf("3")] }, -1);
      expect(late).toBe("late");
      expect((await store.get("c", "config:alice"))!.input).toEqual(["0", "1", "2"].map((id) => itemOf(id)));
    }));

  test("changes at the same time are all made, each as a whole", () =>
    withStore(async (store) => {
      await put(store, answerOf("c", { input: [], output: [] }));
      const numbers = Array.from({ length: 40 }, (_, n) => n);
      const outcomes = await Promise.all(
        numbers.map((n) => store.amend("c", "config:alice", { add: [itemOf(`a${n}`), itemOf(`b${n}`)] })),
      );
      expect(new Set(outcomes)).toEqual(new Set(["stored"]));
      const page = await store.inputItems("c", "config:alice", { order: "asc", limit: 100 });
      const ids = page!.items.map(({ id }) => id);
      expect(ids.toSorted()).toEqual(numbers.flatMap((n) => [`a${n}`, `b${n}`]).toSorted());
      // No other change comes between the items of one.
      for (const n of numbers) expect(ids.indexOf(`b${n}`)).toBe(ids.indexOf(`a${n}`) + 1);
    }));

  test("a change above the limits changes nothing", () =>
    withStore(async (store) => {
      await put(store, answerOf("c", { input: [itemOf("0")] }));
      const large = itemOf("large", "x".repeat(limits.answerBytes));
      expect(await store.amend("c", "config:alice", { drop: "0", add: [large] })).toBe("too-large");
      expect((await store.get("c", "config:alice"))!.input).toEqual([itemOf("0")]);
    }));

  test("an answer above the limits is not stored", () =>
    withStore(async (store) => {
      const large = itemOf("large", "x".repeat(limits.answerBytes));
      const many = Array.from({ length: limits.items + 1 }, (_, n) => itemOf(`i${n}`));
      expect(await store.put(answerOf("a", { input: [large] }), PATIENT_MS)).toBe("too-large");
      expect(await store.put(answerOf("a", { output: [large] }), PATIENT_MS)).toBe("too-large");
      expect(await store.put(answerOf("a", { input: many }), PATIENT_MS)).toBe("too-large");
      expect(await store.get("a", "config:alice")).toBeUndefined();
      await put(store, answerOf("a", { input: many.slice(1) }));
    }));

  test("an answer whose time has passed is not stored, and the others of its batch are", () =>
    withStore(async (store, setTime) => {
      setTime(CREATED);
      const outcomes = await Promise.all([
        store.put(answerOf("a"), PATIENT_MS),
        store.put(answerOf("late"), -1),
        store.put(answerOf("b"), PATIENT_MS),
      ]);
      expect(outcomes).toEqual(["stored", "late", "stored"]);
      expect(await store.get("late", "config:alice")).toBeUndefined();
      expect(await store.items(["late-in-0"], "config:alice")).toEqual(new Map());
      expect(await store.get("b", "config:alice")).toBeDefined();
    }));

  test("answers that are stored at the same time are all stored", () =>
    withStore(async (store) => {
      const ids = Array.from({ length: 300 }, (_, n) => `n${n}`);
      const outcomes = await Promise.all(ids.map((id) => store.put(answerOf(id), PATIENT_MS)));
      expect(outcomes.every((outcome) => outcome === "stored")).toBe(true);
      for (const id of ids) expect(await store.get(id, "config:alice")).toEqual(answerOf(id));
    }));

  test("a store that is closed rejects", async () => {
    const { store, close } = await open();
    await close();
    expect(await refusal(store.get("a", "config:alice"))).toBe("the store is closed");
    expect(await refusal(store.put(answerOf("a"), PATIENT_MS))).toBe("the store is closed");
  });
}
